#!/usr/bin/env bash
# `make test-servers`: the tests that need PostgreSQL, MariaDB, a server that speaks MongoDB's protocol, Redis,
# memcached, php-fpm or a browser. The servers are started once, on free ports of this machine, and stopped at the
# end. It also counts instructions, which finds slow code without a clock.
here=$(dirname "$0")
if [ -z "${LIST_STEPS:-}" ] && [ "${1:-}" != --inside ]; then
    PREPARE_SERVERS=1 "$here/prepare.sh" || exit 1
    exec "$here/servers.sh" run "$here/test-servers.sh" --inside
fi
. "$here/common.sh"
. "$here/steps.sh"
check_while_building

# Runs the test program of a crate, with filters for its tests.
test_program() { # PROGRAM FILTER…
    cargo test --locked "${all_features[@]}" --test "$1" -- "${@:2}"
}

# These tests also kill the servers, so nothing else may use them at the same time.
kill_all() {
    test_program store kill::
    test_program cli served::killed::
}

test_more_workers() {
    ICECORE_TEST_QUEUE=$(realpath "$target")/debug/examples/queue test_program cli load::growth_with_workers
}

test_sessions() {
    has_php_headers || exit_skipped 'the headers are missing: php-dev'
    ICECORE_LIB=$test_library ICECORE_COMMAND=$test_command scripts/modules.sh test-servers php
}

step 'build' 'all crates and all tests; nothing to do after make test' build_all
step 'store on servers' 'each database behaves as the model says; many clients at once; backups' test_program store --skip kill::
step 'store on servers: schema' 'tables of older versions are changed' cargo test --locked "${all_features[@]}" --lib -- sql::schema::
step 'SQL dumps' 'what MariaDB, PostgreSQL, SQLite and mydumper dump is read back, changed and loaded' test_program sql programs::
step 'command on servers' 'rows, replace --db, --key and store on each server' \
    test_program cli mongo:: keys:: replace_db:: rows_sql:: bench::pending_objects
step 'kills' 'no acknowledged job is lost when producers, workers, daemons and servers are killed' kill_all
step 'more workers and daemons' 'the lab measures several of each' test_more_workers
step 'page of the daemon' 'in Chromium, by clicks and keys' test_program daemon in_browser::
step 'lab over the web' 'the scenario with nginx and php-fpm' test_program load over_fpm::
step 'PHP sessions' 'sessions over php-fpm and nginx, APCu, igbinary and PHP by their own names' test_sessions
step 'report of the lab' 'the report that the tests draw, in Chromium' scripts/bench-page.sh
step 'published report' 'the report in docs, in Chromium' scripts/bench-page.sh docs/bench/report.json
step 'instruction counts' 'no operation takes 3 % more instructions than benches/counts.tsv says' scripts/counts.sh check

need_for 'objects and jobs by PDO' 'php-pgsql' php -r 'exit((int) !extension_loaded("pdo_pgsql"));'
need_for 'objects in MongoDB by its driver for Ruby' 'ruby-mongo' ruby -e 'require "mongo"'
need_for 'dumps of mydumper' 'mydumper' have mydumper
need_for 'pages over the web' 'nginx-light' test -x /usr/sbin/nginx
for server in POSTGRES MYSQL MONGODB REDIS MEMCACHED; do
    variable=ICECORE_TEST_$server
    need_for "tests of ${server,,}" 'the server' test -n "${!variable:-}"
done

finish_steps
