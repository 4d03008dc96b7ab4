"""Values on a path in each blob of a column."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from .arrow import decode as decode_arrow


def combine_chunks(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Returns the column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def texts_on_path(blobs: pa.Array, path: str, on_error: str, format: str | None) -> pa.Array:
    """Returns the values on a path: text unchanged, all other values as JSON."""
    field = pa.field("value", pa.string(), metadata={"icecore": "json", "icecore.path": path})
    rows = combine_chunks(decode_arrow(blobs, pa.struct([field]), on_error, format=format))
    return pa.array([_unquote(value) for value in pc.struct_field(rows, [0]).to_pylist()], pa.string())


def _unquote(value: str | None) -> str | None:
    return json.loads(value) if value is not None and value.startswith('"') else value
