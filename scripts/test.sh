#!/usr/bin/env bash
# Runs everything. The last line says `N passed, N failed`; what could not run
# is named before it.
here=$(dirname "$0")
"$here/prepare.sh" || exit 1
. "$here/common.sh"
# What the installer just put there goes before an older one of the system.
[ ! -x "$HOME/.cargo/bin/cargo" ] || PATH="$HOME/.cargo/bin:$PATH"

export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
# A machine that builds all of this once, and never again, has no use for what makes the next build
# faster and for the lines of backtraces: that is three quarters of the disk.
if [ "${CI:-}" = true ]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_RELEASE_DEBUG=0
fi
passed=0
failed=0
broken=()
left_out=()
took=()
new_folder

# Runs a step, shows what it says, and counts: the tests that it counted
# itself, or one for the step.
step() { # NAME COMMAND…
    local name=$1 log=$folder/log good bad ended=0 began=$SECONDS
    shift
    say "== $name"
    "$@" 2>&1 | tee "$log" || ended=${PIPESTATUS[0]}
    took+=("$(printf '%5d s  %s' $((SECONDS - began)) "$name")")
    # What a step says when something that it needs is not there.
    if [ "$ended" -eq 75 ]; then
        skip "$name" "$(tail -n 1 "$log")"
        return
    fi
    # cargo says `12 passed; 0 failed`, fuzz/run-short `12 passed, 0 failed`,
    # prove `Tests=12`.
    # A line that begins with # has a part of a sum that comes later.
    good=$(total '/^# /d; s/(^|.* )([0-9]+) passed[;,].*/\2/p; s/^Files=.*Tests=([0-9]+),.*/\1/p')
    bad=$(total '/^# /d; s/.* passed[;,] ([0-9]+) failed.*/\1/p')
    if [ "$ended" -ne 0 ]; then
        broken+=("$name")
        [ "$bad" -gt 0 ] || bad=1
    elif [ "$good" -eq 0 ]; then
        good=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
}

# The sum of the numbers that a pattern finds in the log.
total() { # PATTERN
    local sum=0 number
    while read -r number; do
        sum=$((sum + number))
    done < <(sed -nE "$1" "$log")
    echo "$sum"
}

skip() { # NAME WHY
    say "== $1: left out, $2"
    left_out+=("$1 ($2)")
}

# -- How it looks ------------------------------------------------------------

if cargo fmt --version >/dev/null 2>&1; then
    step 'format' cargo fmt --all -- --check
else
    skip 'format' 'rustfmt is missing'
fi
# A newer clippy knows more advice. It is shown, but is no failure of the code.
advice=1.95
if cargo clippy --version 2>/dev/null | grep -q "[( ]0\.1\.${advice#1.}[. ]"; then
    step 'clippy' cargo clippy --locked --workspace --all-targets --features icecore-cli/columns -- -D warnings
elif cargo clippy --version >/dev/null 2>&1; then
    say "$(cargo clippy --version) is not that of Rust $advice: its warnings are shown only"
    step 'clippy' cargo clippy --locked --workspace --all-targets --features icecore-cli/columns
else
    skip 'clippy' 'clippy is missing'
