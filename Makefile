# The commands of the README, in front of Meson and Ninja.  Each installs what it needs first (scripts/setup.sh).
#
#     make            build/ctrace, build/libctrace.so, build/libctrace.a
#     make demo       builds, runs COBOL and C programs with tracing, shows the result
#     make test       builds and runs every test; the last line is "N passed, N failed"
#     make check      the quick tests only; T=ring or T=tests/unit/ring picks by name, also for `make test`
#     make bench      measures a release build beside a baseline and installed peers, writes build/bench.json; BENCH=--quick
#     make setup-peers    installs the peers: LTTng-UST and spdlog
#     make install    PREFIX=/usr/local DESTDIR=
#     make uninstall  takes it away again, with the same PREFIX and DESTDIR
#     make deb        builds the Debian packages in build-deb/; `make rpm` those of RPM in build-rpm/
#     make check-packages    builds both twice and compares them; installs those of Debian into a bare one, uses and purges them
#     make abi        stores the binary interface of libctrace.so, with which `make check` compares a later one
#     make lint       compiler warnings of gcc and clang, clang-tidy, cppcheck, format
#     make format     puts the sources into the project's format
#     make fuzz       fuzzes every reader of third-party bytes, FUZZ_SECONDS=60 each
#     make faults     the battery of faults in its long form (docs/faults.md), then the tests under sanitizers; T=kill picks
#     make cross      builds for aarch64 and s390x, and runs tests under qemu-user; CROSS=s390x picks one
#     make clean

BUILD = build
PREFIX = /usr/local
DESTDIR =
T =
FUZZ_SECONDS = 60
BENCH =
CROSS = aarch64 s390x

SETUPS = setup-build setup-demo setup-test setup-bench setup-peers setup-lint setup-format setup-fuzz setup-deb setup-rpm setup-packages setup-abi setup-cross

.NOTPARALLEL: # Ninja does that
.PHONY: all build demo outlook test check bench install uninstall deb rpm check-packages abi lint format fuzz faults cross clean help $(SETUPS)

all: build

$(SETUPS): setup-%:
	@scripts/setup.sh $*

build: setup-build
	@scripts/configure.sh $(BUILD)
	@ninja -C $(BUILD) programs

demo: setup-demo build
	@scripts/demo.sh $(BUILD)

# Before anything is fetched or built.
outlook:
	@[ -n '$(T)' ] || echo 'make test: installs the packages that are missing (up to 1.1 GB from the network, named below, with a browser and'
	@[ -n '$(T)' ] || echo 'clang), builds (1 to 3 minutes), and runs every test: some 10 minutes with two quiet processors, up to 25 with busy ones.'

test: outlook setup-test
	@scripts/test.sh $(BUILD) all '$(T)'

check: setup-test
	@scripts/test.sh $(BUILD) quick '$(T)'

bench: setup-bench
	@scripts/bench.sh build-bench $(BUILD) $(BENCH)

install: setup-build
	@scripts/install.sh $(BUILD) '$(PREFIX)' '$(DESTDIR)'

uninstall:
	@scripts/uninstall.sh $(BUILD) '$(PREFIX)' '$(DESTDIR)'

deb: setup-deb
	@scripts/deb.sh build-deb

rpm: setup-rpm
	@scripts/rpm.sh build-rpm

check-packages: setup-packages
	@scripts/check-packages.sh build-packages

abi: setup-abi build
	@scripts/abi.sh $(BUILD) write

lint: setup-lint
	@scripts/lint.sh build-lint

format: setup-format
	@scripts/format.sh

fuzz: setup-fuzz
	@scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS)

faults: setup-test
	@scripts/faults.sh $(BUILD) build-faults '$(T)'

cross: setup-cross
	@scripts/cross.sh build-cross $(CROSS)

clean:
	rm -rf $(BUILD) build-bench build-lint build-fuzz build-faults build-faults-threads build-deb build-rpm build-packages build-cross

help:
	@sed -n '/^#     make/s/^#     //p' Makefile
