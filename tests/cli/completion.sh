#!/bin/sh
# calm completion: scripts that know every option, driven by real shells where they
# are.
. tests/cli/lib

checking "every option of every command is in every script"
for shell in bash zsh fish; do
  run completion $shell; code_is 0; err_is_empty
  cp "$work/out" "$work/script.$shell"
done
verbs="inspect plan check pack eval map sweep report bench completion"
for verb in $verbs; do
  run $verb --help
  sed -n '/^Options:/,$s/^ *\(-., \)*--\(\[no-\]\)*\([a-z0-9-]*\).*/\3/p' \
    "$work/out" >"$work/options"
  [ -s "$work/options" ] || fault "calm $verb has no options"
  sed -n "/^    $verb)/,/;;/p" "$work/script.bash" >"$work/of.bash"
  sed -n "/^    $verb)/,/^      ;;/p" "$work/script.zsh" >"$work/of.zsh"
  grep "from $verb'" "$work/script.fish" >"$work/of.fish"
  while read -r option; do
    grep -q -e "--\(no-\)*$option " "$work/of.bash" ||
      fault "bash does not know --$option of $verb"
    grep -q -e "--\(no-\)*$option[=}[]" "$work/of.zsh" ||
      fault "zsh does not know --$option of $verb"
    grep -q -e "-l \(no-\)*$option " "$work/of.fish" ||
      fault "fish does not know --$option of $verb"
  done <"$work/options"
done

# In bash as in zsh and fish: what can follow these words, the last one begun?
mkdir "$work/files" "$work/files/folder"
: >"$work/files/net.tflite"
: >"$work/files/net.onnx"
: >"$work/files/net.txt"
: >"$work/files/my net.tflite"
cat >"$work/ask.bash" <<'END'
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_calm 2> /dev/null
printf '%s\n' "${COMPREPLY[@]}" | sort
END
bash_says() { # "WORDS" EXPECTED...
  words=$1; shift
  found=$(cd "$work/files" && eval "bash ../ask.bash ../script.bash $words" |
    xargs)
  [ "$found" = "$*" ] || fault "bash after '$words': '$found', not '$*'"
}

if command -v bash >/dev/null; then
  checking "bash"
  bash_says "calm pl" plan
  bash_says "calm ''" bench check completion eval help inspect map pack plan \
    report sweep
  bash_says "calm plan --layout ''" exact greedy size
  bash_says "calm plan --layout = g" greedy
  bash_says "calm plan --layo" --layout
  bash_says "calm plan --no-layout-m" --no-layout-memory
  bash_says "calm plan n" net.onnx net.tflite
  bash_says "calm plan f" folder
  (cd "$work/files" && bash ../ask.bash ../script.bash calm plan m) |
    grep -qx "my net.tflite" || fault "bash splits names at spaces"
  bash_says "calm map --arch n" net.onnx net.tflite net.txt
  bash_says "calm plan --budget ''"
  bash_says "calm bench s" serenity
  bash_says "calm completion ''" bash fish zsh
  bash_says "calm help ru" rules
  bash_says "calm nonsense --" || :
fi

for shell in bash zsh fish; do
  command -v $shell >/dev/null || checking "$shell: skipped, it is not here"
done

if command -v zsh >/dev/null; then
  checking "zsh"
  zsh -n "$work/script.zsh" || fault "zsh does not understand its script"
  zsh -fc "autoload -Uz compinit; compinit -u -d $work/dump
    source $work/script.zsh; whence -w _calm; print \$_comps[calm]" \
    >"$work/out" 2>"$work/err" || fault "zsh cannot load its script"
  out_has "_calm: function"
  out_has "^_calm$"
fi

if command -v fish >/dev/null; then
  checking "fish"
  HOME="$work" fish -c "source $work/script.fish
    complete -C 'calm plan --layout '" >"$work/out" 2>"$work/err" ||
    fault "fish cannot load its script"
  out_has "^greedy"
  HOME="$work" fish -c "source $work/script.fish; complete -C 'calm pl'" \
    >"$work/out" 2>"$work/err"
  out_has "^plan"
fi

checking "shells that there are not"
run completion tcsh; one_line_error 2 "there is bash, zsh, fish"
run completion; one_line_error 2 "SHELL"

finish
