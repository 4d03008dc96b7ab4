"""Converts columns of blobs to columns of Arrow and back, by the PyCapsule interface.

>>> import icecore.arrow
>>> import pyarrow as pa
>>> column = pa.array([b'a:1:{s:2:"id";i:7;}', None])
>>> icecore.arrow.decode(column, "id int64").to_pylist()
[{'id': 7}, None]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypedDict

from ._errors import ExtraWarning
from ._icecore import Chunks, Column, Decoder, Type, learn
from ._icecore import encode as encode_column

__all__ = [
    "Chunks",
    "Column",
    "Decoder",
    "Kept",
    "Options",
    "Type",
    "decode",
    "decoder",
    "encode",
    "infer",
    "schema_of",
]


def schema_of(schema: Any) -> Type:
    """Returns the type for a schema.

    A schema is text (``"id int64, tags list<utf8>"``), a dict of names and types, a list of one type, a schema or type
    of pyarrow, polars or nanoarrow, or any object that has ``__arrow_c_schema__``.
    """
    if isinstance(schema, Type):
        return schema
    if isinstance(schema, Mapping):
        return Type.structure([(name, schema_of(field_schema)) for name, field_schema in schema.items()])
    if isinstance(schema, list) and len(schema) == 1:
        return Type.list(schema_of(schema[0]))
    polars = sys.modules.get("polars")
    if polars is not None and _is_polars_type(polars, schema):
        return Type(polars.Series("", [], dtype=schema))
    if isinstance(schema, type) and schema in _PYTHON_TYPES:
        return Type(_PYTHON_TYPES[schema])
    return Type(schema)


_PYTHON_TYPES = {int: "int64", float: "float64", str: "utf8", bytes: "binary", bool: "bool"}


def _is_polars_type(polars: Any, schema: Any) -> bool:
    return isinstance(schema, polars.DataType) or (isinstance(schema, type) and issubclass(schema, polars.DataType))


def infer(column: Any, format: str | None = None, *, limits: dict[str, int] | None = None) -> Type:
    """Learns the type that fits the blobs of a column. ``str`` of the result is the schema as text."""
    return learn(column, format, limits)


def decoder(
    schema: Any,
    format: str | None = None,
    on_error: str = "raise",
    limits: dict[str, int] | None = None,
    threads: int | None = None,
) -> Decoder:
    """Returns a decoder for several columns, which reuses memory from column to column."""
    return Decoder(schema_of(schema), format, on_error, limits, threads)


class Options(TypedDict, total=False):
    """The keyword arguments of the ``decode`` functions of all libraries."""

    on_error: str
    format: str | None
    errors: list[tuple[int, Any]] | None
    limits: dict[str, int] | None
    threads: int | None


class Kept(NamedTuple):
    """The result for ``on_error="keep"``: columns of the same length, of the same library as the input."""

    #: The decoded rows; bad rows are null.
    column: Any
    #: The error messages of bad rows; null for all other rows.
    errors: Any
    #: The blobs of bad rows; null for all other rows.
    kept: Any
    #: Number of rows that have entries without a field, and the number of the first such row; or None.
    extra: tuple[int, int] | None


def decode(
    column: Any,
    schema: Any = None,
    on_error: str = "raise",
    *,
    format: str | None = None,
    errors: list[tuple[int, Any]] | None = None,
    limits: dict[str, int] | None = None,
    threads: int | None = None,
) -> Any:
    """Decodes the blobs of ``column``, mostly to structs.

    ``column`` is of any library that has Arrow arrays or streams of them: pyarrow, polars, pandas, nanoarrow, DuckDB.
    Without ``schema`` the type is learned from the blobs. Without ``format`` the format of each blob is detected. With
    ``on_error="null"`` bad rows are null, and the list ``errors`` gets the number and the error of each. With
    ``on_error="keep"`` the result is a ``Kept``: the column, a column of errors and a column of the blobs of bad rows.
    Long columns are decoded by ``threads`` threads; the default is the number of processors.

    The result is of the same library as the column: an array of pyarrow, a Series of polars or pandas. For other
    libraries it has ``__arrow_c_array__``, or ``__arrow_c_stream__`` if the column has chunks. For a stream without a
    length, such as a ``pyarrow.RecordBatchReader`` of one column, the result is a stream: each batch is decoded when it
    is requested, so memory is needed only for one batch. Such a stream needs a schema, because it can be read only
    once, and bad rows can't be kept.

    Entries without a field are left out. If the schema was learned from a sample (``infer``), there is an
    ``icecore.ExtraWarning`` about them. If the schema was given, leaving them out may be intended, so they are only
    counted in ``Kept.extra``.
    """
    to_library, column = _own_library(column)
    is_stream = not hasattr(column, "__arrow_c_array__") and not hasattr(column, "__len__")
    if schema is None and is_stream:
        raise TypeError("a stream can be read once, so its type is not learned here: give a schema")
    target_type = learn(column, format, limits) if schema is None else schema_of(schema)
    column_decoder = Decoder(target_type, format, on_error, limits, threads)
    if is_stream:
        if on_error == "keep":
            raise TypeError("a stream has no place for bad blobs: on_error is raise or null there")
        return _decode_stream(column, column_decoder)
    is_array = hasattr(column, "__arrow_c_array__")
    decoded = column_decoder.decode(column) if is_array else column_decoder.decode_chunks(column)
    if errors is not None:
        errors.extend(decoded.errors)
    if target_type.learned and decoded.extra is not None:
        _warn_of_extra_entries(decoded.extra)
    if on_error == "keep":
        return Kept(to_library(decoded.column), to_library(decoded.texts), to_library(decoded.kept), decoded.extra)
    return to_library(decoded.column)


def _decode_stream(stream: Any, column_decoder: Decoder) -> Any:
    """Returns a stream of decoded arrays. For a reader of pyarrow the result is a reader of batches with one column:
    rows may be null, but a batch can't have null rows, so the structs can't be the batches themselves."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not isinstance(stream, pyarrow.RecordBatchReader) or len(stream.schema) != 1:
        return column_decoder.stream(stream)
    schema = pyarrow.schema({stream.schema.names[0]: pyarrow.field(column_decoder).type})

    def batches() -> Iterator[Any]:
        for batch in stream:
            yield pyarrow.record_batch([pyarrow.array(column_decoder.decode(batch.column(0)).column)], schema)

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def _warn_of_extra_entries(extra: tuple[int, int]) -> None:
    """Warns of entries without a field; ``extra`` is as in ``Kept``."""
    count, first = extra
    rows = "1 row has entries" if count == 1 else f"{count} rows have entries"
    text = f"{rows} that no field of the learned type has, the first is row {first}: a field `rest` takes them"
    warnings.warn(text, ExtraWarning, stacklevel=3)


