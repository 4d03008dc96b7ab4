"""Converts Parquet files with a column of blobs to typed Parquet files, one file at a time. Every machine of a cluster
can run it.

    python -m icecore.jobs IN OUT --column data --format php --processes 4

``IN`` is a folder of Parquet files with a column of blobs, ``OUT`` a folder that gets:

    schema.txt      the type of the decoded column: given, or learned from the first rows
    rows/FILE       the good rows, with a decoded column instead of the blobs
    bad/FILE        the bad rows: their number, the error, the blob, and the other columns
    done/FILE.json  the numbers of good and bad rows; it is written last

A file is a unit of work. The names of its results follow from its own name, and each result appears when it is
complete. So a file that was processed twice has one result, and after a stop the next run continues with the remaining
files. Only one run at a time is allowed, because a start removes the incomplete files of a stopped run. Folders may be
URIs that pyarrow supports (``s3://…``, ``gs://…``).
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

#: Number of rows that are read and decoded at once. They keep a processor busy, and take some megabytes.
BATCH_ROWS = 65_536
#: Maximum number of files whose state is requested at the same time.
MAX_REQUESTS = 32


@dataclass(frozen=True)
class Counts:
    """Numbers of good and bad rows of a file."""

    unit: str
    rows: int
    bad: int


@dataclass(frozen=True)
class Job:
    """A job. It has only plain values, so it can be sent to workers."""

    source: str
    target: str
    column: str
    schema: str
    format: str | None

    def units(self) -> list[str]:
        """Returns the paths of the files in the source folder, sorted."""
        files, root = _file_system(self.source)
        infos = files.get_file_info(fs.FileSelector(root, recursive=True))
        names = [posixpath.relpath(info.path, root) for info in infos if info.is_file]
        return sorted(name for name in names if _is_table(name))

    def pending(self) -> list[str]:
        """Returns the files that are not done, or were changed since then."""
        return [unit for unit, done in self._states() if done is None]

    def total(self) -> Counts:
        """Returns the numbers of rows of all files that are done."""
        done = [counts for _, counts in self._states() if counts is not None]
        return Counts("", sum(counts.rows for counts in done), sum(counts.bad for counts in done))

    def convert(self, unit: str) -> Counts:
        """Converts one file."""
        files, root = _file_system(self.source)
        rows, bad = _Table(self, "rows", unit), _Table(self, "bad", unit)
        batch_decoder = decoder(self.schema, self.format, "null")
        first_row = 0
        stamp = self._stamp(unit)
        try:
            with files.open_input_file(posixpath.join(root, unit)) as file:
                for batch in pq.ParquetFile(file).iter_batches(BATCH_ROWS):
                    good, refused = self._split(batch, batch_decoder, first_row)
                    rows.write(good)
                    bad.write(refused)
                    first_row += len(batch)
            rows.publish()
            bad.publish()
        except BaseException:
            rows.discard()
            bad.discard()
            raise
        counts = Counts(unit, rows.count, bad.count)
        _write_text(self.target, f"done/{unit}.json", json.dumps({**asdict(counts), **stamp}))
        return counts

    def _split(
        self, batch: pa.RecordBatch, batch_decoder: Any, first_row: int
    ) -> tuple[pa.Table, pa.Table | None]:
        """Decodes a batch. Returns its good rows, and its bad rows if there are any."""
        decoded = batch_decoder.decode(batch.column(self.column))
        column, errors = decoded.column, decoded.errors
        index = batch.schema.get_field_index(self.column)
        table = pa.Table.from_batches([batch])
        good = table.set_column(index, self.column, pa.array(column))
        if not errors:
            return good, None
        numbers = [row for row, _ in errors]
        is_good = [True] * len(batch)
        for row in numbers:
            is_good[row] = False
        refused = table.take(numbers)
        refused = refused.append_column("error", pa.array([str(error) for _, error in errors], pa.string()))
        refused = refused.append_column("row", pa.array([first_row + row for row in numbers], pa.int64()))
        return good.filter(pa.array(is_good)), refused

    def _states(self) -> list[tuple[str, Counts | None]]:
        """Returns all files, with the counts of those that are done. An object store takes a while for each answer, so
        many requests run at the same time."""
        units = self.units()
        with ThreadPoolExecutor(MAX_REQUESTS) as pool:
            return list(zip(units, pool.map(self._read_counts, units)))

    def _stamp(self, unit: str) -> dict[str, Any]:
        """Returns the size and the time of change of a file, to notice changes."""
        files, root = _file_system(self.source)
        info = files.get_file_info(posixpath.join(root, unit))
        return {"size": info.size, "changed": info.mtime_ns}

    def _read_counts(self, unit: str) -> Counts | None:
        """Returns the counts of a file if it is done, and was not changed since then."""
        text = _read_text(self.target, f"done/{unit}.json")
        if text is None:
            return None
        fields = json.loads(text)
        if any(fields.get(name) != value for name, value in self._stamp(unit).items()):
            return None
        return Counts(unit, fields["rows"], fields["bad"])


class _Table:
    """A Parquet file that appears under its name when it is complete."""

    def __init__(self, job: Job, kind: str, unit: str) -> None:
        self.count = 0
        self._files, root = _file_system(job.target)
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

    def publish(self) -> None:
        self._close()
        if self._writer is not None:
            self._files.create_dir(posixpath.dirname(self._final), recursive=True)
            self._files.move(self._path, self._final)
        elif self._files.get_file_info(self._final).is_file:
            # Nothing was written now, so this result is from an earlier state of the source file.
            self._files.delete_file(self._final)

    def discard(self) -> None:
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
    """Creates a job and its folder.

    The type is that of an earlier run with the same folder, or ``schema``, or it is learned from the first ``sample``
    rows. If ``schema`` differs from the type of the earlier run, that is an error, because the rows would not fit.
    """
    files, root = _file_system(target)
    if files.get_file_info(posixpath.join(root, "tmp")).type == fs.FileType.Directory:
        files.delete_dir(posixpath.join(root, "tmp"))
    earlier = _read_text(target, "schema.txt")
    given = None if schema is None else str(schema_of(schema))
    if earlier is not None and given not in (None, earlier):
        raise ValueError(f"{target} was begun with the schema {earlier!r}: take another folder, or that schema")
    text = earlier or given or str(_learn_type(Job(source, target, column, "", format), sample))
    if earlier is None:
        _write_text(target, "schema.txt", text)
    return Job(source, target, column, text, format)


def _learn_type(job: Job, sample: int) -> Any:
    files, root = _file_system(job.source)
    blobs: list[pa.Array] = []
    missing = sample
    for unit in job.units():
        with files.open_input_file(posixpath.join(root, unit)) as file:
            for batch in pq.ParquetFile(file).iter_batches(min(BATCH_ROWS, sample), columns=[job.column]):
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


def _file_system(folder: str) -> tuple[fs.FileSystem, str]:
    if "://" in folder:
        result: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(folder)
        return result
    return fs.LocalFileSystem(), posixpath.abspath(folder)


def _read_text(folder: str, name: str) -> str | None:
    files, root = _file_system(folder)
    path = posixpath.join(root, name)
    if not files.get_file_info(path).is_file:
        return None
    with files.open_input_stream(path) as file:
        return bytes(file.read()).decode()


def _write_text(folder: str, name: str, text: str) -> None:
    files, root = _file_system(folder)
    path, temporary = posixpath.join(root, name), posixpath.join(root, "tmp", uuid.uuid4().hex)
    for parent in (posixpath.dirname(path), posixpath.dirname(temporary)):
        files.create_dir(parent, recursive=True)
    with files.open_output_stream(temporary) as file:
        file.write(text.encode())
    files.move(temporary, path)


def arguments(description: str) -> argparse.ArgumentParser:
    """Returns a parser for the arguments that all jobs have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("source", metavar="IN", help="the folder of Parquet files, or its URI")
    parser.add_argument("target", metavar="OUT", help="the folder for the results, or its URI")
    parser.add_argument("--column", default="data", help="the column of blobs: data")
    parser.add_argument("--format", help="the format of the blobs, such as php; detected for each one by default")
    parser.add_argument("--schema", help='the type, such as "id int64, tags list<utf8>"; learned by default')
    parser.add_argument("--sample", type=int, default=10_000, help="number of rows to learn the type from: 10000")
    return parser


def plan_from_arguments(args: argparse.Namespace) -> Job:
    """Creates the job for parsed arguments."""
    return plan(args.source, args.target, args.column, args.schema, format=args.format, sample=args.sample)


def summary(job: Job) -> str:
    """Returns the results of a job as a line of JSON."""
    total = job.total()
    return json.dumps({"files": len(job.units()), "rows": total.rows, "bad": total.bad, "schema": job.schema})


def run(job: Job, processes: int) -> Iterator[Counts]:
    """Converts all files that are not done, in ``processes`` processes of this machine."""
    pending = job.pending()
    if processes <= 1:
        yield from map(job.convert, pending)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(job.convert, pending)


def main() -> int:
    """Runs the command ``python -m icecore.jobs``."""
    parser = arguments("Tables of blobs to typed Parquet, on this machine.")
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    job = plan_from_arguments(args)
    for done in run(job, args.processes):
        print(f"{done.unit}: {done.rows} rows, {done.bad} bad", file=sys.stderr)
    print(summary(job))
    return 0


if __name__ == "__main__":
    sys.exit(main())
