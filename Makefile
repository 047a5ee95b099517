# Tamp. `make demo` and `make test` are all a newcomer needs; `make help` lists the rest.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# `make DEBUG=1`: assertions, names and no optimisation in the Wasm and in the native library.
DEBUG ?= 0
PORT ?= 8471
SECONDS ?= 60

SOURCES := $(sort $(shell find src -name '*.c' 2>/dev/null))
NATIVE_SOURCES := $(filter-out src/wasm.c,$(SOURCES))
WEB := $(sort $(shell find web -type f 2>/dev/null))
CJSON := build/cjson/cJSON.c build/cjson/cJSON.h

# ---------------------------------------------------------------- compilers and flags

ifeq ($(origin CC),default)
CC := cc
endif
EMCC ?= emcc
AR ?= ar

ifeq ($(DEBUG),1)
OPTIMISE_WASM := -O1 -g
HOT_WASM := -O1
WARM_WASM := -O1
OPTIMISE_NATIVE := -O0 -g
else
OPTIMISE_WASM := -Oz -DNDEBUG -flto
# Copies of a loop, for lanes or unrolled, gain nothing here: the loops that matter have their lanes in simd.h.
HOT_WASM := -O2 -finline-functions -fno-vectorize -fno-slp-vectorize -fno-unroll-loops
WARM_WASM := -Os $(wordlist 2,9,$(HOT_WASM))
# Across files only what gets smaller by it is inlined: the hot files have inlined theirs before. The optimiser
# of the finished module goes on until it finds nothing.
SMALL_LINK := -Wl,-mllvm,-inline-threshold=-50 -sBINARYEN_EXTRA_PASSES=--converge
OPTIMISE_NATIVE := -O2 -g -DNDEBUG
endif
SANITIZE := -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1

LANGUAGE := -std=c11 -Isrc -isystem build/cjson
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
# Every byte, or in every turn every message of a history, goes through these: they are worth their size. The rest runs
# once a message and is made small, which takes a quarter off the Wasm and no speed. emcc forbids inlining for -Oz even
# where -O2 comes after it, which makes the hot loops ten times slower: it has to be allowed again. -Os takes a kilobyte
# off the warm ones, for 0.07 ms of a turn on 10,000 messages.
HOT := src/json/cursor.c src/json/value.c src/tokens.c
WARM := src/digest.c src/json/splitter.c src/json/utf8.c
WARM += src/list.c src/plan.c src/run.c src/strategies/step.c src/strategies/truncation.c
# The ordinary ABI passes a struct of two words, as every text is, through memory; this one as two words. No
# library takes or gives such structs, so only our own objects have to agree.
WASM_ABI := -Xclang -target-abi -Xclang experimental-mv
# Link-time optimisation would make malloc and memset a calloc, which is not there.
WASM_FLAGS := $(OPTIMISE_WASM) $(WASM_ABI) -fvisibility=hidden -fno-builtin-calloc
# Engines without vectors (processors without SSE4.1, Safari before 16.4) get a module of their own: web/load.js asks.
WASM_SIMD := -msimd128
# A stack that overflows traps instead of writing over data: it lies below everything else. malloc is our own
# (src/heap.c): dlmalloc is 4 KB gzipped, and emmalloc, near 4 GiB, hands out blocks behind the end of the
# memory. Imports are no matter of the (absent) JS glue but of tools/imports.js, which fails on any that is not
# listed.
WASM_LINK := --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB \
	-sINITIAL_MEMORY=1MB -sTOTAL_STACK=256KB -Wl,--stack-first -sMALLOC=none \
	-sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0 $(SMALL_LINK)
# Debian's emcc looks for its JS packages where only Debian's own Node looks.
EMCC_ENV := NODE_PATH=/usr/share/nodejs$(if $(NODE_PATH),:$(NODE_PATH))

# run WORD FILE COMMAND: prints the two words (nothing with -s, the command with V=1) and runs it.
SILENT := $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
run = @$(if $(filter 1,$(V)),echo '$3'; ,$(if $(SILENT),,echo '$1 $2'; ))$3

# remember FILE VALUE: a file that is rewritten only when the value is another, for what make cannot see.
define remember
$(1): FORCE
	@mkdir -p $$(@D)
	@printf '%s\n' '$(2)' | cmp -s - $$@ || printf '%s\n' '$(2)' > $$@
endef

# compile VARIANT COMPILER FLAGS [OF SOME]: every source under src/, tests/ and build/cjson as build/VARIANT/….o.
# OF SOME is what else decides how files are compiled, so that a change of it is seen.
# cJSON is not ours: its warnings are not ours either. Its numbers are read by src/json/number.c.
define compile
$(call remember,build/$(1)/flags,$(2) $(3) $(LANGUAGE) $(WARNINGS) $(4))
build/$(1)/%.o: %.c build/$(1)/flags $(CJSON)
	@mkdir -p $$(@D)
	$$(call run,cc,$$<,$(2) $(LANGUAGE) $$(WARNINGS) $(3) $$(HOT_FLAG) -MMD -MP -c $$< -o $$@)