def encode(
    column: Any,
    format: str = "php",
    on_error: str = "raise",
    *,
    errors: list[tuple[int, Any]] | None = None,
    losses: Any = None,
    limits: dict[str, int] | None = None,
) -> Any:
    """Encodes the values of ``column`` as blobs: the opposite of ``decode``. Values that the format can't express are
    losses, as for ``icecore.dumps``."""
    to_library, column = _own_library(column)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(column, polars.Series):
        # Polars has string views. The oldest level makes it export plain arrays.
        column = column.to_arrow(compat_level=polars.CompatLevel.oldest())
    encoded, bad = encode_column(column, format, on_error, losses, limits)
    if errors is not None:
        errors.extend(bad)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(column, pyarrow.Array) and to_library is pyarrow.array:
        return pyarrow.chunked_array(encoded).combine_chunks()
    return to_library(encoded)


def _own_library(column: Any) -> tuple[Any, Any]:
    """Returns a function that converts a result to the library of the column, and the column as Arrow."""
    module = type(column).__module__.partition(".")[0]
    library = sys.modules.get(module)
    if module == "pyarrow" and library is not None:
        is_chunked = isinstance(column, library.ChunkedArray)
        return (library.chunked_array if is_chunked else library.array), column
    if module == "polars" and library is not None:
        return (lambda result: library.Series(result).alias(column.name)), column
    if module == "pandas" and library is not None:
        from .pandas import own_library

        return own_library(column)
    if isinstance(column, (list, tuple)):
        import pyarrow

        return pyarrow.array, pyarrow.array(column, pyarrow.large_binary())
    return (lambda result: result), column
