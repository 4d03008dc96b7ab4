#!/usr/bin/env bash
# Runs the SQL of docs/analysis.md in DuckDB, over SQLite, PostgreSQL and MariaDB. Exits with 75 if DuckDB can't
# be installed.
#
# DuckDB and its extensions are installed into a virtual environment below the target folder, not system-wide.
. "$(dirname "$0")/common.sh"
need_rust

python=$target/analysis/bin/python
version=1.5.5
if ! "$python" -c 'import duckdb, duckdb_extension_sqlite_scanner' 2>/dev/null; then
    packages=("duckdb==$version")
    for extension in sqlite postgres mysql; do
        packages+=("duckdb-extension-$extension-scanner==$version")
    done
    { python3 -m venv "$target/analysis" && "$python" -m pip install --quiet "${packages[@]}"; } || {
        exit_skipped 'DuckDB can not be had: python3-venv, and a network'
    }
fi
python=$(realpath --no-symlinks "$python")
ICECORE_TEST_PYTHON=$python scripts/servers.sh run cargo test --locked "${all_features[@]}" \
    --test cli -- analysis::
