#!/usr/bin/env -S python3 -I
# variants: icecore phpserialize
# scenarios: columns
"""A Spark job over a table of PHP's blobs, to nowhere: with Icecore, and with phpserialize in the same place."""
import os
import sys

sys.path.append(os.environ["LAB_LIB"])
import columns
import lab

pyspark = lab.needs("pyspark")
pyarrow = lab.needs("pyarrow")
icecore = lab.needs("icecore")
variant = os.environ["LAB_VARIANT"]
lab.needs(variant)
lab.needs("icecore.spark", "icecore")
from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable
session = []


def spark():
    """Started with the data, as the lab asks for a name long before."""
    if not session:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.log.level", "ERROR").config("spark.sql.shuffle.partitions", "2")
        session.append(builder.getOrCreate())
    return session[0]


def parsed(batches):
    import phpserialize

    for batch in batches:
        rows = [phpserialize.loads(blob, decode_strings=True) for blob in batch.column(0).to_pylist()]
        yield pyarrow.RecordBatch.from_pylist(rows, schema=ARROW)


ARROW = pyarrow.schema([("id", pyarrow.int64()), ("name", pyarrow.string()), ("score", pyarrow.float64())])


def prepare(rows):
    import pyarrow.parquet

    blobs = pyarrow.array(columns.blobs(icecore, rows, "php"), pyarrow.binary())
    # Two files, one for each of the two workers.
    os.makedirs("blobs", exist_ok=True)
    half = len(blobs) // 2
    pyarrow.parquet.write_table(pyarrow.table({"data": blobs[:half]}), "blobs/0.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"data": blobs[half:]}), "blobs/1.parquet")
    frame = spark().read.parquet(os.path.abspath("blobs"))
    if variant == "icecore":
        return icecore.spark.decode(frame, "data", columns.SCHEMA, format="php"), blobs
    return frame.mapInArrow(parsed, "id long, name string, score double"), blobs


def read(sample):
    sample[0].write.format("noop").mode("overwrite").save()
    return sample[0]


lab.run(
    f"Spark, {variant}: php",
    pyspark.__version__,
    prepare=prepare,
    read=read,
    seen=lambda frame: [row.asDict() for row in frame.orderBy("id").collect()],
    octets=lambda sample: columns.joined(sample[1].to_pylist()),
)
