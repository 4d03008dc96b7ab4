#!/usr/bin/env bash
# Tests what the module registers with PHP (registration/), in real programs: sessions with php-fpm and nginx, APCu, the
# global functions. The last line is `N passed, M failed`. Parts that could not run are listed before it.
#
#   run.sh EXTENSION_SO [PHP [PART…]]
#
# The parts are replace, apcu, sessions and fpm. The default is all of them.
set -uo pipefail
module=$(realpath "${1:?run.sh EXTENSION_SO [PHP]}")
php=${2:-php}
parts=("${@:3}")
[ ${#parts[@]} -gt 0 ] || parts=(replace apcu sessions fpm)
cd "$(dirname "$0")" || exit 1
export ICECORE_SO=$module

passed=0
failed=0
# Runs a test program, prints its failures, and adds its counts.
run() { # NAME OPTION…
    local name=$1 output
    shift
    output=$("$php" -d "extension=$module" -d display_errors=stderr "$@")
    grep -aE '^(not ok|left out|    )' <<<"$output"
    echo "# $name: $(tail -n 1 <<<"$output")"
    if [[ $(tail -n 1 <<<"$output") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
    else
        printf 'not ok - %s did not finish\n' "$name"
        failed=$((failed + 1))
    fi
}

for part in "${parts[@]}"; do
    case $part in
    replace) run replace -d icecore.replace=1 replace.php ;;
    apcu)
        if "$php" -m | grep -ix apcu >/dev/null; then
            run apcu -d apc.enable_cli=1 -d apc.serializer=icecore apcu.php
        else
            echo 'left out: APCu is missing (php-apcu)'
        fi
        ;;
    sessions) run sessions sessions.php ;;
    fpm) run fpm fpm.php "$module" ;;
    esac
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