fi
RUSTDOCFLAGS=-Dwarnings step 'documentation' cargo doc --locked --workspace --no-deps
if have shellcheck; then
    mapfile -t scripts < <(git ls-files .ci 'scripts/*.sh' 'bindings/*.sh' 'fuzz/run-*' 'benches/*.sh' 2>/dev/null)
    [ ${#scripts[@]} -gt 0 ] || scripts=(.ci/run scripts/*.sh)
    step 'scripts' shellcheck -x -P scripts "${scripts[@]}"
else
    skip 'scripts' 'shellcheck is missing'
fi

# -- What it does ------------------------------------------------------------

# The lab measures Icecore in Perl and PHP as well, so the modules come first.
modules=()
if has_perl_headers; then
    modules+=(perl)
else
    skip 'Perl module' 'the headers of perl are missing: libperl-dev'
fi
if has_php_headers; then
    modules+=(php)
else
    skip 'PHP extension' 'the headers of PHP are missing: php-dev'
fi
if has_ruby_headers; then
    modules+=(ruby)
else
    skip 'Ruby module' 'the headers of Ruby are missing: ruby-dev'
fi
for language in "${modules[@]}"; do
    step "module for $language: build" scripts/modules.sh build "$language"
done
step 'tests' cargo test --locked --workspace --no-fail-fast
# One set of features for all: each other one would be built once more.
drivers=postgres,mysql,mongodb,redis,memcached
all=$drivers,columns
step 'the store on servers' scripts/servers.sh run cargo test --locked -p icecore-store --features "$drivers,tls"
step 'SQL dumps that programs write' scripts/servers.sh run cargo test --locked -p icecore-sql --test programs
step 'the daemon on servers' scripts/servers.sh run cargo test --locked -p icecore-cli --features "$all" --test served killed
step 'the command on servers' scripts/servers.sh run cargo test --locked -p icecore-cli --features "$all" --test mongo --test keys --test replace_db --test rows_sql
# The commands of the pages once more, for those that need this feature.
step 'Parquet and Arrow' cargo test --locked -p icecore-cli --features "$all" --bin icecore --test columns --test pages
step 'the lab: pending objects on servers' scripts/servers.sh run cargo test --locked -p icecore-cli --features "$all" \
    --test bench pending_objects
# The step with the store on servers has built the example.
step 'the lab: more workers and daemons on servers' env ICECORE_TEST_QUEUE="$(realpath "$target")/debug/examples/queue" \
    scripts/servers.sh run cargo test --locked -p icecore-cli --features "$all" --test load how_it_grows
# These tests say so themselves, but nobody sees it.
have faketime || skip 'a clock that jumps' 'faketime is missing: faketime'
have php || skip 'PHP as a judge of what is written' 'php is missing: php-cli, php-igbinary'
have ruby || skip 'Ruby as a judge of what is written' 'ruby is missing'
php -m 2>/dev/null | grep -qx pdo_pgsql || skip 'objects and jobs by PDO' 'PHP lacks drivers: php-sqlite3, php-pgsql, php-mysql'
ruby -e 'require "mongo"' 2>/dev/null || skip 'objects in MongoDB by its driver for Ruby' 'mongo is missing: ruby-mongo'
have chromium || have chromium-browser || have google-chrome || skip 'the page of the daemon in a browser' 'chromium is missing: chromium'
have sqlite3 || skip 'dumps of SQLite' 'its shell is missing: sqlite3'
have mydumper || skip 'dumps of mydumper' 'mydumper is missing: mydumper'
have nginx || [ -x /usr/sbin/nginx ] || skip 'pages over the web' 'nginx and php-fpm are missing: nginx-light, php-fpm'
missing=$(perl benches/store/ask.pl 2>/dev/null || echo perl)
[ -z "$missing" ] || skip 'the store beside a daemon in Perl' "perl lacks ${missing//$'\n'/, }: libdbi-perl, libdbd-sqlite3-perl, libdbd-pg-perl, libev-perl, libjson-xs-perl"
step 'the lab: the published report in a browser' scripts/bench-page.sh docs/bench/report.html
step 'a format that was added by a folder and a row' cargo test --locked -p icecore-cli --features toy --test toy
# Without what is on by default, and with what is not.
step 'engine with serde alone' cargo test --locked -p icecore --no-default-features --features serde --lib --test serde
if have rustup && rustup target list --installed 2>/dev/null | grep -qx wasm32-unknown-unknown; then
    step 'engine for wasm32' cargo build --locked -p icecore --no-default-features --target wasm32-unknown-unknown
else
    skip 'engine for wasm32' 'its target is not installed: rustup target add wasm32-unknown-unknown'
fi
if have prove; then
    step 'fixtures: the walker in Perl' prove fixtures/perl/t
else
    skip 'fixtures: the walker in Perl' 'prove is missing'
fi
step 'fuzzing, a short run' fuzz/run-short

# -- The lab -----------------------------------------------------------------

step 'the lab: the report of the tests in a browser' scripts/bench-page.sh

# -- The C interface ---------------------------------------------------------

step 'C interface: examples' scripts/capi.sh

# -- The modules -------------------------------------------------------------

for language in "${modules[@]}"; do
    step "module for $language: tests" scripts/modules.sh test "$language"
done

# -- Python ------------------------------------------------------------------

step 'package for Python: wheel and tests' scripts/python.sh test

# -- The end -----------------------------------------------------------------

say
printf '%s\n' "${took[@]}"
for name in "${left_out[@]}"; do
    say "left out: $name"
done
for name in "${broken[@]}"; do
    say "failed: $name"
done
say "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
