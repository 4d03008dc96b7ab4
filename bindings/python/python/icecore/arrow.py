"""Columns of blobs to columns of Arrow, by the PyCapsule interface.

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
from ._icecore import encode as encoded

__all__ = ["Chunks", "Column", "Decoder", "Kept", "Options", "Type", "decode", "decoder", "encode", "infer", "schema_of"]


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


class Options(TypedDict, total=False):
    """What ``decode`` of every library takes besides the column and the schema."""

    on_error: str
    format: str | None
    errors: list[tuple[int, Any]] | None
    limits: dict[str, int] | None
    threads: int | None


class Kept(NamedTuple):
    """What ``on_error="keep"`` gives: columns of the same length, of the library that the column is of."""

    #: The rows; null where one is bad.
    column: Any
    #: The errors of bad rows; null for all others.
    errors: Any
    #: The blobs of bad rows; null for all others.
    kept: Any
    #: How many rows have entries without a field, and the number of the first; None if there are none.
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
    """The column of what the blobs of ``column`` say, mostly one of structs.

    ``column`` is of any library that has Arrow arrays or streams of them: pyarrow, polars, pandas, nanoarrow, DuckDB.
    Without ``schema`` it is learned from the blobs, without ``format`` each blob is looked at. With
    ``on_error="null"`` bad rows are null, and ``errors`` gets the number and the error of each. With
    ``on_error="keep"`` the result is a ``Kept``: the column, one of errors and one of the blobs of bad rows.
    Long columns are decoded by as many ``threads`` as there are processors, if no number is given.

    The result is of the library that the column is of: an array of pyarrow, a Series of polars or pandas. Else it has
    ``__arrow_c_array__``, or ``__arrow_c_stream__`` if the column has chunks. A stream without a length, such as a
    ``pyarrow.RecordBatchReader`` of one column, gives a stream: each batch is decoded when it is asked for, so the
    memory is that of a batch. It needs a schema, as it can be read once, and bad rows can't be kept.

    Entries that no field has are left out. If the schema was learned from a sample (``infer``), an
    ``icecore.ExtraWarning`` tells of them; one that was written down may be meant to take only a part, and ``Kept.extra``
    counts them.
    """
    back, column = _home(column)
    is_stream = not hasattr(column, "__arrow_c_array__") and not hasattr(column, "__len__")
    if schema is None and is_stream:
        raise TypeError("a stream can be read once, so its type is not learned here: give a schema")
    wanted = learn(column, format, limits) if schema is None else schema_of(schema)
    made = Decoder(wanted, format, on_error, limits, threads)
    if is_stream:
        if on_error == "keep":
            raise TypeError("a stream has no place for bad blobs: on_error is raise or null there")
        return _streamed(column, made)
    decoded = made.decode(column) if hasattr(column, "__arrow_c_array__") else made.decode_chunks(column)
    if errors is not None:
        errors.extend(decoded.errors)
    if wanted.learned and decoded.extra is not None:
        extra(decoded.extra)
    if on_error == "keep":
        return Kept(back(decoded.column), back(decoded.texts), back(decoded.kept), decoded.extra)
    return back(decoded.column)


def _streamed(given: Any, made: Decoder) -> Any:
    """A stream for a stream. A reader of pyarrow gives a reader of the same column, decoded: a batch has no null rows,
    so the rows can't be the batch itself."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not isinstance(given, pyarrow.RecordBatchReader) or len(given.schema) != 1:
        return made.stream(given)
    schema = pyarrow.schema({given.schema.names[0]: pyarrow.field(made).type})

    def batches() -> Iterator[Any]:
        for batch in given:
            yield pyarrow.record_batch([pyarrow.array(made.decode(batch.column(0)).column)], schema)

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def extra(found: tuple[int, int]) -> None:
    """Warns of entries that no field has."""
    count, first = found
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
