"""Columns of blobs to columns of Arrow, by the PyCapsule interface.

>>> import icecore.arrow
>>> import pyarrow as pa
>>> column = pa.array([b'a:1:{s:2:"id";i:7;}', None])
>>> icecore.arrow.decode(column, "id int64").to_pylist()
[{'id': 7}, None]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ._icecore import Chunks, Column, Decoder, Type, learn
from ._icecore import encode as encoded

__all__ = ["Chunks", "Column", "Decoder", "Type", "decode", "decoder", "encode", "infer", "schema_of"]


def schema_of(schema: Any) -> Type:
    """The type that a schema says: text (``"id int64, tags list<utf8>"``), a dict of names and types, a list of one
    type, a schema or type of pyarrow, polars or nanoarrow, or anything that has ``__arrow_c_schema__``."""
    if isinstance(schema, Type):
        return schema
    if isinstance(schema, Mapping):
        return Type.structure([(name, schema_of(part)) for name, part in schema.items()])
    if isinstance(schema, list) and len(schema) == 1:
        return Type.list(schema_of(schema[0]))
    polars = sys.modules.get("polars")
    if polars is not None and _is_polars_type(polars, schema):
        return Type(polars.Series("", [], dtype=schema))
    if isinstance(schema, type) and schema in _PLAIN:
        return Type(_PLAIN[schema])
    return Type(schema)


_PLAIN = {int: "int64", float: "float64", str: "utf8", bytes: "binary", bool: "bool"}


def _is_polars_type(polars: Any, schema: Any) -> bool:
    return isinstance(schema, polars.DataType) or (isinstance(schema, type) and issubclass(schema, polars.DataType))


def infer(column: Any, format: str | None = None, *, limits: dict[str, int] | None = None) -> Type:
    """The type that fits the blobs of a column: ``str`` of it is its text."""
    return learn(column, format, limits)


def decoder(
    schema: Any,
    format: str | None = None,
    on_error: str = "raise",
    limits: dict[str, int] | None = None,
    threads: int | None = None,
) -> Decoder:
    """What decodes columns, one after the other, with the memory of those before."""
    return Decoder(schema_of(schema), format, on_error, limits, threads)


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
    """The column of what the blobs of ``column`` say, mostly one of structs.

    ``column`` is of any library that has Arrow arrays or streams of them: pyarrow, polars, pandas, nanoarrow, DuckDB.
    Without ``schema`` it is learned from the blobs, without ``format`` each blob is looked at. With
    ``on_error="null"`` bad rows are null, and ``errors`` gets the number and the error of each. Long columns are decoded
    by as many ``threads`` as there are processors, if no number is given.

    The result is of the library that the column is of: an array of pyarrow, a Series of polars or pandas. Else it has
    ``__arrow_c_array__``, or ``__arrow_c_stream__`` if the column has chunks.
    """
    back, column = _home(column)
    wanted = learn(column, format, limits) if schema is None else schema_of(schema)
    made = Decoder(wanted, format, on_error, limits, threads)
    if not hasattr(column, "__arrow_c_array__") and not hasattr(column, "__len__"):
        return made.stream(column)
    one = hasattr(column, "__arrow_c_array__")
    decoded, bad = made.decode(column) if one else made.decode_chunks(column)
    if errors is not None:
        errors.extend(bad)
    return back(decoded)


def encode(
    column: Any,
    format: str = "php",
    on_error: str = "raise",
    *,
    errors: list[tuple[int, Any]] | None = None,
    losses: Any = None,
    limits: dict[str, int] | None = None,
) -> Any:
    """The column of blobs for the values of ``column``: the way back. What the format can't say is a loss, as for
    ``icecore.dumps``. Values that are views of others (strings of polars) are asked for as plain arrays."""
    back, column = _home(column)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(column, polars.Series):
        column = column.to_arrow(compat_level=polars.CompatLevel.oldest())
    made, bad = encoded(column, format, on_error, losses, limits)
    if errors is not None:
        errors.extend(bad)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(column, pyarrow.Array) and back is pyarrow.array:
        return pyarrow.chunked_array(made).combine_chunks()
    return back(made)


def _home(column: Any) -> tuple[Any, Any]:
    """What makes a result of the column's own library, and what has the column as Arrow."""
    module = type(column).__module__.partition(".")[0]
    library = sys.modules.get(module)
    if module == "pyarrow" and library is not None:
        is_chunked = isinstance(column, library.ChunkedArray)
        return (library.chunked_array if is_chunked else library.array), column
    if module == "polars" and library is not None:
        return (lambda made: library.Series(made).alias(column.name)), column
    if module == "pandas" and library is not None:
        from .pandas import home

        return home(column)
    if isinstance(column, (list, tuple)):
        import pyarrow

        return pyarrow.array, pyarrow.array(column, pyarrow.large_binary())
    return (lambda made: made), column