build/$(1)/cJSON.o: build/cjson/cJSON.c build/$(1)/flags Makefile
	@mkdir -p $$(@D)
	$$(call run,cc,$$<,$(2) -std=c11 -w -Dstrtod=tamp_number_parse $(3) -c $$< -o $$@)
-include $$(shell find build/$(1) -name '*.d' 2>/dev/null)
endef

WASM := wasm$(if $(filter 1,$(DEBUG)),-debug)
NATIVE := native$(if $(filter 1,$(DEBUG)),-debug)
$(eval $(call compile,$(WASM),$(EMCC_ENV) $(EMCC),$(WASM_SIMD) $(WASM_FLAGS),$(HOT_WASM) $(HOT) $(WARM_WASM) $(WARM)))
$(eval $(call compile,$(WASM)-scalar,$(EMCC_ENV) $(EMCC),$(WASM_FLAGS),$(HOT_WASM) $(HOT) $(WARM_WASM) $(WARM)))
$(eval $(call compile,$(NATIVE),$(CC),$(OPTIMISE_NATIVE)))
$(eval $(call compile,sanitized,$(CC),$(SANITIZE)))
build/$(WASM)/src/wasm.o build/$(WASM)-scalar/src/wasm.o: WARNINGS += -Wno-missing-prototypes
$(foreach variant,$(WASM) $(WASM)-scalar,$(HOT:%.c=build/$(variant)/%.o)): HOT_FLAG := $(HOT_WASM)
$(foreach variant,$(WASM) $(WASM)-scalar,$(WARM:%.c=build/$(variant)/%.o)): HOT_FLAG := $(WARM_WASM)

FORCE:
.PHONY: FORCE

# ---------------------------------------------------------------- set-up: what is missing is installed, once

.PHONY: setup-build setup-test setup-fuzz
setup-build setup-test setup-fuzz:
	@tools/setup.sh $(@:setup-%=%)
# All that a run needs is installed in one go.
ifneq ($(filter test,$(MAKECMDGOALS)),)
setup-build: setup-test
endif

# The sources of cJSON are fetched anew only when CJSON_DIR changes.
$(eval $(call remember,build/cjson.from,$(CJSON_DIR)))
build/cjson/cJSON.c: build/cjson.from | setup-build
	@CJSON_DIR='$(CJSON_DIR)' tools/cjson.sh build/cjson
build/cjson/cJSON.h: build/cjson/cJSON.c

build/modules.stamp: package.json package-lock.json
	@mkdir -p $(@D)
	@node tools/modules.js
	@touch $@

# ---------------------------------------------------------------- the core: Wasm and native

.PHONY: wasm native
wasm: dist/tamp.wasm dist/tamp-scalar.wasm
native: build/$(NATIVE)/libtamp.a build/sanitized/libtamp.a

# module VARIANT FLAGS FILE: the finished module of a variant, as dist/FILE.
define module
build/$(1)/tamp.wasm: $(SOURCES:%.c=build/$(1)/%.o) build/$(1)/cJSON.o build/$(1)/flags tools/imports.js | setup-build
	$$(call run,link,$$@,$$(EMCC_ENV) $$(EMCC) $$(OPTIMISE_WASM) $(2) $$(WASM_LINK) $$(filter %.o,$$^) -o $$@)
	@node tools/imports.js $$@
dist/$(3): build/$(1)/tamp.wasm build/variant
	@mkdir -p $$(@D)
	@install -m 644 $$< $$@
endef
$(eval $(call remember,build/variant,$(WASM)))
$(eval $(call module,$(WASM),$(WASM_SIMD),tamp.wasm))
$(eval $(call module,$(WASM)-scalar,,tamp-scalar.wasm))

define library
build/$(1)/libtamp.a: $(NATIVE_SOURCES:%.c=build/$(1)/%.o) build/$(1)/cJSON.o
	@rm -f $$@
	$$(call run,ar,$$@,$(AR) rcs $$@ $$(filter %.o,$$^))
endef
$(eval $(call library,$(NATIVE)))
$(eval $(call library,sanitized))

# ---------------------------------------------------------------- dist/: what the npm package ships

.PHONY: all dist types
all: dist types

# No npm package is needed for this one. What came from modules that are gone goes first.
STALE := $(filter-out $(WEB:web/%=dist/%) $(patsubst web/%.js,dist/%.d.ts,$(WEB)) dist/inline.js dist/inline.d.ts,\
	$(shell find dist -name '*.js' -o -name '*.d.ts' 2>/dev/null))
$(if $(STALE),$(shell rm -f $(STALE)))
dist: dist/tamp.wasm dist/tamp-scalar.wasm dist/inline.js $(WEB:web/%=dist/%)
dist/%: web/%
	@mkdir -p $(@D)
	@cp $< $@
dist/inline.js: dist/tamp.wasm tools/inline.js
	@node tools/inline.js

