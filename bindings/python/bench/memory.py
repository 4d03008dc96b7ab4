"""Measures the peak memory of reading columns of one and of ten million rows, batch by batch.

    python bench/memory.py [ROWS…]

Each way of reading runs in a process of its own: pyarrow alone, without icecore; a stream of Arrow through
`icecore.arrow.decode`; a Parquet file through DuckDB to another one; the same with the streaming engine of polars. The
printed number is the peak of resident memory.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

SCHEMA = "id int64, name utf8, score float64"
BATCH = 65_536


def batches(rows: int) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, rows, BATCH):
        blobs = [
            b'a:3:{s:2:"id";i:%d;s:4:"name";s:%d:"Employee %d";s:5:"score";d:%d.25;}'
            % (number, 9 + len(str(number)), number, number)
            for number in range(start, min(rows, start + BATCH))
        ]
        yield pa.record_batch({"data": pa.array(blobs, pa.binary())})


def write_file(path: str, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, pa.schema({"data": pa.binary()})) as file:
        for batch in batches(rows):
            file.write_batch(batch)


def read_stream(source: str, target: str) -> int:
    import icecore.arrow
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source)
    reader = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(BATCH))
    rows = 0
    for batch in icecore.arrow.decode(reader, SCHEMA, format="php"):
        assert batch.column(0).null_count == 0 and batch.column(0).type.num_fields == 3
        rows += len(batch)
    return rows


def read_with_pyarrow(source: str, target: str) -> int:
    """Reads the file with pyarrow alone, for comparison."""
    import icecore.arrow  # noqa: F401
    import pyarrow.parquet as pq

    return sum(len(batch) for batch in pq.ParquetFile(source).iter_batches(BATCH))


def copy_with_duckdb(source: str, target: str) -> int:
    import duckdb
    import icecore.duckdb

    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false")
    icecore.duckdb.register_struct(connection, "person", SCHEMA, format="php", on_error="raise")
    connection.execute(f"copy (select person(data) as row from '{source}') to '{target}' (format parquet)")
    return int(connection.sql(f"select count(row.id) from '{target}'").fetchall()[0][0])


def copy_with_polars(source: str, target: str) -> int:
    import icecore.polars
    import polars as pl

    rows = pl.col("data").icecore.decode(SCHEMA, format="php")
    pl.scan_parquet(source).select(rows).sink_parquet(target)
    return int(pl.scan_parquet(target).select(pl.col("data").struct.field("id").count()).collect().item())


WAYS: dict[str, Callable[[str, str], int]] = {
    "read": read_with_pyarrow,
    "stream": read_stream,
    "duckdb": copy_with_duckdb,
    "polars": copy_with_polars,
}


def peak_memory() -> int:
    """Returns the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure(way: str, rows: int, folder: str) -> int:
    """Returns the peak memory in MB of a process that reads this number of rows."""
    source = os.path.join(folder, f"{rows}.parquet")
    if not os.path.exists(source):
        subprocess.run([sys.executable, __file__, "write", source, str(rows)], check=True)
    target = os.path.join(folder, "out.parquet")
    command = [sys.executable, __file__, way, source, target, str(rows)]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["write"]:
        write_file(arguments[1], int(arguments[2]))
        return
    if arguments and arguments[0] in WAYS:
        assert WAYS[arguments[0]](arguments[1], arguments[2]) == int(arguments[3])
        print(peak_memory())
        return
    sizes = [int(argument) for argument in arguments] or [1_000_000, 10_000_000]
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            print(f"{way:8}", *(f"{rows:>12,} rows {measure(way, rows, folder):>6,} MB" for rows in sizes), flush=True)


if __name__ == "__main__":
    main()
