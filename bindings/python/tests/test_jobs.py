"""Jobs over folders of tables: their results, also after they were killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import icecore
import pytest

pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="SKIPPED: pyarrow is not installed")

# Spark starts its workers with the first Python in the PATH.
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
EXAMPLES = Path(__file__).parent.parent / "examples"


def _runner(name: str) -> list[str]:
    if name == "processes":
        return [sys.executable, "-m", "icecore.jobs", "--processes", "2"]
    pytest.importorskip({"spark": "pyspark", "ray": "ray"}[name], reason=f"SKIPPED: {name} is not installed")
    if name == "ray":
        return [sys.executable, str(EXAMPLES / "ray_job.py")]
    if shutil.which("java") is None:
        pytest.skip("SKIPPED: Spark needs java")
    return _spark_submit()


def _spark_submit() -> list[str]:
    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    return [str(submit), "--master", "local[2]", "--conf", "spark.ui.enabled=false", str(EXAMPLES / "spark_job.py")]


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def _write_tables(folder: Path, files: int, rows: int) -> tuple[set[int], set[int]]:
    """Writes tables of numbered blobs; returns the numbers of good and of bad ones."""
    rng = random.Random(23)
    good, bad = set(), set()
    number = 0
    for index in range(files):
        numbers, blobs = [], []
        for _ in range(rows):
            blob = icecore.dumps({"id": number, "name": f"n{number}", "tags": ["x"] * (number % 3)}, "php")
            if rng.random() < 0.01:
                blob = blob[:-3]
                bad.add(number)
            else:
                good.add(number)
            numbers.append(number)
            blobs.append(blob)
            number += 1
        path = folder / f"part={index % 3}" / f"{index:05}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"n": numbers, "data": pa.array(blobs, pa.binary())}), path, row_group_size=500)
    return good, bad


def _numbers(folder: Path) -> list[int]:
    return [n for path in folder.rglob("*.parquet") for n in pq.ParquetFile(path).read(["n"])["n"].to_pylist()]


def _check_results(out: Path, good: set[int], bad: set[int]) -> None:
    rows, refused = _numbers(out / "rows"), _numbers(out / "bad")
    assert len(rows) == len(set(rows)) and set(rows) == good
    assert len(refused) == len(set(refused)) and set(refused) == bad
    for path in (out / "rows").rglob("*.parquet"):
        for row in pq.ParquetFile(path).read().to_pylist():
            assert row["data"] == {"id": row["n"], "name": f"n{row['n']}", "tags": ["x"] * (row["n"] % 3)}
    bad_row = pq.ParquetFile(next((out / "bad").rglob("*.parquet"))).read().to_pylist()[0]
    assert "offset" in bad_row["error"] and isinstance(bad_row["data"], bytes) and bad_row["row"] >= 0


@pytest.mark.parametrize("name", ["processes", "spark", "ray"])
def test_a_job_writes_every_row_once(name: str, tmp_path: Path) -> None:
    runner = _runner(name)
    good, bad = _write_tables(tmp_path / "in", 8, 1500)
    command = [*runner, str(tmp_path / "in"), str(tmp_path / "out"), "--format", "php"]
    summary = json.loads(_run(command).splitlines()[-1])
    assert summary == {
        "files": 8,
        "rows": len(good),
        "bad": len(bad),
        "schema": "id int64, name utf8, tags list<utf8>",
    }
    _check_results(tmp_path / "out", good, bad)
    # Nothing is left to do, and a changed file is processed again.
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    changed = tmp_path / "in" / "part=0" / "00000.parquet"
    table = pq.ParquetFile(changed).read()
    pq.write_table(table.slice(0, 0), changed)
    _run(command)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    assert [path.name for path in after if before.get(path) != after[path]] in ([], ["00000.parquet"])
    removed = set(table["n"].to_pylist())
    assert set(_numbers(tmp_path / "out" / "rows")) == good - removed


@pytest.mark.parametrize("name", ["processes", "spark", "ray"])
def test_a_killed_job_continues_in_the_next_run(name: str, tmp_path: Path) -> None:
    runner = _runner(name)
    good, bad = _write_tables(tmp_path / "in", 40 if name == "processes" else 12, 800)
    out = tmp_path / "out"
    command = [*runner, str(tmp_path / "in"), str(out), "--format", "php"]
    kills = 0
    while kills < (6 if name == "processes" else 2):
        job: Any = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        done = len(list((out / "done").rglob("*.json")))
        # It is killed after some more progress, at a random point.
        while job.poll() is None and len(list((out / "done").rglob("*.json"))) < done + 2:
            time.sleep(0.002)
        if job.poll() is not None:
            break
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        kills += 1
    assert kills > 0
    _run(command)
    _check_results(out, good, bad)


def test_a_schema_other_than_that_of_the_earlier_run_is_refused(tmp_path: Path) -> None:
    from icecore import jobs

    _write_tables(tmp_path / "in", 1, 10)
    source, target = str(tmp_path / "in"), str(tmp_path / "out")
    assert jobs.plan(source, target, format="php").schema == "id int64, name utf8, tags list<utf8>"
    with pytest.raises(ValueError, match="was begun with the schema"):
        jobs.plan(source, target, schema="id int32", format="php")
    assert jobs.plan(source, target, schema="id BIGINT, name TEXT, tags TEXT[]", format="php").schema.startswith("id")

