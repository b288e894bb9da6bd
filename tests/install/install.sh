#!/bin/sh
# Install a build into an empty prefix, move the whole tree elsewhere, and use
# it as a stranger would: through pkg-config and through CMake, shared and
# static.  The program is examples/plan.c; it checks what it is told.
#
#   install.sh BUILD_DIRECTORY     (from the root of the project)
set -eu
build=$1
example=$PWD/examples/plan.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

say() { printf '\n== %s\n' "$*"; }
run() { # PROGRAM: run the example and look for its last line
  "$@" > "$work/out" || { cat "$work/out"; echo "exit $? from $*"; exit 1; }
  cat "$work/out"
  grep -q '^bytes held at the end: 0$' "$work/out"
}

say "installation below DESTDIR, then moved"
DESTDIR=$work/stage cmake --install "$build" --prefix /opt/calm > "$work/log"
mv "$work/stage/opt/calm" "$work/calm"
(cd "$work/calm" && find . -type f -o -type l | sort)
for file in include/calm/calm.h 'lib*/libcalm.a' 'lib*/libcalm.so' \
  'lib*/pkgconfig/calm.pc' 'lib*/cmake/calm/calm-config.cmake' \
  share/man/man1/calm.1 share/bash-completion/completions/calm \
  share/zsh/site-functions/_calm share/fish/vendor_completions.d/calm.fish; do
  # shellcheck disable=SC2086 # the pattern is meant to be expanded
  (cd "$work/calm" && ls $file) > /dev/null
done
library=$(dirname "$(find "$work/calm" -name libcalm.a)")
export PKG_CONFIG_PATH="$library/pkgconfig"
export LD_LIBRARY_PATH="$library"

say "the installed tool"
"$work/calm/bin/calm" --version

say "pkg-config, shared"
# shellcheck disable=SC2046 # flags are separate words
${CC:-cc} -std=c17 -Wall -Werror "$example" -o "$work/shared" \
  $(pkg-config --cflags --libs calm)
run "$work/shared"
if [ "$(uname)" = Linux ]; then ldd "$work/shared" | grep 'libcalm\.so\.0'; fi

say "pkg-config, static"
cp -r "$work/calm" "$work/static-only"
find "$work/static-only" -name 'libcalm.so*' -delete
# shellcheck disable=SC2046
PKG_CONFIG_PATH=$(dirname "$(find "$work/static-only" -name calm.pc)") \
  sh -c '${CC:-cc} -std=c17 -Wall -Werror "$1" -o "$2" \
    $(pkg-config --static --cflags --libs calm)' - "$example" "$work/static"
run "$work/static"

for shared in ON OFF; do
  say "CMake, BUILD_SHARED_LIBS=$shared"
  cmake -S tests/install/consumer -B "$work/build-$shared" \
    -DEXAMPLE="$example" -DCMAKE_PREFIX_PATH="$work/calm" \
    -DBUILD_SHARED_LIBS=$shared > "$work/log" || { cat "$work/log"; exit 1; }
  cmake --build "$work/build-$shared" > "$work/log" ||
    { cat "$work/log"; exit 1; }
  run "$work/build-$shared/plan"
done
