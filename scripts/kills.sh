#!/usr/bin/env bash
# Kills producers, workers, daemons and servers at random moments, each kind TIMES times on each database, and adds up
# the counts. ICECORE_SEED=N repeats a run.
#
#   scripts/kills.sh [TIMES]
. "$(dirname "$0")/common.sh"
need_rust
new_folder

export ICECORE_KILLS=${1:-100}
run_kill_tests() {
    cargo test --locked "${all_features[@]}" --test store -- kill:: &&
        cargo test --locked "${all_features[@]}" --test cli -- served::killed::
}
if [ "${1:-}" = --inside ]; then
    ICECORE_KILLS=$2
    run_kill_tests
    exit
fi
status=0
scripts/servers.sh run scripts/kills.sh --inside "$ICECORE_KILLS" 2>&1 | tee "$folder/log" || status=${PIPESTATUS[0]}
if [ "$status" -eq 75 ]; then
    status=0
    run_kill_tests 2>&1 | tee -a "$folder/log" || status=${PIPESTATUS[0]}
fi
# Adds the numbers before a word in lines such as
# `KILLS sqlite: 50 kills (20 producer, 30 worker); told: 3357 ids of 3370 jobs, 853 objects, …`
sum() { # WORD
    sed -n "s/^KILLS.*[ (]\\([0-9]*\\) $1.*/\\1/p" "$folder/log" | awk '{ sum += $1 } END { print sum + 0 }'
}
say "# in all: $(sum kills) kills, $(sum 'ids of') ids told, $(sum 'objects,') objects, $(sum 'leases (') leases, $(sum 'taken over)') taken over, $(sum 'commands begun') commands begun"
exit "$status"
