"""Spark and Ray: only where they are installed, which `scripts/python.sh test-all` does."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import icecore
import pytest

ROWS = [{"id": 7, "tags": ["a"]}, None, {"id": 8, "tags": []}]
BLOBS = [None if row is None else icecore.dumps(row, "php") for row in ROWS]
SCHEMA = "id int64, tags list<utf8>"


def test_spark_decodes_columns_and_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="SKIPPED: pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("SKIPPED: Spark needs java")
    import icecore.spark

    # The workers need what this process has.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = spark.createDataFrame([(1, blob) for blob in BLOBS], "n int, data binary")
        decoded = icecore.spark.decode(frame, "data", schema=SCHEMA)
        assert decoded.columns == ["n", "id", "tags"]
        assert [row.asDict() for row in decoded.collect()] == [
            {"n": 1, "id": 7, "tags": ["a"]},
            {"n": 1, "id": None, "tags": None},
            {"n": 1, "id": 8, "tags": []},
        ]
        with_struct = icecore.spark.decode(frame, "data", into="value")
        assert with_struct.columns == ["n", "data", "value"] and with_struct.collect()[0].value.id == 7
        bad = spark.createDataFrame([(1, BLOBS[0]), (2, b"a:1:{")], "n int, data binary")
        kept = icecore.spark.decode(bad, "data", schema=SCHEMA, format="php", on_error="keep")
        assert kept.columns == ["n", "id", "tags", "data_error", "data_kept"]
        first, second = kept.orderBy("n").collect()
        assert (first.id, first.data_error, first.data_kept) == (7, None, None)
        assert (second.id, bytes(second.data_kept)) == (None, b"a:1:{") and "ends too early" in second.data_error
        icecore.spark.register(spark)
        frame.createOrReplaceTempView("blobs")
        texts = spark.sql("select icecore_json(data), icecore_get(data, '$.tags[0]') from blobs").collect()
        assert [tuple(row) for row in texts] == [
            ('{"id":7,"tags":["a"]}', "a"),
            (None, None),
            ('{"id":8,"tags":[]}', None),
        ]
    finally:
        spark.stop()


def test_ray_decodes_columns() -> None:
    ray = pytest.importorskip("ray", reason="SKIPPED: ray is not installed")
    pytest.importorskip("ray.data", reason="SKIPPED: ray[data] is not installed")
    import icecore.ray
    import pyarrow as pa

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        dataset: Any = ray.data.from_arrow(pa.table({"n": [1, 2, 3], "data": pa.array(BLOBS, pa.binary())}))
        rows = icecore.ray.decode(dataset, "data", schema=SCHEMA).sort("n").take_all()
        assert [(row["n"], row["id"]) for row in rows] == [(1, 7), (2, None), (3, 8)]
        bad: Any = ray.data.from_arrow(pa.table({"n": [1, 2], "data": pa.array([BLOBS[0], b"a:1:{"], pa.binary())}))
        kept = icecore.ray.decode(bad, "data", SCHEMA, format="php", on_error="keep").sort("n").take_all()
        assert [(row["id"], row["data_kept"]) for row in kept] == [(7, None), (None, b"a:1:{")]
    finally:
        ray.shutdown()
