# The commands of the project. `make` alone lists them.
#
#   PREFIX      where `make install` puts things; /usr/local
#   DESTDIR     a folder to install into instead of /
#   ASSUME_YES  1: `make test` installs what it needs without asking

PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help demo test test-servers test-all counts build install uninstall modules install-modules python dist dist-check dist-perl dist-php dist-ruby bench api pages clean

help:
	@echo 'make demo        build the command and show what it does'
	@echo 'make test        install what the tests need where that is allowed, then run all that needs no server'
	@echo 'make test-servers  tests with databases, php-fpm and a browser, which it starts; counts instructions'
	@echo 'make test-all    everything else: shipped modules, a second system, packages, generators, fuzzing: some hours'
	@echo 'make counts      accept the instruction counts of this checkout: benches/counts.tsv'
	@echo 'make build       build the command: target/release/icecore'
	@echo 'make install     install the command, its man pages and completions below PREFIX'
	@echo 'make uninstall   remove what was installed below PREFIX'
	@echo 'make modules     build the modules for Perl, PHP and Ruby: bindings/perl/blib, bindings/php/modules/icecore.so, bindings/ruby/lib'
	@echo 'make install-modules  install them'
	@echo 'make python      build the package for Python: a wheel and an sdist in dist/'
	@echo 'make dist-perl   make a tarball of the Perl module in dist/, and try it'
	@echo 'make dist-php    make a package of the PHP extension in dist/, and try it'
	@echo 'make dist-ruby   make a gem of the Ruby module in dist/, and try it'
	@echo 'make dist        make tarballs and packages in dist/, for arm64 too where it can'
	@echo 'make dist-check  try them in folders of their own'
	@echo 'make bench       run every experiment in full, 45 minutes, and write docs/bench anew'
	@echo 'make api         write docs/public-api.txt and the header for C anew'
	@echo 'make pages       write the output of the commands in the documentation anew'
	@echo 'make clean       remove what was built'

demo:
	@scripts/demo.sh

test:
	@scripts/test.sh

test-servers:
	@scripts/test-servers.sh

counts:
	@scripts/counts.sh accept

test-all:
	@scripts/test-all.sh

build:
	@scripts/build.sh

install: build
	@scripts/stage.sh '$(DESTDIR)' '$(PREFIX)' --manifest

uninstall:
	@scripts/uninstall.sh '$(DESTDIR)' '$(PREFIX)'

modules:
	@scripts/modules.sh

install-modules:
	@scripts/modules.sh install

python:
	@scripts/python.sh build

dist-perl:
	@scripts/dist-perl.sh --check

dist-php:
	@scripts/dist-php.sh --check

dist-ruby:
	@scripts/dist-ruby.sh --check

dist:
	@scripts/dist.sh

dist-check: dist
	@scripts/dist-check.sh

bench:
	@scripts/bench.sh

api:
	@UPDATE_PUBLIC_API=1 cargo test --quiet -p icecore --test engine public_api::
	@UPDATE_HEADER=1 cargo test --quiet -p icecore-capi --test capi header::
	@git --no-pager diff --stat -- docs/public-api.txt crates/icecore-capi/include

pages:
	@UPDATE_PAGES=1 cargo test --quiet -p icecore --test engine tape_page::
	@UPDATE_PAGES=1 cargo test --quiet -p icecore-cli --test cli pages::
	@UPDATE_PAGES=1 cargo test --quiet -p icecore-load --test load published::
	@scripts/tests-page.sh
	@git --no-pager diff --stat -- README.md docs

clean:
	@cargo clean
	@rm -rf dist
	@scripts/modules.sh clean
