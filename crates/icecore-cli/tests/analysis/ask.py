"""Runs statements of SQL in DuckDB: each stands in a list of JSON on the standard input. The rows of each are a line of
JSON. 75: it can't be done here, and the reason stands on the standard error."""

import glob
import importlib.util
import json
import sys

try:
    import duckdb
except ImportError:
    sys.exit(print("python has no duckdb", file=sys.stderr) or 75)


def load(connection, extension):
    """As DuckDB has it, or from a package of python that brings the file."""
    try:
        connection.execute(f"LOAD {extension}")
        return
    except duckdb.Error:
        pass
    package = importlib.util.find_spec(f"duckdb_extension_{extension}")
    files = glob.glob(f"{package.submodule_search_locations[0]}/extensions/*/*.duckdb_extension") if package else []
    try:
        connection.execute(f"LOAD '{files[0]}'" if files else f"INSTALL {extension}; LOAD {extension}")
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        sys.exit(print(f"DuckDB {duckdb.__version__} has no {extension}: {reason}", file=sys.stderr) or 75)


connection = duckdb.connect()
for extension in sys.argv[1:]:
    load(connection, extension)
for statement in json.load(sys.stdin):
    rows = connection.execute(statement).fetchall()
    print(json.dumps([[str(value) if value is not None else None for value in row] for row in rows]))
