#!/usr/bin/env bash
# `make test`, and what takes longer: a hundred kills of each kind on each database, the modules
# in a Debian 13, the packages, Python's with Spark and Ray, the extensions of PHP and Ruby with sanitizers, and for hours
# the generators and the fuzz targets.
set -euo pipefail
cd "$(dirname "$0")/.."
make --no-print-directory test
scripts/kills.sh 100
# 75: it can't be made here, and that was said.
scripts/analysis.sh || [ $? -eq 75 ]
scripts/trixie.sh || [ $? -eq 75 ]
make --no-print-directory dist-check
scripts/dist-perl.sh --check
scripts/dist-php.sh --check
scripts/dist-ruby.sh --check
scripts/python.sh test-all || [ $? -eq 75 ]
bindings/php/tests/asan.sh || [ $? -eq 75 ]
bindings/ruby/test/asan.sh || [ $? -eq 75 ]
fuzz/run-generators
# The targets as fuzz/run-short has them, with a hundred times as many executions.
sed -n "/^done <<'RUNS'/,/^RUNS/p" fuzz/run-short | sed '1d;$d' | while read -r target execs seed; do
    fuzz/run-long "$target" "$((execs * 100))" "$seed" </dev/null
done
