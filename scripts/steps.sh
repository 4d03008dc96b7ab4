# shellcheck shell=bash disable=SC2034,SC2154
# Runs the steps of a test script, counts their tests, and prints a table at the end. test.sh, test-servers.sh and
# test-all.sh source this file after common.sh.
#
#   step NAME WHAT COMMAND…        runs a step; WHAT says in a few words what it shows
#   start_step NAME WHAT COMMAND…  starts a step that runs at the same time as others. There is one more such step than
#                                  processors, because some wait for other programs
#   wait_for_steps                 waits for all steps that were started
#   finish_steps                   waits, prints the table, and returns 1 if a step failed
#
# A step ends with 75 if something that it needs is missing; its last line is the reason. With LIST_STEPS=1 nothing
# runs, and each step prints `NAME<TAB>WHAT`. docs/tests.md is made from that.

suite=$(basename "$0" .sh)
passed=0
failed=0
# Rows of the table: seconds, passed tests, failed tests, name, seconds of processors; separated by tabs.
table=()
failed_steps=()
left_out=()
# What `time` prints: seconds of processors, in the program and in the system.
TIMEFORMAT='%U %S'
# For each running process of a step, its start and its name.
declare -A running=()

if [ -z "${LIST_STEPS:-}" ]; then
    export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
    # A machine that builds only once needs neither incremental state nor debug information, which take three quarters
    # of the disk space.
    if [ "${CI:-}" = true ]; then
        export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_RELEASE_DEBUG=0
    fi
    new_folder
fi

step() { # NAME WHAT COMMAND…
    if [ -n "${LIST_STEPS:-}" ]; then
        printf '%s\t%s\n' "$1" "$2"
        return
    fi
    local log=$folder/log start=$SECONDS status
    say "== $1"
    # The step is not a part of a `||` list: `set -e` would have no effect in it, and a step of several commands would
    # continue after a failure.
    set +e
    { time { (set -e; "${@:3}") 2>&1; }; } 2>"$folder/cpu.$1" | tee "$log"
    status=${PIPESTATUS[0]}
    set -e
    count_step "$1" "$status" "$((SECONDS - start))" "$log"
}

start_step() { # NAME WHAT COMMAND…
    if [ -n "${LIST_STEPS:-}" ]; then
        printf '%s\t%s\n' "$1" "$2"
        return
    fi
    [ ${#running[@]} -le "$(nproc 2>/dev/null || echo 2)" ] || end_one_step
    say "== $1: started"
    local log=$folder/log.$1
    { time { (set -e; "${@:3}") </dev/null >"$log" 2>&1; }; } 2>"$folder/cpu.$1" &
    running[$!]="$SECONDS	$1"
}

# Waits for one of the running steps to end, and shows what it printed.
end_one_step() {
    local ended status start name
    set +e
    wait -n -p ended "${!running[@]}"
    status=$?
    set -e
    IFS=$'\t' read -r start name <<<"${running[$ended]}"
    unset "running[$ended]"
    say "== $name"
    cat "$folder/log.$name"
    count_step "$name" "$status" "$((SECONDS - start))" "$folder/log.$name"
}

wait_for_steps() {
    while [ ${#running[@]} -gt 0 ]; do
        end_one_step
    done
}

count_step() { # NAME STATUS SECONDS LOG
    local name=$1 status=$2 seconds=$3 log=$4 passed_tests failed_tests
    if [ "$status" -eq 75 ]; then
        left_out+=("$name: $(tail -n 1 "$log")")
        say "== $name: left out, $(tail -n 1 "$log")"
        return
    fi
    # A step may leave out a part. It reports that in a line that begins with `left out: `.
    while IFS= read -r line; do
        left_out+=("$name: $line")
    done < <(sed -n 's/^\(# \)\?left out: //p' "$log")
    # cargo prints `12 passed; 0 failed`, our scripts print `12 passed, 0 failed`, prove prints `Tests=12`.
    # A line that starts with # is part of a sum that a later line prints.
    passed_tests=$(sum_numbers "$log" '/^# /d; s/(^|.* )([0-9]+) passed[;,].*/\2/p; s/^Files=.*Tests=([0-9]+),.*/\1/p')
    failed_tests=$(sum_numbers "$log" '/^# /d; s/.* passed[;,] ([0-9]+) failed.*/\1/p')
    if [ "$status" -ne 0 ]; then
        failed_steps+=("$name")
        [ "$failed_tests" -gt 0 ] || failed_tests=1
    elif [ "$passed_tests" -eq 0 ]; then
        # A step without tests of its own counts as one.
        passed_tests=1
    fi
    passed=$((passed + passed_tests))
    failed=$((failed + failed_tests))
    table+=("$seconds	$passed_tests	$failed_tests	$name	$(awk '{ printf "%d", $1 + $2 }' "$folder/cpu.$name")")
}

# Lists tests as left out unless the command succeeds. Such tests end early and count as passed.
need_for() { # WHAT PACKAGE COMMAND_THAT_SUCCEEDS…
    [ -n "${LIST_STEPS:-}" ] || "${@:3}" >/dev/null 2>&1 || left_out+=("$1: $2 is missing")
}

# Makes clippy and rustdoc check each of our crates while it is built.
check_while_building() {
    CHECKERS=$(rustc --print sysroot 2>/dev/null)/bin
    export CHECKERS RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/check-crate.sh
}

# Builds everything once, for all steps. Another set of features or another profile would build it again.
build_all() {
    cargo build --locked "${all_features[@]}"
    cargo test --locked "${all_features[@]}" --no-run
    # Benchmarks are not run here, but clippy checks them.
    cargo test --locked "${all_features[@]}" --benches --no-run
}

# Adds the numbers that a sed script finds.
sum_numbers() { # FILE SCRIPT
    sed -nE "$2" "$1" | awk '{ sum += $1 } END { print sum + 0 }'
}

# Prints the table, and writes it to a file: .ci/run adds up several such files, and docs/tests.md shows the seconds.
# CPU is the time of a step on all processors; its seconds also depend on the steps that ran at the same time.
finish_steps() {
    local row file
    [ -z "${LIST_STEPS:-}" ] || return 0
    wait_for_steps
    file=$target/steps/$suite.tsv
    mkdir -p "$target/steps"
    printf '%s\n' "${table[@]}" >"$file"
    say
    say 'seconds      CPU   passed  failed  step'
    awk -F '\t' '{ printf "%7d  %7d  %7d  %6d  %s\n", $1, $5, $2, $3, $4 }' "$file"
    printf '%7d  in all; steps that ran at the same time add up to more\n' "$SECONDS"
    for row in "${left_out[@]}"; do
        say "left out: $row"
    done
    for row in "${failed_steps[@]}"; do
        say "failed: $row"
    done
    say "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
