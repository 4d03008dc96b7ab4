#!/usr/bin/env bash
# `make test-all`: the tests that `make test` and `make test-servers` leave out because they take hours: the modules
# as they are shipped, a hundred kills of each kind on each database, the modules in a Debian 13, the packages,
# Python with Spark and Ray, sanitizers, and long runs of the generators and the fuzz targets.
here=$(dirname "$0")
[ -n "${LIST_STEPS:-}" ] || PREPARE_SERVERS=1 "$here/prepare.sh" || exit 1
. "$here/common.sh"
. "$here/steps.sh"
# Tests use the full sizes and numbers of rounds, which `make test` reduces.
export ICECORE_FULL=1

# `make test` links the modules with an engine that is built for tests; here they are tested as shipped.
test_shipped_modules() {
    scripts/modules.sh test
    scripts/modules.sh test-servers
}

test_in_full() {
    # These programs have tests that use ICECORE_FULL.
    cargo test --locked "${all_features[@]}" --lib --bins --test engine --test cli --test lab --test load -- "${skip_servers[@]}"
    # Four kinds of floats, 2.5 million of each.
    ICECORE_ROUNDS=2500 cargo test --locked "${all_features[@]}" --lib -- floats_have_the_digits
    ICECORE_MODEL_CASES=200 scripts/servers.sh run cargo test --locked "${all_features[@]}" --test store -- model::
}

run_fuzz_targets() {
    local target execs seed
    sed -n "/^done <<'RUNS'/,/^RUNS/p" fuzz/run-short | sed '1d;$d' | while read -r target execs seed; do
        fuzz/run-long "$target" "$((execs * 800))" "$seed" </dev/null
    done
}

# Checks licences, sources and duplicates of all crates by deny.toml.
check_dependencies() {
    cargo deny --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-deny ||
        exit_skipped 'cargo-deny is missing, and can not be installed'
    cargo deny --locked check bans licenses sources
}

step 'dependencies' 'licences, sources and versions of all crates are those of deny.toml' check_dependencies
step 'growth of work' 'hostile inputs of the command, twice as large each time: its instructions may double' scripts/counts.sh growth
step 'tests in full' 'documents of a million levels; ten million floats; the model of the store with more cases' test_in_full
step 'shipped modules' 'all tests of the Perl, PHP and Ruby modules, with the engine as shipped' test_shipped_modules
step 'shipped C library' 'the examples of the C interface, with the library as shipped' scripts/capi.sh
step 'many kills' 'a hundred kills of each kind on each database' scripts/kills.sh 100
step 'analysis' 'the SQL of docs/analysis.md in DuckDB, over SQLite, PostgreSQL and MariaDB' scripts/analysis.sh
step 'Debian 13' 'the modules on perl 5.40, PHP 8.4 and Ruby 3.3' scripts/trixie.sh
step 'Debian sid' 'the allow lists of Sereal 5.011, in cases that make test does not have' scripts/sid.sh
step 'tarballs and packages' 'what make dist makes works in a folder of its own' make --no-print-directory dist-check
step 'package for Perl' 'the tarball of the Perl module builds and passes its tests' scripts/dist-perl.sh --check
step 'package for PHP' 'the package of the PHP extension builds and passes its tests' scripts/dist-php.sh --check
step 'package for Ruby' 'the gem builds and passes its tests' scripts/dist-ruby.sh --check
step 'wheel for Python' 'the wheel and the sdist, with Spark, Ray and the packages it is compared with' scripts/python.sh test-all
step 'PHP with sanitizers' 'no report of the address and undefined behaviour sanitizers' bindings/php/tests/asan.sh
step 'Ruby with sanitizers' 'the same for the Ruby module' bindings/ruby/test/asan.sh
step 'generators, long' 'random values that the real perl, PHP and Ruby judge, a thousand times as many rounds' fuzz/run-generators
step 'fuzzing, long' 'every fuzz target with eight hundred times as many executions' run_fuzz_targets

finish_steps
