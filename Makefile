# The front door.  Each configuration is built in build/CONFIG/.
release := -DCMAKE_BUILD_TYPE=RelWithDebInfo
debug   := -DCMAKE_BUILD_TYPE=Debug
asan    := -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang \
  -DCMAKE_C_FLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
hostile := -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-DCALM_HOSTILE=1"

ifdef CI
werror := -DCALM_WERROR=ON
endif

.PHONY: all setup check format release debug asan hostile

all: release

setup:
	@scripts/setup

release debug asan hostile: setup
	@cmake -G Ninja -S . -B build/$@ $($@) $(werror) >/dev/null
	@ninja -C build/$@

# Build release and asan, run every test in both, and in the hostile build.
check: release asan hostile
	@ctest --test-dir build/hostile --output-on-failure
	@ctest --test-dir build/release --output-on-failure
	@ctest --test-dir build/asan --output-on-failure

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')