# Declarations, from the JSDoc types.
types: dist/types.stamp
dist/types.stamp: $(WEB) tsconfig.json build/modules.stamp
	@mkdir -p $(@D)
	$(call run,tsc,web,node_modules/.bin/tsc -p tsconfig.json)
	@touch $@

# ---------------------------------------------------------------- running

# What the demo page takes from npm, bundled: other trimmers, the AG-UI client, idb.
build/demo.stamp: $(wildcard demo/vendor/*.js) demo/server/build.js $(WEB:web/%=dist/%) dist/tamp.wasm dist/tamp-scalar.wasm build/modules.stamp
	$(call run,bundle,build/demo,node demo/server/build.js)
	@touch $@

.PHONY: demo test bench fuzz
demo: dist build/demo.stamp
	@PORT=$(PORT) exec node demo/server.js

# The demo as a folder for any static host, under any path; all but the live chat works there.
SITE ?= build/site
.PHONY: site
site: dist build/demo.stamp
	@node demo/server/build.js --site $(SITE)

# The C test programs. tests/unit/native.test.js runs whatever is in build/c-tests.
C_TESTS := $(patsubst tests/c/%.c,build/c-tests/%,$(sort $(wildcard tests/c/*_test.c)))
build/c-tests/%: build/sanitized/tests/c/%.o build/sanitized/libtamp.a
	@mkdir -p $(@D)
	$(call run,link,$@,$(CC) $(SANITIZE) $^ -lm -o $@)
.PHONY: c-tests
c-tests: $(C_TESTS)
	$(if $(filter-out $(C_TESTS),$(wildcard build/c-tests/*)),@rm -f $(filter-out $(C_TESTS),$(wildcard build/c-tests/*)))
.SECONDARY:

# `make test ONLY=tests/unit/clamp.test.js` runs some of them. FUZZ_TRIES (5000), SOAK (20000), CASES: how much of it.
# What failed is repeated at the end of the output, and build/test.tap has all of it.
TEST_FILES := $(sort $(wildcard tests/*/*.test.js))
ONLY ?= $(TEST_FILES)
test: setup-test dist build/demo.stamp types c-tests fuzzers build/perf/paths build/modules.stamp
	node --test --test-reporter=spec --test-reporter-destination=stdout \
	  --test-reporter=tap --test-reporter-destination=build/test.tap $(ONLY)

# What tests/perf counts the instructions of: the library as it is optimised for use.
build/perf/paths: build/$(NATIVE)/tests/perf/paths.o build/$(NATIVE)/libtamp.a
	@mkdir -p $(@D)
	$(call run,link,$@,$(CC) $(OPTIMISE_NATIVE) $^ -lm -o $@)

build/bench/scan.wasm: tests/bench/scan.c build/$(WASM)/flags
	@mkdir -p $(@D)
	$(call run,link,$@,$(EMCC_ENV) $(EMCC) $(LANGUAGE) $(WARNINGS) -Wno-missing-prototypes -O3 -msimd128 --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB $< -o $@)

BENCHES ?= $(sort $(wildcard tests/bench/*.bench.js))
bench: dist build/modules.stamp build/bench/scan.wasm
	node tests/bench/run.js $(BENCHES)

# `make fuzz SECONDS=600 FUZZ=cursor` runs one of them for ten minutes. tools/fuzz.sh says where seeds go.
FUZZ ?= $(patsubst tests/fuzz/%_fuzz.c,%,$(sort $(wildcard tests/fuzz/*_fuzz.c)))
CLANG = $(shell tools/clang.sh)
$(eval $(call compile,fuzz,$$(CLANG),-fsanitize=fuzzer-no-link $(SANITIZE)))
build/fuzz/bin/%: build/fuzz/tests/fuzz/%_fuzz.o $(NATIVE_SOURCES:%.c=build/fuzz/%.o) build/fuzz/cJSON.o
	@mkdir -p $(@D)
	$(call run,link,$@,$(CLANG) -fsanitize=fuzzer $(SANITIZE) $^ -lm -o $@)
.PHONY: fuzzers
fuzzers: setup-fuzz
	@$(MAKE) --no-print-directory $(FUZZ:%=build/fuzz/bin/%)
fuzz: fuzzers
	@tools/fuzz.sh $(SECONDS) $(FUZZ)

.PHONY: help clean
help:
	@echo 'make demo    build and serve the demo page on http://localhost:$(PORT) (PORT=)'
	@echo 'make test    build and run every test (ONLY=tests/unit/some.test.js)'
	@echo 'make bench   the benchmarks, each against its peer (BENCHES=tests/bench/some.bench.js)'
	@echo 'make fuzz    the fuzzers (SECONDS=60 each, FUZZ=name)'
	@echo 'make site    the demo as a folder for any static host (SITE=build/site)'
	@echo 'make all     dist/ as it is published; make dist the same without type declarations, faster'
	@echo 'make native  the core as static libraries, optimised and sanitized'
	@echo 'make clean   remove build/ and dist/'
clean:
	rm -rf build dist
