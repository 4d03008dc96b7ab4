#!/usr/bin/env bash
# `make test`: everything that needs no server and no browser. The last line says `N passed, N failed`;
# steps that lacked something are named before it.
here=$(dirname "$0")
[ -n "${LIST_STEPS:-}" ] || "$here/prepare.sh" || exit 1
. "$here/common.sh"
. "$here/steps.sh"
check_while_building

# -- Source ------------------------------------------------------------------

check_format() {
    cargo fmt --version >/dev/null 2>&1 || exit_skipped 'rustfmt is missing'
    cargo fmt --all -- --check
}

# The second build only repeats the warnings of the first one. Warnings of another version of clippy are not failures.
check_advice() {
    local expected=1.95 version
    version=$(cargo clippy --version 2>/dev/null) || exit_skipped 'clippy is missing'
    build_all 2>&1 | tee "$folder/advice"
    if ! grep -q "[( ]0\.1\.${expected#1.}[. ]" <<<"$version"; then
        say "$version is not that of Rust $expected: its warnings are only shown"
    elif grep -q '^warning' "$folder/advice"; then
        return 1
    fi
}

check_scripts() {
    local scripts
    have shellcheck || exit_skipped 'shellcheck is missing'
    mapfile -t scripts < <(git ls-files .ci 'scripts/*.sh' 'bindings/*.sh' 'fuzz/run-*' 'benches/*.sh' 2>/dev/null)
    [ ${#scripts[@]} -gt 0 ] || scripts=(.ci/run scripts/*.sh)
    shellcheck -x -P scripts "${scripts[@]}"
}

step 'format' 'rustfmt changes nothing' check_format
step 'scripts' 'shellcheck has no advice' check_scripts
step 'page of the tests' 'docs/tests.md lists these steps' scripts/tests-page.sh --check

# -- Engine, command, lab, C interface ---------------------------------------

build_module() { # LANGUAGE PACKAGE
    "has_${1}_headers" || exit_skipped "the headers are missing: $2"
    ICECORE_LIB=$test_library scripts/modules.sh build "$1"
}

# Runs the test programs of a kind: `--lib`, `--doc`, or `--test` and a pattern for their names.
test_workspace() { # KIND…
    cargo test --locked "${all_features[@]}" --no-fail-fast "$@" -- "${skip_servers[@]}"
}

# Only this step and the next one use what they build, so they build without optimization and without clippy.
test_smallest_engine() {
    unset RUSTC_WORKSPACE_WRAPPER
    CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo test --locked -p icecore --no-default-features --features serde --lib
}

build_for_wasm() {
    unset RUSTC_WORKSPACE_WRAPPER
    local targets
    targets=$(rustup target list --installed 2>/dev/null) || exit_skipped 'rustup is missing'
    grep -qx wasm32-unknown-unknown <<<"$targets" || exit_skipped 'the target is not installed: rustup target add wasm32-unknown-unknown'
    CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo build --locked -p icecore --no-default-features --target wasm32-unknown-unknown
}

check_walker() {
    have prove || exit_skipped 'prove is missing'
    prove fixtures/perl/t
}

test_module() { # LANGUAGE PACKAGE
    "has_${1}_headers" || exit_skipped "the headers are missing: $2"
    ICECORE_LIB=$test_library ICECORE_COMMAND=$test_command scripts/modules.sh test "$1"
}

step 'build' 'all crates, all tests and the libraries of the modules' build_all
step 'advice' 'compiler, clippy and rustdoc had none, for all targets and features' check_advice
# The modules are built before the tests, because the lab measures Icecore in Perl, PHP and Ruby.
start_step 'Perl module: build' 'it builds against the installed perl' build_module perl libperl-dev
start_step 'PHP extension: build' 'it builds against the installed PHP' build_module php php-dev
start_step 'Ruby module: build' 'it builds against the installed Ruby' build_module ruby ruby-dev
wait_for_steps
# The rest runs side by side, the longest first.
start_step 'tests of command, columns, C' 'integration tests of the command, columns of Arrow, the interface for C' \
    test_workspace --test 'c*'
start_step 'tests of the lab' 'each scenario with perl, PHP, Ruby and Python; reports and their pages' test_workspace --test 'l*'
start_step 'tests of the rest' 'unit tests of all crates; integration tests of engine, store over SQLite, daemon and others' \
    test_workspace --lib --bins --test '[!cl]*'
start_step 'examples of Rust' 'the examples in the documentation of the crates' test_workspace --doc
start_step 'smallest engine' 'the engine builds and passes its tests without default features' test_smallest_engine
start_step 'engine for wasm32' 'the engine builds for a machine without an operating system' build_for_wasm
start_step 'fixtures' 'the perl program that says what a live value means passes its own tests' check_walker
start_step 'fuzzing, short' 'every fuzz target from fixed seeds, without libFuzzer' fuzz/run-short
start_step 'C examples' 'the examples of the C interface, with valgrind where it is installed' \
    env ICECORE_LIB="$test_library" ICECORE_COMMAND="$test_command" scripts/capi.sh

start_step 'C of the modules' 'the pieces in C that they share, with sanitizers' \
    env ICECORE_LIB="$test_library" scripts/modules.sh test common
start_step 'Perl module: tests' 'its own tests, the behaviour list, comparisons with the original modules' test_module perl libperl-dev
start_step 'PHP extension: tests' 'its own tests, the behaviour list, comparisons with PHP' test_module php php-dev
start_step 'Ruby module: tests' 'its own tests, the behaviour list, caches and messages of Rails, the examples' test_module ruby ruby-dev
start_step 'Python package: tests' 'pytest with pyarrow, polars, pandas, DuckDB; mypy' scripts/python.sh test-built

# -- Tests that are left out -------------------------------------------------------

has_perl_clients() {
    [ -z "$(perl benches/store/ask.pl)" ]
}
need_for 'a clock that jumps' 'faketime' have faketime
need_for 'PHP as a judge of what is written' 'php-cli or php-igbinary' php -r 'exit((int) !extension_loaded("igbinary"));'
need_for 'Ruby as a judge of what is written' 'ruby' have ruby
need_for 'dumps of SQLite' 'sqlite3' have sqlite3
need_for 'the store beside a daemon in Perl' \
    'one of libdbi-perl, libdbd-sqlite3-perl, libdbd-pg-perl, libev-perl and libjson-xs-perl' has_perl_clients

finish_steps
