# make run     installs what is needed, builds, and plays: your configuration if there is one, else a demo
# make test    installs what is needed, checks and tests everything
# make tests   runs those that FILTER names
# make package builds a package for Debian, in .build/package
# Needed beforehand: Debian 12 (or packages of the same names), and a Swift 6.2 toolchain or later in PATH.

SHELL := /bin/sh
CONFIG ?=
# What the compiler and the checks are strict about, beyond Package.swift.
STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
CFLAGS ?= -O2 -g
DEBUG := .build/debug
RELEASE := .build/release

.PHONY: run demo build compile tests test check soak benchmark format documents conversations clients pictures package test-package clean

run:
	@CONFIG='$(CONFIG)' Scripts/run

demo:
	@Scripts/install-packages build demo
	@$(MAKE) --no-print-directory build
	@Scripts/demo

# One with other flags compiles everything anew: whoever plays after make test, or before, shall not wait for that. Without
# $(STRICT), which may stop a newer compiler; make test has looked at every line with it before.
build:
	swift build -c release --product shelvmpd
	@$(MAKE) --no-print-directory $(RELEASE)/libshelvtap.so

# The plugin that copies the sound is plain C: built by SwiftPM it would link Swift's libraries. It comes after the first build by SwiftPM, which
# makes its folders anew, without what was in them.
$(DEBUG)/libshelvtap.so $(RELEASE)/libshelvtap.so: Sources/AudioTap/tap.c Sources/AudioTap/tap.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c11 -Wall -Wextra -Werror -fPIC -shared -Wl,--as-needed -o $@ $< -lpthread

# Everything, with real peers required. The closing lines of swift test come last.
test:
	@Scripts/install-packages build test
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory compile
	@$(MAKE) --no-print-directory $(DEBUG)/libshelvtap.so
	@$(MAKE) --no-print-directory build
	Scripts/conversations --expected
	Scripts/differential
	Scripts/differential-database
	Scripts/differential-commands --runs 20
	SHELV_REQUIRE_REAL=1 Scripts/clients
	Scripts/fuzz 300x
	ASAN_OPTIONS=detect_leaks=0 Scripts/soak-clients --program .build/fuzz/debug/shelvmpd --clients 100 --seconds 10 --rounds 2 --untimed
	SHELV_REQUIRE_REAL=1 Scripts/test

# The program and the tests, or one target, and some of the tests: with the flags of make test, because a build with others
# compiles everything anew.
compile:
	swift build $(STRICT) $(if $(TARGET),--target '$(TARGET)',--build-tests)

tests: compile
	@$(MAKE) --no-print-directory $(DEBUG)/libshelvtap.so
	swift test $(STRICT) --skip-build --no-parallel $(if $(FILTER),--filter '$(FILTER)')

# What needs no build.
check:
	swift format lint -r --strict --configuration .swift-format Package.swift Sources Tests
	Scripts/check-layers
	Scripts/check-documents

# The long runs, with full counts.
soak:
	@Scripts/install-packages build test package soak
	swift build -c release --build-tests -Xswiftc -enable-testing
	@$(MAKE) --no-print-directory $(RELEASE)/libshelvtap.so
	SHELV_SOAK=1 SHELV_RUNS=500 SHELV_STEPS=300 SHELV_REQUIRE_REAL=1 SHELV_BUILD=release Scripts/test
	Scripts/differential --program $(RELEASE)/shelvmpd --seed $$(date +%s) --runs 10 --steps 300 --ends 10
	Scripts/differential-database --program $(RELEASE)/shelvmpd --seed $$(date +%s) --queries 50000
	Scripts/differential-commands --program $(RELEASE)/shelvmpd --seed $$(date +%s) --runs 200
	Scripts/clients --program $(RELEASE)/shelvmpd --patient
	Scripts/soak-clients --program $(RELEASE)/shelvmpd --idlers 10000
	Scripts/impolite-clients --program $(RELEASE)/shelvmpd
	Scripts/fuzz 300
	Scripts/sanitize address
	Scripts/sanitize thread
	Scripts/test-package

# Measures beside a real MPD; Docs/performance.md shows the figures.
benchmark: build
	@Scripts/install-packages build test
	Scripts/benchmark

# Real clients, with what takes them long.
clients:
	@Scripts/install-packages build test
	swift build --product shelvmpd $(STRICT)
	@$(MAKE) --no-print-directory $(DEBUG)/libshelvtap.so
	Scripts/clients --patient

conversations:
	swift build --product shelvmpd $(STRICT)
	Scripts/conversations

format:
	swift format -i -r --configuration .swift-format Package.swift Sources Tests

# Writes the documents that come from tables of the program.
documents:
	SHELV_WRITE_DOCUMENTS=1 swift test $(STRICT) --filter GeneratedDocumentTests

# With the Swift runtime inside, so that it needs packages of Debian only.
package:
	@Scripts/install-packages build package
	Scripts/package

# The package in a bare Debian without Swift: installed, started, heard. Needs root, and debootstrap's network.
test-package:
	@Scripts/install-packages build test package soak
	Scripts/test-package

pictures:
	@Scripts/install-packages build demo pictures
	swift build --product shelvmpd $(STRICT)
	@$(MAKE) --no-print-directory $(DEBUG)/libshelvtap.so
	Scripts/pictures

clean:
	swift package clean
