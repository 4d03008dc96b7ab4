"""Functions for DuckDB: ``icecore_json(blob)``, ``icecore_get(blob, path)``, ``icecore_struct(blob, schema)``.

>>> import duckdb
>>> import icecore.duckdb
>>> connection = duckdb.connect()
>>> icecore.duckdb.register(connection)
>>> connection.sql("select icecore_get('a:1:{s:1:\\"a\\";i:7;}'::blob, '$.a')").fetchall()
[('7',)]
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from ._bad_rows import rows_with_bad_rows, type_with_bad_rows
from ._paths import combine_chunks, texts_on_path
from .arrow import Type, schema_of
from .arrow import decode as decode_arrow

__all__ = ["register", "register_struct"]


def register(connection: duckdb.DuckDBPyConnection, *, format: str | None = None, on_error: str = "null") -> None:
    """Registers the functions with a connection. A blob may be a BLOB, or a VARCHAR whose UTF-8 is the frozen data.

    ``icecore_json(blob)`` is the value as JSON. ``icecore_get(blob, path)`` is the value on a path
    (``$.staff[3].name``): text unchanged, all other values as JSON. ``icecore_struct(blob, schema)`` is a struct; the
    schema is a constant text (``'id int64, tags list<utf8>'``).

    Without ``format`` the format of each blob is detected. Bad blobs are NULL; with ``on_error="raise"`` they stop the
    query.
    """

    def as_json(blobs: pa.Array) -> pa.Array:
        return combine_chunks(decode_arrow(blobs, "json", on_error, format=format))

    def value_on_path(blobs: pa.Array, path: str) -> pa.Array:
        return texts_on_path(blobs, path, on_error, format)

    def fields_as_json(blobs: pa.Array, schema: str) -> pa.Array:
        decoded = combine_chunks(decode_arrow(blobs, schema, on_error, format=format))
        rows = decoded.to_pylist()
        if "map<" in str(decoded.type):
            rows = [_with_maps(row, decoded.type) for row in rows]
        return pa.array([None if row is None else json.dumps(row, default=_to_text) for row in rows], pa.string())

    _create(connection, "icecore_json", as_json)
    _create(connection, "icecore_get", _for_each_text(value_on_path), "path")
    _create(connection, "icecore_fields", _for_each_text(fields_as_json), "schema")
    _create_function(connection, "_icecore_structure", _structures, ["VARCHAR"])
    # The CASE makes DuckDB bind the function with the arguments of the call. Without it, the function
    # would be bound when the macro is created.
    connection.execute(
        "create or replace temp macro icecore_struct(data, schema) as from_json("
        "case when schema is null then null else icecore_fields(data, schema) end, _icecore_structure(schema))"
    )


def register_struct(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    schema: Any,
    *,
    format: str | None = None,
    on_error: str = "null",
) -> None:
    """Registers the function ``name(blob)``, whose result is a struct with this schema.

    Columns are passed by Arrow, not by JSON, so this is the fastest function for a fixed schema. With
    ``on_error="keep"`` the result is a struct of ``value``, ``error`` and ``kept``, the blob of a bad row.
    """
    target_type = schema_of(schema)
    kind = _arrow_type(target_type)
    if on_error == "keep":
        kind = type_with_bad_rows(kind)

    def run(blobs: pa.Array) -> pa.Array:
        return rows_with_bad_rows(decode_arrow(combine_chunks(blobs), target_type, on_error, format=format))

    _create(connection, name, run, result=_duckdb_type(kind))


def _create(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    function: Callable[..., pa.Array],
    text: str | None = None,
    result: str = "VARCHAR",
) -> None:
    """Registers a function of frozen data. ``text`` is the name of its second parameter, a text, if it has one."""
    inner = _quoted(f"_{name}")
    _create_function(connection, f"_{name}", function, ["BLOB", "VARCHAR"] if text else ["BLOB"], result)
    _remove_function(connection, name)
    parameter = f", {text}" if text else ""
    macro = f"create or replace temp macro {_quoted(name)}"
    as_blob = f"(data blob{parameter}) as {inner}(data{parameter})"
    as_text = f"(data varchar{parameter}) as {inner}(encode(data){parameter})"
    try:
        connection.execute(f"{macro}{as_blob}, {as_text}")
    except duckdb.ParserException:
        # Before DuckDB 1.4, parameters of macros don't have types, so only one variant is possible: the
        # function takes a BLOB.
        connection.execute(f"{macro}(data{parameter}) as {inner}(data{parameter})")


def _create_function(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    function: Callable[..., pa.Array],
    parameters: list[str],
    result: str = "VARCHAR",
) -> None:
    _remove_function(connection, name)
    connection.create_function(name, function, parameters, result, type="arrow", null_handling="special")


def _remove_function(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    try:
        connection.remove_function(name)
    except duckdb.Error:
        pass


def _for_each_text(run: Callable[[pa.Array, str], pa.Array]) -> Callable[[pa.Array, pa.Array], pa.Array]:
    """Returns a function of blobs and texts; it calls ``run`` once for each distinct text, with its blobs."""

    def call(blobs: pa.Array, texts: pa.Array) -> pa.Array:
        blobs, texts = combine_chunks(blobs), combine_chunks(texts)
        distinct = pc.unique(texts).to_pylist()
        if len(distinct) == 1 and distinct[0] is not None:
            return run(blobs, distinct[0])
        results: list[str | None] = [None] * len(blobs)
        for text in distinct:
            if text is None:
                continue
            rows = pc.indices_nonzero(pc.fill_null(pc.equal(texts, text), False))
            for row, value in zip(rows.to_pylist(), run(blobs.take(rows), text).to_pylist()):
                results[row] = value
        return pa.array(results, pa.string())

    return call


def _to_text(value: Any) -> str:
    """Returns the text from which DuckDB parses a value: bytes with escapes, times and decimals as text."""
    if isinstance(value, bytes):
        return "".join(f"\\x{byte:02X}" for byte in value)
    return str(value)


def _with_maps(value: Any, kind: pa.DataType) -> Any:
    """Returns a value with its maps as dicts. For pyarrow maps are lists of pairs, which DuckDB would read as NULL."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        fields = (kind.field(index) for index in range(kind.num_fields))
        return {field.name: _with_maps(value[field.name], field.type) for field in fields}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_with_maps(item, kind.value_type) for item in value]
    if pa.types.is_map(kind):
        return {str(key): _with_maps(item, kind.item_type) for key, item in value}
    return value


