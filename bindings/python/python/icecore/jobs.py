"""Tables of blobs to typed Parquet, a file at a time: what runs on every machine of a cluster.

    python -m icecore.jobs IN OUT --column data --format php --processes 4

``IN`` is a folder of Parquet files with a column of blobs, ``OUT`` a folder that gets:

    schema.txt      the type of the decoded column: given, or learned from the first rows
    rows/FILE       the good rows, with a decoded column instead of the blobs
    bad/FILE        the bad ones: their number, the error, the blob, and the other columns
    done/FILE.json  how many of each there were; it is written last

A file is a unit of work. Its results have names that follow from its own, and appear at once; so a file that was processed
twice has one result, and a run that was stopped continues with the remaining files. One run at a time: a start
removes the incomplete files of a stopped run. Folders may be URIs that pyarrow knows (``s3://…``, ``gs://…``).
"""

from __future__ import annotations

import argparse
import json
import posixpath
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from .arrow import decoder, infer, schema_of

__all__ = ["Counts", "Job", "arguments", "main", "plan"]

#: Rows that are read and decoded at once: enough to keep a processor busy, and some megabytes.
BATCH = 65_536
#: Number of files whose state is requested at once.
ASKED = 32


@dataclass(frozen=True)
class Counts:
    """What became of a file."""

    unit: str
    rows: int
    bad: int


@dataclass(frozen=True)
class Job:
    """A job as every worker needs it: plain values only."""

    source: str
    target: str
    column: str
    schema: str
    format: str | None

    def units(self) -> list[str]:
        """The files, by their paths below the source, in order."""
        files, root = _open(self.source)
        found = files.get_file_info(fs.FileSelector(root, recursive=True))
        names = [posixpath.relpath(each.path, root) for each in found if each.is_file]
        return sorted(name for name in names if _is_table(name))

    def pending(self) -> list[str]:
        """Those that are not done, or were changed since."""
        return [unit for unit, done in self._states() if done is None]

    def total(self) -> Counts:
        """What became of all files that are done."""
        done = [each for _, each in self._states() if each is not None]
        return Counts("", sum(each.rows for each in done), sum(each.bad for each in done))

    def convert(self, unit: str) -> Counts:
        """Does one file."""
        files, root = _open(self.source)
        rows, bad = _Table(self, "rows", unit), _Table(self, "bad", unit)
        made = decoder(self.schema, self.format, "null")
        number = 0
        stamp = self._stamp(unit)
        try:
            with files.open_input_file(posixpath.join(root, unit)) as file:
                for batch in pq.ParquetFile(file).iter_batches(BATCH):
                    good, refused = self._decoded(batch, made, number)
                    rows.write(good)
                    bad.write(refused)
                    number += len(batch)
            rows.keep()
            bad.keep()
        except BaseException:
            rows.drop()
            bad.drop()
            raise
        counts = Counts(unit, rows.count, bad.count)
        _put(self.target, f"done/{unit}.json", json.dumps({**asdict(counts), **stamp}))
        return counts

    def _decoded(self, batch: pa.RecordBatch, made: Any, before: int) -> tuple[pa.Table, pa.Table | None]:
        decoded = made.decode(batch.column(self.column))
        column, errors = decoded.column, decoded.errors
        at = batch.schema.get_field_index(self.column)
        table = pa.Table.from_batches([batch])
        good = table.set_column(at, self.column, pa.array(column))
        if not errors:
            return good, None
        numbers = [row for row, _ in errors]
        is_good = [True] * len(batch)
        for row in numbers:
            is_good[row] = False
        refused = table.take(numbers)
        refused = refused.append_column("error", pa.array([str(error) for _, error in errors], pa.string()))
        refused = refused.append_column("row", pa.array([before + row for row in numbers], pa.int64()))
        return good.filter(pa.array(is_good)), refused

    def _states(self) -> list[tuple[str, Counts | None]]:
        """All files, with what became of those that are done. Of an object store each answer takes its time, so many
        are asked for at once."""
        units = self.units()
        with ThreadPoolExecutor(ASKED) as pool:
            return list(zip(units, pool.map(self._done, units)))

    def _stamp(self, unit: str) -> dict[str, Any]:
        files, root = _open(self.source)
        info = files.get_file_info(posixpath.join(root, unit))
        return {"size": info.size, "changed": info.mtime_ns}

    def _done(self, unit: str) -> Counts | None:
        text = _get(self.target, f"done/{unit}.json")
        if text is None:
            return None
        said = json.loads(text)
        if any(said.get(name) != value for name, value in self._stamp(unit).items()):
            return None
        return Counts(unit, said["rows"], said["bad"])


