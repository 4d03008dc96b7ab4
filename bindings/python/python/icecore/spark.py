"""Decodes columns of blobs in Spark, by Arrow.

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

from ._bad_rows import BAD_ROW_FIELDS
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
    """Decodes the blobs of ``column``. The fields replace the column; with ``into`` the column stays, and a struct of
    that name is added. With ``on_error="keep"`` the columns ``data_error`` and ``data_kept`` contain the error and the
    blob of each bad row. Without a schema it is learned from the first ``sample`` rows. The blobs are decoded by
    ``mapInArrow``, one Arrow batch at a time."""
    if schema is None:
        rows = [bytes(row[0]) if row[0] is not None else None for row in df.select(column).head(sample)]
        schema = infer(pa.array(rows, pa.large_binary()), format)
    target_type = _spark_compatible(_type_of(schema))
    other_fields = [field for field in df.schema.fields if into is not None or field.name != column]
    decoded_type = StructType([_spark_field(field) for field in _fields_of(target_type)])
    added = decoded_type.fields if into is None else [StructField(into, decoded_type)]
    if on_error == "keep":
        added = [*added, *(_spark_field(field.with_name(f"{column}_{field.name}")) for field in BAD_ROW_FIELDS)]
    names = [field.name for field in other_fields]
    result = StructType(other_fields + added)
    # Spark pickles the function for its workers, so it may capture only plain values.
    arrow_schema = to_arrow_schema(result)
    plan = (column, names, into, target_type, format, on_error)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _decode_batches(batches, plan, arrow_schema)

    return df.mapInArrow(run, result)


def _decode_batches(
    batches: Iterator[pa.RecordBatch], plan: tuple[Any, ...], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    column, names, into, target_type, format, on_error = plan
    batch_decoder = decoder(target_type, format, on_error)
    for batch in batches:
        decoded = batch_decoder.decode(batch.column(column))
        rows = pa.array(decoded.column)
        added = [rows] if into is not None else rows.flatten()
        if on_error == "keep":
            added += [pa.array(decoded.texts), pa.array(decoded.kept)]
        arrays = [batch.column(name) for name in names] + added
        yield pa.RecordBatch.from_arrays(
            [_cast(array, field.type) for array, field in zip(arrays, schema)], schema.names
        )


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    return array if array.type == kind else array.cast(kind)


def register(spark: SparkSession, *, format: str | None = None) -> None:
    """Registers the SQL functions ``icecore_json(blob)``, the value as JSON, and ``icecore_get(blob, path)``, the value
    on a path. Bad blobs are NULL."""
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    def as_json(blobs: Any) -> Any:
        return _decode_to_texts(blobs, "json", format)

    def value_on_path(blobs: Any, paths: Any) -> Any:
        results = pd.Series([None] * len(blobs), index=blobs.index, dtype=object)
        for path in paths.dropna().unique():
            rows = paths == path
            results[rows] = _texts_on_path(blobs[rows], path, format)
        return results

    # Spark reads the kind of a function from its type annotations. They must not be strings.
    as_json.__annotations__ = {"blobs": pd.Series, "return": pd.Series}
    value_on_path.__annotations__ = {"blobs": pd.Series, "paths": pd.Series, "return": pd.Series}
    spark.udf.register("icecore_json", pandas_udf(as_json, "string"))
    spark.udf.register("icecore_get", pandas_udf(value_on_path, "string"))


def _blob_array(blobs: Any) -> pa.Array:
    return pa.array([None if blob is None else bytes(blob) for blob in blobs], pa.large_binary())


def _decode_to_texts(blobs: Any, schema: Any, format: str | None) -> Any:
    import pandas as pd

    return pd.Series(
        decode_arrow(_blob_array(blobs), schema, "null", format=format).to_pylist(), index=blobs.index, dtype=object
    )


def _texts_on_path(blobs: Any, path: str, format: str | None) -> Any:
    import pandas as pd

    texts = texts_on_path(_blob_array(blobs), path, "null", format)
    return pd.Series(texts.to_pylist(), index=blobs.index, dtype=object)


def _type_of(schema: Any) -> pa.DataType:
    if isinstance(schema, StructType):
        return pa.struct(list(to_arrow_schema(schema)))
    return pa.field(schema_of(schema)).type


def _fields_of(kind: pa.DataType) -> list[pa.Field]:
    if not pa.types.is_struct(kind):
        raise TypeError('the schema of a frame has fields: "id int64, name utf8"')
    return [kind.field(index) for index in range(kind.num_fields)]


def _spark_compatible(kind: pa.DataType) -> pa.DataType:
    """Returns the nearest type that Spark supports: no unsigned integers, times in microseconds."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_spark_compatible(field.type)) for field in _fields_of(kind)])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(kind.value_field.with_type(_spark_compatible(kind.value_type)))
    wider = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "uint64": pa.decimal128(20, 0)}
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    return wider.get(str(kind), kind)


def _spark_field(field: pa.Field) -> StructField:
    return StructField(field.name, from_arrow_type(field.type), True)
