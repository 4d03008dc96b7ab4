# shellcheck shell=bash disable=SC2034
# Functions for the programs that test a module with gcc's sanitizers of addresses and of undefined behaviour. The
# programs source this file. The engine is Rust and is not instrumented.
#
# ICECORE_LIB names the engine's library; without it cargo builds it. The program's argument is a folder for the
# reports of the sanitizers.
set -u
keep=${1:+$(realpath -m "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

runtime=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
if [ ! -e "${runtime%:*}" ] || [ ! -e "${runtime#*:}" ]; then
    echo 'libasan and libubsan of gcc are missing'
    exit 75
fi
if [ -z "${ICECORE_LIB:-}" ]; then
    cargo build --quiet --locked --release -p icecore-capi || exit 1
    ICECORE_LIB=${CARGO_TARGET_DIR:-target}/release/libicecore_capi.a
fi
ICECORE_LIB=$(realpath "$ICECORE_LIB")
export ICECORE_LIB
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
report_folder=$folder/reports
mkdir -p "$report_folder"

# Each of the two libraries has its own path for reports. In a program with both, only the path of the first one is
# set, and the reports of the other one would be lost. This library sets the other path.
cat >"$folder/place.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

__attribute__((constructor)) static void
set_place(void)
{
    void *library = dlopen("libubsan.so.1", RTLD_NOW | RTLD_NOLOAD);
    void (*set)(const char *) = library ? (void (*)(const char *))dlsym(library, "__sanitizer_set_report_path") : NULL;
    if (!set)
        abort();
    set(getenv("UBSAN_REPORTS"));
}
C
gcc -shared -fPIC -O1 "$folder/place.c" -o "$folder/place.so" -ldl || exit 1
runtime=$runtime:$folder/place.so
export UBSAN_REPORTS=$report_folder/undefined

# Compiler flags of the module, and options of the sanitizers. Everything is reported, and the program
# continues.
flags='-fsanitize=address,undefined -fsanitize-recover=address -fno-omit-frame-pointer -g -O1'
asan_options="detect_leaks=0:halt_on_error=0:abort_on_error=0:log_path=$report_folder/report:log_exe_name=1"
ubsan_options="print_stacktrace=1:log_path=$report_folder/report:log_exe_name=1"

# Prints the reports of the sanitizers and the last line, and ends the program.
conclude() { # PASSED FAILED
    local reports
    # A file with only warnings is not a report.
    grep -rLZE 'ERROR|runtime error:|CHECK failed' "$report_folder" | xargs -0 -r rm -f
    reports=$(find "$report_folder" -type f | wc -l)
    if [ "$reports" -gt 0 ]; then
        # Each place is shown once, with the number of its reports.
        cat "$report_folder"/* | sed -nE 's/0x[0-9a-f]+/…/g; /runtime error:|^SUMMARY|CHECK failed/p' | sort | uniq -c | sort -rn | head -n 50
        echo "not ok - reports of the sanitizers: $reports"
        [ -z "$keep" ] || { mkdir -p "$keep" && cp "$report_folder"/* "$keep/"; }
    fi
    echo "$1 passed, $(($2 + reports)) failed"
    [ "$2" -eq 0 ] && [ "$reports" -eq 0 ]
    exit
}
