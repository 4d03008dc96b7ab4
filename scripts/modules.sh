#!/usr/bin/env bash
# Builds the modules of the languages; modules/LANGUAGE.sh contains the parts that only one of them needs. A
# language whose headers are missing is reported and left out.
#
#   scripts/modules.sh [build|test|test-servers|install|clean] [common] [perl] [php] [ruby]
#
#   build      then `perl -Mblib=bindings/perl`, `php -d extension=…/bindings/php/modules/icecore.so`
#              and `ruby -I bindings/ruby/lib -r icecore` use them
#   test       build and test; `common` means the C code that they share
#   test-servers  build, and run the tests that need servers: sessions of PHP over nginx and php-fpm
#   install    build and install, below DESTDIR if that is set
#   clean      remove what was built
#
# ICECORE_LIB names a library of the engine that is already built.
. "$(dirname "$0")/common.sh"
here=$PWD/scripts/modules
action=${1:-build}
shift $(($# > 0))
[ $# -gt 0 ] || set -- common perl php ruby
languages=()
with_common=
for language; do
    if [ "$language" = common ]; then
        with_common=yes
        continue
    fi
    [ -e "$here/$language.sh" ] || fail "There is no module for $language."
    # shellcheck source=modules/perl.sh
    . "$here/$language.sh"
    languages+=("$language")
done

if [ "$action" = clean ]; then
    for language in "${languages[@]}"; do
        (cd "bindings/$language" && "${language}_clean")
    done
    exit
fi
if [ -n "${ICECORE_LIB:-}" ]; then
    library=$(realpath "$ICECORE_LIB")
else
    have cargo || fail 'Rust is missing: make test installs it.'
    cargo build --quiet --locked --release -p icecore-capi
    library=$(realpath "$target")/release/libicecore_capi.a
fi

# Checks that files of C do not call each other in a circle: tsort fails if it finds a cycle.
check_order() { # OBJECT…
    local order
    order=$(nm -A -g "$@" | tr : ' ' | awk '
        $2 == "U" { uses[NR] = $1 " " $3 }
        $3 ~ /^[TVW]$/ { home[$4] = $1 }
        END { for (i in uses) { split(uses[i], use, " "); if (use[2] in home) print use[1], home[use[2]] } }')
    tsort <<<"$order" >/dev/null || fail 'Files of C call each other in a circle.'
}

# -- The shared C code -------------------------------------------------------

# Builds a program with the shared C code, strictly as C99 and, if available, with sanitizers.
build_common() { # NAME SOURCE
    local flags=(-std=c99 -Wall -Wextra -Wpedantic -Werror -O1 -g -I bindings -I crates/icecore-capi/include)
    cc "${flags[@]}" ${sanitizers:+"$sanitizers"} "$2" bindings/common/*.c "$library" -lpthread -ldl -lm -o "$folder/$1"
}

test_common() {
    local samples=docs/cookbook/samples stage
    sanitizers=-fsanitize=address,undefined
    echo 'int main(void) { return 0; }' >"$folder/empty.c"
    cc "$sanitizers" "$folder/empty.c" -o "$folder/empty" 2>/dev/null && "$folder/empty" || sanitizers=
    build_common common bindings/common/test/common.c
    "$folder/common"
    build_common outline bindings/common/example/outline.c
    {
        "$folder/outline" "$samples/session.storable" || echo "exit code $?"
        "$folder/outline" "$samples/session.storable" 'App::*'
        "$folder/outline" "$samples/graph.storable" Date::Day
        for stage in json sereal storable php marshal; do
            "$folder/outline" --write "$stage" >"$folder/written"
            "$folder/outline" "$folder/written"
        done
    } >"$folder/output"
    diff "$folder/output" bindings/common/example/outline.out || fail 'The example says something else.'
    say '1 passed, 0 failed'
}

# -- The languages -----------------------------------------------------------

new_folder
[ "$action" != test ] || [ -z "$with_common" ] || test_common
if [ "$action" = test ] || [ "$action" = test-servers ]; then
    # The clients are tested with a daemon.
    [ -n "${ICECORE_COMMAND:-}" ] || [ ! -x "$target/debug/icecore" ] || ICECORE_COMMAND=$(realpath "$target/debug/icecore")
    export ICECORE_COMMAND=${ICECORE_COMMAND:-}
fi
built=0
failed=0
for language in "${languages[@]}"; do
    if ! "has_${language}_headers"; then
        say "No module for $language: $("${language}_missing_headers")."
        continue
    fi
    built=$((built + 1))
    # The next module is built even if this one fails. The subshell is not a part of a `||` list or an `if`, where
    # `set -e` would have no effect.
    set +e
    (
        set -e
        cd "bindings/$language"
        "${language}_build"
        case $action in
        test) "${language}_test" ;;
        test-servers) "${language}_test_servers" ;;
        install) "${language}_install" ;;
        esac
    )
    status=$?
    set -e
    failed=$((failed + (status != 0)))
done
[ "$built" -gt 0 ] || [ ${#languages[@]} -eq 0 ] || fail 'No module could be built.'
[ "$failed" -eq 0 ]
