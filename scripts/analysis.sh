#!/usr/bin/env bash
# Runs the SQL of docs/analysis.md in DuckDB, over SQLite, PostgreSQL and MariaDB. Exits with 75 if DuckDB can't
# be installed.
#
# A Python gets DuckDB and its extensions in a folder below the target: nothing is installed system-wide.
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
        say 'DuckDB can not be had: python3-venv, and a network'
        exit 75
    }
fi
python=$(realpath --no-symlinks "$python")
ICECORE_TEST_PYTHON=$python scripts/servers.sh run cargo test --locked "${all_features[@]}" \
    --test cli -- analysis::
