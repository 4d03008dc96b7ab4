"""What is on a path of each blob."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from .arrow import decode as decode_arrow


def flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def texts_on_path(blobs: pa.Array, path: str, on_error: str, format: str | None) -> pa.Array:
    """The values on a path: text as it is, anything else as JSON."""
    field = pa.field("value", pa.string(), metadata={"icecore": "json", "icecore.path": path})
    rows = flat(decode_arrow(blobs, pa.struct([field]), on_error, format=format))
    return pa.array([_text(text) for text in pc.struct_field(rows, [0]).to_pylist()], pa.string())


def _text(value: str | None) -> str | None:
    return json.loads(value) if value is not None and value.startswith('"') else value
