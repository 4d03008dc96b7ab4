#!/usr/bin/env bash
# Builds the extension with the sanitizers of addresses and of undefined behaviour, in a folder of its own, and
# runs its tests. The engine is Rust and is not instrumented.
#
#   bindings/php/tests/asan.sh [FOLDER]
#
# ICECORE_LIB names the engine's library; without it, cargo builds one. CHANCE is the number of random values
# (default: 3000), SEED their seed (default: 1). The reports of the sanitizers are printed, and are also written to
# FOLDER if it is given. The last line is `N passed, M failed`. The exit code is 75 if php-dev is missing.
# shellcheck source=sanitized.sh
. "$(dirname "$0")/../../../scripts/sanitized.sh"
if ! command -v phpize >/dev/null; then
    echo 'php-dev is missing'
    exit 75
fi

# -- Build -------------------------------------------------------------------

git ls-files -z bindings/php bindings/common crates/icecore-capi/include docs/php.md | xargs -0 cp --parents -t "$folder"
cd "$folder/bindings/php" || exit 1
# For line numbers in the reports, and less optimization, which can hide errors.
sed -i 's/ -O2 / -O1 /; s/ -Wl,--strip-all//' config.m4
{
    phpize && ./configure CFLAGS="$flags" LDFLAGS="-fsanitize=address,undefined" && make -j"$(nproc 2>/dev/null || echo 1)"
} >"$folder/log" 2>&1 || {
    tail -n 40 "$folder/log"
    echo 'not ok - the extension does not build with sanitizers'
    exit 1
}

# -- Run ---------------------------------------------------------------------

# PHP loads extensions with RTLD_DEEPBIND, which the sanitizer refuses.
cat >"$folder/shallow.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>

void *
dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name, flags & ~RTLD_DEEPBIND);
}
C
gcc -shared -fPIC -O1 "$folder/shallow.c" -o "$folder/shallow.so" -ldl || exit 1
# Without PHP's own allocator, because the sanitizer does not see its blocks. The extension stays loaded, so that
# reports can name its functions. Only PHP runs with the sanitizer.
cat >"$folder/php" <<PHP
#!/bin/sh
export LD_PRELOAD='$folder/shallow.so:$runtime' USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1 SKIP_ASAN=1
export ASAN_OPTIONS='verify_asan_link_order=0:$asan_options' UBSAN_OPTIONS='$ubsan_options'
exec '$(command -v php)' "\$@"
PHP
chmod +x "$folder/php"
if ! "$folder/php" -d "extension=$PWD/modules/icecore.so" -r 'exit((int) !extension_loaded("icecore"));'; then
    cat "$report_folder"/* 2>/dev/null
    echo 'not ok - the extension with sanitizers does not load'
    exit 1
fi
CHANCE=${CHANCE:-3000} PHPT_SIDES=icecore tests/run.sh modules/icecore.so "$folder/php" >"$folder/out" 2>&1
grep -v '^[0-9]* passed, [0-9]* failed$' "$folder/out"
counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$folder/out" | tail -n 1)
# shellcheck disable=SC2086
set -- ${counts:-0 passed, 1 failed}
conclude "$1" "$3"
