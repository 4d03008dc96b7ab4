#!/usr/bin/env bash
# Builds the extension with the sanitizers of addresses and of undefined behaviour, in a folder of its own, and
# runs its tests. The engine is Rust and is not instrumented.
#
#   bindings/ruby/test/asan.sh [FOLDER]
#
# ICECORE_LIB names the engine's library; without it cargo builds it. RUBY names another ruby. CHANCE is the
# number of random values (3000), SEED their seed (1). The reports of the sanitizers are printed, and go to
# FOLDER if it is given. The last line is `N passed, M failed`; the exit code is 75 if it can't be built.
# shellcheck source=sanitized.sh
. "$(dirname "$0")/../../../scripts/sanitized.sh"
ruby=$(command -v "${RUBY:-ruby}")
if [ -z "$ruby" ] || [ ! -e "$("$ruby" -e 'print RbConfig::CONFIG["rubyhdrdir"]')/ruby.h" ]; then
    echo 'the headers of Ruby are missing: ruby-dev'
    exit 75
fi

# -- Build -------------------------------------------------------------------

mkdir "$folder/build"
cp -R bindings/ruby/lib "$folder/lib"
rm -f "$folder"/lib/icecore/icecore.*
# In a Makefile of Ruby, ARCH_FLAG comes after all other flags, of compiler and linker. Stack frames are not
# checked, because an exception of Ruby leaves frames by longjmp.
{
    (cd "$folder/build" && "$ruby" "$OLDPWD/bindings/ruby/ext/icecore/extconf.rb") &&
        # The sanitizer prints names of functions.
        sed -i 's/ -Wl,--strip-all//' "$folder/build/Makefile" &&
        make -C "$folder/build" -j"$(nproc 2>/dev/null || echo 1)" ARCH_FLAG="$flags --param asan-stack=0" &&
        cp "$folder/build/icecore.$("$ruby" -e 'print RbConfig::CONFIG["DLEXT"]')" "$folder/lib/icecore/"
} >"$folder/log" 2>&1 || {
    tail -n 40 "$folder/log"
    echo 'not ok - the extension does not build with sanitizers'
    exit 1
}

# -- Run ---------------------------------------------------------------------

# Ruby has a signal stack in each thread, so the sanitizer must not set another one. A wrong length in damaged
# data gets no memory, as without the sanitizer.
cat >"$folder/ruby" <<RUBY
#!/bin/sh
export LD_PRELOAD='$runtime' ICECORE_SANITIZED=1
export ASAN_OPTIONS='use_sigaltstack=0:max_allocation_size_mb=1024:allocator_may_return_null=1:$asan_options'
export UBSAN_OPTIONS='$ubsan_options'
exec '$ruby' "\$@"
RUBY
chmod +x "$folder/ruby"
if ! "$folder/ruby" -I "$folder/lib" -r icecore -e ''; then
    cat "$report_folder"/* 2>/dev/null
    echo 'not ok - the extension with sanitizers does not load'
    exit 1
fi
cd bindings/ruby || exit 1
ended=0
{
    RUBY=$folder/ruby CHANCE=${CHANCE:-3000} ICECORE_SEED=${SEED:-1} test/run.sh "$folder/lib" || ended=1
    for program in test/rails/[!l]*.rb examples/check.rb; do
        echo "# $program"
        "$folder/ruby" -w -I "$folder/lib" "$program" || ended=1
    done
} >"$folder/out" 2>&1
grep -vE '^([0-9]+ passed, [0-9]+ failed|# [0-9]+: .*|==[0-9]+==WARNING.*)$' "$folder/out"
read -r passed failed < <(awk '/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3 } END { print passed + 0, failed + 0 }' "$folder/out")
# A program that crashed has counted nothing.
[ "$ended" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
conclude "$passed" "$failed"