def _arrow_type(schema: Type) -> pa.DataType:
    return pa.field(schema).type


def _structures(schemas: pa.Array) -> pa.Array:
    """Returns the structure argument of ``from_json`` for each schema."""
    texts = combine_chunks(schemas).to_pylist()
    structures = {text: json.dumps(_structure(_arrow_type(schema_of(text)))) for text in set(texts) if text is not None}
    return pa.array([structures.get(text) for text in texts], pa.string())


def _structure(kind: pa.DataType) -> Any:
    if pa.types.is_struct(kind):
        return {kind.field(index).name: _structure(kind.field(index).type) for index in range(kind.num_fields)}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_structure(kind.value_type)]
    return _duckdb_type(kind)


def _duckdb_type(kind: pa.DataType) -> str:
    """Returns the name of a type in DuckDB."""
    if pa.types.is_struct(kind):
        fields = (kind.field(index) for index in range(kind.num_fields))
        return f"STRUCT({', '.join(f'{_quoted(field.name)} {_duckdb_type(field.type)}' for field in fields)})"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{_duckdb_type(kind.value_type)}[]"
    if pa.types.is_map(kind):
        return f"MAP({_duckdb_type(kind.key_type)}, {_duckdb_type(kind.item_type)})"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return (
            "TIMESTAMPTZ"
            if kind.tz
            else {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "ns": "TIMESTAMP_NS"}.get(kind.unit, "TIMESTAMP")
        )
    return _DUCKDB_NAMES.get(str(kind), "VARCHAR")


_DUCKDB_NAMES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "binary": "BLOB",
    "large_binary": "BLOB",
    "date32[day]": "DATE",
}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
