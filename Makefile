# The front door.  `make help` lists what is behind it; CMake and Ninja do the
# building, in one directory per configuration: build/release, build/debug,
# build/asan, build/hostile, build/fuzz.

CONFIG       ?= release
PREFIX       ?= /usr/local
JOBS         ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 300
HIGHS        ?= yes

type_release := RelWithDebInfo
type_debug   := Debug
type_asan    := Asan
type_hostile := Hostile
type_fuzz    := Asan

# The sanitized build is clang's, so that two compilers see every line.  CC, when
# given, decides for the others.
compiler_asan := clang
compiler_fuzz := clang
ifneq ($(origin CC),default)
compiler_given := $(CC)
endif

options_fuzz := -DCALM_FUZZERS=ON -DCALM_TESTS=OFF
ifneq ($(filter-out 0 false,$(CI)),)
options := -DCALM_WERROR=ON
endif

# configure CONFIG [OPTIONS]: harmless when nothing has changed
configure = $(if $(or $(compiler_$(1)),$(compiler_given)),CC="$(or \
  $(compiler_$(1)),$(compiler_given))") cmake -G Ninja -S . -B build/$(1) \
  -DCMAKE_BUILD_TYPE=$(type_$(1)) $(options) $(options_$(1)) $(2) \
  > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }

.PHONY: all demo device check test bench bench-runtimes bench-mapping bench-rivals bench-tiling \
  bench-order bench-layout reproduce \
  fuzz format tidy install setup clean help configure-all

all: ## build the tool and the libraries into build/release (or CONFIG=...)
	@scripts/setup --list build
	@mkdir -p build
	@$(call configure,$(CONFIG))
	@ninja -C build/$(CONFIG) -n product 2>/dev/null | grep -q "no work to do" || \
	  echo "building build/$(CONFIG) (about a minute of one processor's time)"
	@ninja -C build/$(CONFIG) -j$(JOBS) --quiet product
	@HIGHS="$(HIGHS)" scripts/highs build/$(CONFIG)/calm

demo: ## set up, build, plan two networks, map one of them
	@scripts/setup build demo
	@$(MAKE) --no-print-directory all
	@scripts/demo

device: ## plan a network, run it in TensorFlow Lite Micro, print both arenas
	@scripts/setup build demo
	@$(MAKE) --no-print-directory all
	@scripts/device

check: ## set up, build release, asan and hostile, and run every test
	@scripts/setup build check
	@$(MAKE) --no-print-directory JOBS=$(JOBS) configure-all
	@JOBS=$(JOBS) scripts/check

configure-all:
	@mkdir -p build
	@$(call configure,release,-DCALM_TESTS=ON)
	@$(call configure,asan,-DCALM_TESTS=ON)
	@$(call configure,hostile,-DCALM_TESTS=ON)

test: ## build and run the tests of one configuration: CONFIG=...
	@mkdir -p build
	@$(call configure,$(CONFIG),-DCALM_TESTS=ON)
	@ninja -C build/$(CONFIG) -j$(JOBS) --quiet
	@ctest --test-dir build/$(CONFIG) -j$(JOBS) --output-on-failure

bench: all ## hold figures of all cases against the record; BENCH=--write
	@bench/run $(BENCH)

bench-runtimes: all ## measure every model in the real runtimes; docs/
	@scripts/python-env --strict runtime
	@scripts/runtime-models
	@JOBS=$(JOBS) scripts/runtime-tests -m slow
	@JOBS=$(JOBS) build/venv-runtime/bin/python tests/runtime/table.py
	@JOBS=$(JOBS) build/venv-runtime/bin/python \
	  tests/runtime/table_rewriting.py

bench-mapping: all ## compare costs of loop nests with Timeloop's; docs/
	@scripts/setup check
	@JOBS=$(JOBS) build/venv/bin/python tests/mapping/table.py

bench-tiling: all ## measure overlap and tiles in the real runtimes; docs/
	@scripts/python-env --strict runtime
	@build/venv-runtime/bin/python bench/tiling

bench-order: all ## hard orders, beside other solvers; docs/; QUICK=--quick
	@scripts/python-env --strict bench
	@build/venv-bench/bin/python bench/frontier order $(or $(QUICK),--write)

bench-layout: all ## hard layouts, beside other allocators; docs/; QUICK=--quick
	@scripts/python-env --strict bench
	@build/venv-bench/bin/python bench/frontier layout $(or $(QUICK),--write)

bench-rivals: all ## compare the optimum with nests that others found; docs/
	@scripts/setup check
	@JOBS=$(JOBS) build/venv/bin/python bench/rivals --write

reproduce: all ## make both papers' tables and figures anew; docs/reproduction
	@build/$(CONFIG)/calm bench serenity -o docs/reproduction > build/serenity.txt
	@build/$(CONFIG)/calm bench cosa -o docs/reproduction > build/cosa.txt
	@echo "docs/reproduction/serenity.md, docs/reproduction/cosa.md"

fuzz: ## run each fuzz target for FUZZ_SECONDS (300) under the sanitizers
	@scripts/setup build check
	@mkdir -p build
	@$(call configure,fuzz)
	@ninja -C build/fuzz -j$(JOBS) --quiet
	@scripts/fuzz $(FUZZ_SECONDS)

format: ## lay out all C files by .clang-format
	@scripts/setup check
	@scripts/format --write

tidy: ## run clang-tidy (.clang-tidy) over the product's sources
	@mkdir -p build
	@$(call configure,asan)
	@scripts/tidy build/asan

install: all ## install below PREFIX (/usr/local), or below DESTDIR/PREFIX
	@cmake --install build/$(CONFIG) --prefix "$(PREFIX)"

setup: ## install every package that any of these targets needs
	@scripts/setup build demo check

clean: ## remove build/
	rm -rf build

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 16
