#!/usr/bin/env -S python3 -I
# variants: php sereal marshal
# scenarios: columns
"""Icecore as a function of DuckDB for one schema, over a table of its own, to a table of Arrow."""
import os
import sys

sys.path.append(os.environ["LAB_LIB"])
import columns
import lab

duckdb = lab.needs("duckdb")
pyarrow = lab.needs("pyarrow")
icecore = lab.needs("icecore")
lab.needs("icecore.duckdb", "icecore")
format = os.environ["LAB_VARIANT"]
connection = duckdb.connect()
icecore.duckdb.register_struct(connection, "person", columns.SCHEMA, format=format, on_error="raise")


def prepare(rows):
    table = pyarrow.table({"data": pyarrow.array(columns.blobs(icecore, rows, format), pyarrow.binary())})
    connection.register("given", table)
    connection.execute("create or replace table blobs as select data from given")
    connection.unregister("given")
    return table["data"]


lab.run(
    f"icecore, DuckDB: {format}",
    lab.version("icecore"),
    prepare=prepare,
    read=lambda _: connection.execute("select person(data) as row from blobs").to_arrow_table(),
    seen=lambda table: table["row"].to_pylist(),
    octets=lambda column: columns.joined(column.to_pylist()),
)
