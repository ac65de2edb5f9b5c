# The front door. Every target sets up what it needs; the work is done by CMake and scripts/.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

MAKEFLAGS += --no-print-directory
.PHONY: help program lint-setup run demo test bench bench-checker bench-is-leader bench-failover bench-compare bench-groups bench-hostile bench-silence bench-candidates bench-engines interop page lint format rewrite abi install coverage soak mutants minimal-debian setup
.DEFAULT_GOAL := help

help: ## this list
	@echo "Elector: targets"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
	@echo "Variables: JOBS=$(JOBS)  PREFIX=$(PREFIX)  DESTDIR=$(DESTDIR)"

# Without the tests, unless they are configured here already: `make run` installs and builds the program only.
program:
	@scripts/setup run
	@test -e build/release/build.ninja || cmake --preset release -DELECTOR_TESTS=OFF >/dev/null
	@cmake --build --preset release -j $(JOBS) --target elector

run: program ## build, and show a leader die in five ways, with real processes
	@scripts/show

demo: program ## a short story in three elections, in virtual time
	@build/release/elector demo

# One ctest over both builds, so that there is one summary and one verdict. One more at once than there are processors:
# what runs real processes (cluster, run) waits for them most of the time.
test: lint-setup build-release build-asan ## all tests, in a release build and under sanitizers, and the linters on what changed
	@echo 'subdirs(asan release)' > build/CTestTestfile.cmake
	@code=0; ctest --test-dir build --output-on-failure --no-tests=error -j $$(($(JOBS) + 1)) || code=1; \
		scripts/skips build/Testing/Temporary/LastTest.log || code=1; exit $$code

bench: build-release ## measure speed
	@test -x build/release/bench/elector-bench || { echo "make bench: there is no bench/*.c to build" >&2; exit 1; }
	@build/release/bench/elector-bench

bench-checker: build-release ## the checker beside SPIN, which is installed first
	@scripts/setup spin
	@BUILD=build/release bench/checker/run.sh

bench-is-leader: build-release ## what it costs to ask before every write whether one leads
	@build/release/bench/bench-is-leader

bench-failover: build-release ## how long nobody leads, beside the peers that are installed: 20 minutes (TRIALS=200 PEER_TRIALS=200 PEERS="etcd …")
	@BUILD=build/release bench/failover/run.sh

bench-compare: build-release ## is this build slower at failover than another (OLD=path/to/build, KINDS="agent" ROUNDS=20 TRIALS=10)
	@BUILD=build/release bench/compare/run.sh

bench-groups: build-release ## what many groups cost, beside etcd (SIZES="1 1000 10000 100000")
	@BUILD=build/release bench/groups/run.sh

bench-silence: build-release ## what a short timeout buys and costs, beside the peers that are installed: 9 hours (SECONDS_EACH=600 TRIALS=30 SYSTEMS="elector …" SVG=file)
	@BUILD=build/release bench/silence/run.sh

bench-candidates: build-release ## what candidates without a vote cost (CANDIDATES="10 25 50" VOTERS=3 IDLE=10)
	@BUILD=build/release bench/candidates/run.sh

bench-hostile: build-release ## what a neighbour can do to an agent that leads (SECONDS_EACH=60 ATTACKS="why status …")
	@BUILD=build/release bench/hostile/run.sh

interop: build-release ## engines on real stores, in one queue with the stores' own clients (STORIES="etcd-tls …")
	@scripts/setup engine test interop
	@BUILD=build/release ELECTOR=build/release/elector test/interop/all.sh $(STORIES)

bench-engines: build-release ## how long nobody works, on a store, beside the store's own clients (TRIALS=20 TTL=5 STORES="etcd zookeeper kubernetes" KINDS="command store")
	@scripts/setup engine test interop
	@BUILD=build/release bench/engines/run.sh

page: ## build the pages anew: the laboratory, which `elector lab` serves, and the live page of the agent
	@scripts/setup page
	@node web/build.mjs web/built/lab.html
	@node web/build.mjs web/built/live.html

lint: lint-setup ## formatting and static analysis; changes nothing
	@cmake --preset asan >/dev/null
	@JOBS=$(JOBS) scripts/lint build/asan

format: lint-setup ## lay out all C code as .clang-format says
	@scripts/sources | xargs -0 clang-format -i

rewrite: build-release ## renew golden transcripts and the checker's numbers; read the diff before you commit it
	@ELECTOR=build/release/elector test/check/run.sh --rewrite
	@test -x test/scenario/run.sh || { echo "make rewrite: there is no test/scenario/run.sh" >&2; exit 1; }
	@ELECTOR=build/release/elector BUILD=build/release test/scenario/run.sh --rewrite

abi: ## accept the present libelector as the reference that programs were linked with
	@scripts/setup test
	@test/abi/run.sh --rewrite

install: program ## install below PREFIX, staged below DESTDIR
	@scripts/setup manual engine
	@cmake build/release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target elector_core elector_shared elector_static elector-engine man
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

coverage: build-coverage ## which lines and branches of the core the tests reach
	@scripts/setup coverage
	@find build/coverage -name '*.gcda' -delete
	@ctest --preset coverage -j $(JOBS)
	@scripts/coverage build/coverage

HOURS ?= 1
soak: build-release build-asan ## the long tests: faults, walks, fuzzers, larger questions (HOURS=0.25: so long, on two processors)
	@scripts/soak $(HOURS)

mutants: build-release ## plant known bugs, and see that the tests notice
	@test -x test/mutants/run.sh || { echo "make mutants: there is no test/mutants/run.sh" >&2; exit 1; }
	@ELECTOR=build/release/elector BUILD=build/release test/mutants/run.sh

TIMES ?= 1
minimal-debian: ## as a stranger would: make run and make test in a bare Debian and a fresh clone, as root (TIMES=3 TARGETS="run test")
	@TIMES=$(TIMES) scripts/minimal-debian

setup:
	@scripts/setup run manual engine test page

lint-setup:
	@scripts/setup run manual engine test page lint

build-%: setup
	@cmake --preset $* >/dev/null
	@cmake --build --preset $* -j $(JOBS)
