"""Columns of blobs in Spark, by Arrow.

>>> import icecore.spark
>>> icecore.spark.decode(df, "data", schema="id int64, tags list<utf8>")    # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from ._kept import BESIDE
from ._paths import texts_on_path
from .arrow import decode as decode_arrow
from .arrow import decoder, infer, schema_of

__all__ = ["decode", "register"]


def decode(
    df: DataFrame,
    column: str = "data",
    schema: Any = None,
    *,
    into: str | None = None,
    format: str | None = None,
    on_error: str = "raise",
    sample: int = 1000,
) -> DataFrame:
    """The frame with the blobs of ``column`` decoded: its fields instead of the column, or with ``into`` a
    struct of that name next to it. With ``on_error="keep"`` columns ``data_error`` and ``data_kept`` have what is wrong
    with a bad row, and its blob. Without a schema it is learned from the first ``sample`` rows. The blobs go
    through ``mapInArrow``, a batch of Arrow at a time."""
    if schema is None:
        rows = [bytes(row[0]) if row[0] is not None else None for row in df.select(column).head(sample)]
        schema = infer(pa.array(rows, pa.large_binary()), format)
    wanted = _spark_arrow(_type_of(schema))
    kept = [field for field in df.schema.fields if into is not None or field.name != column]
    made = StructType([_spark_field(part) for part in _parts(wanted)])
    added = made.fields if into is None else [StructField(into, made)]
    if on_error == "keep":
        added = [*added, *(_spark_field(part.with_name(f"{column}_{part.name}")) for part in BESIDE)]
    names = [field.name for field in kept]
    result = StructType(kept + added)
    # Functions are sent to the workers as separate text: only plain values can be captured.
    arrow_schema = to_arrow_schema(result)
    plan = (column, names, into, wanted, format, on_error)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _batches(batches, plan, arrow_schema)

    return df.mapInArrow(run, result)


def _batches(batches: Iterator[pa.RecordBatch], plan: tuple[Any, ...], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    column, names, into, wanted, format, on_error = plan
    made = decoder(wanted, format, on_error)
    for batch in batches:
        decoded = made.decode(batch.column(column))
        rows = pa.array(decoded.column)
        parts = [rows] if into is not None else rows.flatten()
        if on_error == "keep":
            parts += [pa.array(decoded.texts), pa.array(decoded.kept)]
        arrays = [batch.column(name) for name in names] + parts
        yield pa.RecordBatch.from_arrays(
            [_cast(array, field.type) for array, field in zip(arrays, schema)], schema.names
        )


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    return array if array.type == kind else array.cast(kind)


def register(spark: SparkSession, *, format: str | None = None) -> None:
    """Gives SQL the functions ``icecore_json(blob)`` and ``icecore_get(blob, path)``: JSON, and what is on a path.
    Bad blobs are NULL."""
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    def whole(blobs: Any) -> Any:
        return _strings(blobs, "json", format)

    def on_path(blobs: Any, paths: Any) -> Any:
        results = pd.Series([None] * len(blobs), index=blobs.index, dtype=object)
        for path in paths.dropna().unique():
            rows = paths == path
            results[rows] = _on_path(blobs[rows], path, format)
        return results

    # Spark reads the kind of a function from its type annotations, which must not be strings.
    whole.__annotations__ = {"blobs": pd.Series, "return": pd.Series}
    on_path.__annotations__ = {"blobs": pd.Series, "paths": pd.Series, "return": pd.Series}
    spark.udf.register("icecore_json", pandas_udf(whole, "string"))
    spark.udf.register("icecore_get", pandas_udf(on_path, "string"))


def _array(blobs: Any) -> pa.Array:
    return pa.array([None if blob is None else bytes(blob) for blob in blobs], pa.large_binary())


def _strings(blobs: Any, schema: Any, format: str | None) -> Any:
    import pandas as pd

    return pd.Series(
        decode_arrow(_array(blobs), schema, "null", format=format).to_pylist(), index=blobs.index, dtype=object
    )


def _on_path(blobs: Any, path: str, format: str | None) -> Any:
    import pandas as pd

    return pd.Series(texts_on_path(_array(blobs), path, "null", format).to_pylist(), index=blobs.index, dtype=object)


def _type_of(schema: Any) -> pa.DataType:
    if isinstance(schema, StructType):
        return pa.struct(list(to_arrow_schema(schema)))
    return pa.field(schema_of(schema)).type


def _parts(kind: pa.DataType) -> list[pa.Field]:
    if not pa.types.is_struct(kind):
        raise TypeError('the schema of a frame has fields: "id int64, name utf8"')
    return [kind.field(at) for at in range(kind.num_fields)]


def _spark_arrow(kind: pa.DataType) -> pa.DataType:
    """The type with what Spark has: no unsigned integers, times in microseconds."""
    if pa.types.is_struct(kind):
        return pa.struct([part.with_type(_spark_arrow(part.type)) for part in _parts(kind)])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(kind.value_field.with_type(_spark_arrow(kind.value_type)))
    wider = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "uint64": pa.decimal128(20, 0)}
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    return wider.get(str(kind), kind)


def _spark_field(part: pa.Field) -> StructField:
    return StructField(part.name, from_arrow_type(part.type), True)
