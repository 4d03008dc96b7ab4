#!/usr/bin/env bash
# Tests the plugs for serializers in PHP with real programs: sessions over php-fpm and nginx, APCu, the global
# names. The last line is `N passed, M failed`; parts that could not run are listed before it.
#
#   plugs.sh EXTENSION_SO [PHP [PART…]]
#
# The parts are replace, apcu, sessions and fpm; default: all.
set -uo pipefail
module=$(realpath "${1:?plugs.sh EXTENSION_SO [PHP]}")
php=${2:-php}
parts=("${@:3}")
[ ${#parts[@]} -gt 0 ] || parts=(replace apcu sessions fpm)
cd "$(dirname "$0")" || exit 1
export ICECORE_SO=$module

passed=0
failed=0
run() { # NAME OPTION…
    local name=$1 said
    shift
    said=$("$php" -d "extension=$module" -d display_errors=stderr "$@")
    grep -aE '^(not ok|left out|    )' <<<"$said"
    echo "# $name: $(tail -n 1 <<<"$said")"
    if [[ $(tail -n 1 <<<"$said") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
    else
        printf 'not ok - %s did not come to its end\n' "$name"
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
