#!/usr/bin/env bash
# `make test`, and what takes hours: the generators and the fuzz targets, run long.
set -euo pipefail
cd "$(dirname "$0")/.."
make --no-print-directory test
fuzz/run-generators
# The targets as fuzz/run-short has them, with a hundred times as many executions.
sed -n "/^done <<'RUNS'/,/^RUNS/p" fuzz/run-short | sed '1d;$d' | while read -r target execs seed; do
    fuzz/run-long "$target" "$((execs * 100))" "$seed" </dev/null
done