class _Table:
    """A Parquet file that appears when it is whole."""

    def __init__(self, job: Job, kind: str, unit: str) -> None:
        self.count = 0
        self._files, root = _open(job.target)
        self._final = posixpath.join(root, kind, unit)
        self._path = posixpath.join(root, "tmp", f"{uuid.uuid4().hex}.parquet")
        self._writer: Any = None
        self._stream: Any = None

    def write(self, table: pa.Table | None) -> None:
        if table is None:
            return
        if self._writer is None:
            self._files.create_dir(posixpath.dirname(self._path), recursive=True)
            self._stream = self._files.open_output_stream(self._path)
            self._writer = pq.ParquetWriter(self._stream, table.schema, compression="zstd")
        self._writer.write_table(table)
        self.count += len(table)

    def keep(self) -> None:
        self._close()
        if self._writer is not None:
            self._files.create_dir(posixpath.dirname(self._final), recursive=True)
            self._files.move(self._path, self._final)
        elif self._files.get_file_info(self._final).is_file:
            # Left from an earlier state of the file.
            self._files.delete_file(self._final)

    def drop(self) -> None:
        self._close()
        if self._writer is not None and self._files.get_file_info(self._path).is_file:
            self._files.delete_file(self._path)

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._stream.close()


def plan(
    source: str,
    target: str,
    column: str = "data",
    schema: Any = None,
    *,
    format: str | None = None,
    sample: int = 10_000,
) -> Job:
    """A job, and its folder. The type is the one that an earlier run wrote down, the one given, or is learned from
    the first ``sample`` rows. Another one than that of the earlier run is an error: its rows would not fit."""
    files, root = _open(target)
    if files.get_file_info(posixpath.join(root, "tmp")).type == fs.FileType.Directory:
        files.delete_dir(posixpath.join(root, "tmp"))
    known = _get(target, "schema.txt")
    given = None if schema is None else str(schema_of(schema))
    if known is not None and given not in (None, known):
        raise ValueError(f"{target} was begun with the schema {known!r}: take another folder, or that schema")
    text = known or given or str(_learned(Job(source, target, column, "", format), sample))
    if known is None:
        _put(target, "schema.txt", text)
    return Job(source, target, column, text, format)


def _learned(job: Job, sample: int) -> Any:
    files, root = _open(job.source)
    blobs: list[pa.Array] = []
    missing = sample
    for unit in job.units():
        with files.open_input_file(posixpath.join(root, unit)) as file:
            for batch in pq.ParquetFile(file).iter_batches(min(BATCH, sample), columns=[job.column]):
                blobs.append(batch.column(0).slice(0, missing))
                missing -= len(blobs[-1])
                if missing <= 0:
                    break
        if missing <= 0:
            break
    if not blobs:
        raise ValueError(f"{job.source} has no Parquet files with rows to learn a type from")
    return infer(pa.chunked_array(blobs).combine_chunks(), job.format)


def _is_table(name: str) -> bool:
    hidden = any(part.startswith((".", "_")) for part in name.split("/"))
    return name.endswith(".parquet") and not hidden


def _open(place: str) -> tuple[fs.FileSystem, str]:
    if "://" in place:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(place)
        return found
    return fs.LocalFileSystem(), posixpath.abspath(place)


def _get(place: str, name: str) -> str | None:
    files, root = _open(place)
    path = posixpath.join(root, name)
    if not files.get_file_info(path).is_file:
        return None
    with files.open_input_stream(path) as file:
        return bytes(file.read()).decode()


def _put(place: str, name: str, text: str) -> None:
    files, root = _open(place)
    path, early = posixpath.join(root, name), posixpath.join(root, "tmp", uuid.uuid4().hex)
    for each in (path, early):
        files.create_dir(posixpath.dirname(each), recursive=True)
    with files.open_output_stream(early) as file:
        file.write(text.encode())
    files.move(early, path)


def arguments(description: str) -> argparse.ArgumentParser:
    """The arguments that all jobs have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("source", metavar="IN", help="the folder of Parquet files, or its URI")
    parser.add_argument("target", metavar="OUT", help="the folder for what comes out, or its URI")
    parser.add_argument("--column", default="data", help="the column of blobs: data")
    parser.add_argument("--format", help="the format of the blobs, such as php; detected for each one by default")
    parser.add_argument("--schema", help='the type, such as "id int64, tags list<utf8>"; else it is learned')
    parser.add_argument("--sample", type=int, default=10_000, help="from so many rows: 10000")
    return parser


def planned(args: argparse.Namespace) -> Job:
    """The job that arguments ask for."""
    return plan(args.source, args.target, args.column, args.schema, format=args.format, sample=args.sample)


def said(job: Job) -> str:
    """What became of a job, as a line of JSON."""
    total = job.total()
    return json.dumps({"files": len(job.units()), "rows": total.rows, "bad": total.bad, "schema": job.schema})


def run(job: Job, processes: int) -> Iterator[Counts]:
    """Does all files that are not done, in so many processes of this machine."""
    pending = job.pending()
    if processes <= 1:
        yield from map(job.convert, pending)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(job.convert, pending)


def main() -> int:
    """The command."""
    parser = arguments("Tables of blobs to typed Parquet, on this machine.")
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    job = planned(args)
    for done in run(job, args.processes):
        print(f"{done.unit}: {done.rows} rows, {done.bad} bad", file=sys.stderr)
    print(said(job))
    return 0


if __name__ == "__main__":
    sys.exit(main())
