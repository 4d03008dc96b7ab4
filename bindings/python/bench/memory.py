"""The most memory that columns of a million and of ten million rows take, when they are read batch by batch.

    python bench/memory.py [ROWS…]

Each way of reading runs in a process of its own: the file alone, without icecore; a stream of Arrow through `icecore.arrow.decode`, a Parquet file through
DuckDB to another, and the same by polars' streaming engine. What is printed is the peak of resident memory.
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
            b'a:3:{s:2:"id";i:%d;s:4:"name";s:%d:"Employee %d";s:5:"score";d:%d.25;}' % (at, 9 + len(str(at)), at, at)
            for at in range(start, min(rows, start + BATCH))
        ]
        yield pa.record_batch({"data": pa.array(blobs, pa.binary())})


def written(path: str, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, pa.schema({"data": pa.binary()})) as file:
        for batch in batches(rows):
            file.write_batch(batch)


def stream(source: str, target: str) -> int:
    import icecore.arrow
    import pyarrow as pa
    import pyarrow.parquet as pq

    given = pq.ParquetFile(source)
    reader = pa.RecordBatchReader.from_batches(given.schema_arrow, given.iter_batches(BATCH))
    rows = 0
    for batch in icecore.arrow.decode(reader, SCHEMA, format="php"):
        assert batch.column(0).null_count == 0 and batch.column(0).type.num_fields == 3
        rows += len(batch)
    return rows


def read(source: str, target: str) -> int:
    """Without icecore: what pyarrow takes for reading the file."""
    import icecore.arrow  # noqa: F401
    import pyarrow.parquet as pq

    return sum(len(batch) for batch in pq.ParquetFile(source).iter_batches(BATCH))


def duck(source: str, target: str) -> int:
    import duckdb
    import icecore.duckdb

    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false")
    icecore.duckdb.register_struct(connection, "person", SCHEMA, format="php", on_error="raise")
    connection.execute(f"copy (select person(data) as row from '{source}') to '{target}' (format parquet)")
    return int(connection.sql(f"select count(row.id) from '{target}'").fetchall()[0][0])


def lazy(source: str, target: str) -> int:
    import icecore.polars
    import polars as pl

    rows = pl.col("data").icecore.decode(SCHEMA, format="php")
    pl.scan_parquet(source).select(rows).sink_parquet(target)
    return int(pl.scan_parquet(target).select(pl.col("data").struct.field("id").count()).collect().item())


WAYS: dict[str, Callable[[str, str], int]] = {"read": read, "stream": stream, "duckdb": duck, "polars": lazy}


def peak() -> int:
    """Of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measured(way: str, rows: int, folder: str) -> int:
    """The peak of a process that reads so many rows, in MB."""
    source = os.path.join(folder, f"{rows}.parquet")
    if not os.path.exists(source):
        subprocess.run([sys.executable, __file__, "write", source, str(rows)], check=True)
    target = os.path.join(folder, "out.parquet")
    command = [sys.executable, __file__, way, source, target, str(rows)]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["write"]:
        written(words[1], int(words[2]))
        return
    if words and words[0] in WAYS:
        assert WAYS[words[0]](words[1], words[2]) == int(words[3])
        print(peak())
        return
    sizes = [int(word) for word in words] or [1_000_000, 10_000_000]
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            print(f"{way:8}", *(f"{rows:>12,} rows {measured(way, rows, folder):>6,} MB" for rows in sizes), flush=True)


if __name__ == "__main__":
    main()
