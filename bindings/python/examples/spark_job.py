"""Converts Parquet files with blobs to typed Parquet with Spark. icecore.jobs describes the results and restarts.

    spark-submit --master 'local[2]' spark_job.py IN OUT --column data --format php
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa
from icecore import jobs
from pyspark.sql import SparkSession


def main() -> int:
    args = jobs.arguments("Tables of blobs to typed Parquet, with Spark.").parse_args()
    spark = SparkSession.builder.appName("icecore").getOrCreate()
    job = jobs.plan_from_arguments(args)
    units = job.pending()

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for unit in batch.column(0).to_pylist():
                done = job.convert(unit)
                yield pa.RecordBatch.from_pylist([{"unit": done.unit, "rows": done.rows, "bad": done.bad}])

    if units:
        # One file per task, so that only the file that failed is tried again.
        frame = spark.createDataFrame([(unit,) for unit in units], "unit string").repartition(len(units))
        frame.mapInArrow(work, "unit string, rows bigint, bad bigint").collect()
    spark.stop()
    print(jobs.summary(job))
    return 0


if __name__ == "__main__":
    sys.exit(main())
