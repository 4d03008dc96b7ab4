"""Columns of decoded rows together with the errors and the blobs of bad rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ._paths import combine_chunks
from .arrow import Kept

#: Fields in addition to the decoded value: the error of a bad row, and its blob.
BAD_ROW_FIELDS = [pa.field("error", pa.string()), pa.field("kept", pa.large_binary())]


def type_with_bad_rows(kind: pa.DataType) -> pa.DataType:
    """Returns the type of a column with the errors and blobs of bad rows; ``kind`` is the type of a value."""
    return pa.struct([pa.field("value", kind), *BAD_ROW_FIELDS])


def rows_with_bad_rows(decoded: Any) -> pa.Array:
    """Returns the decoded column. A ``Kept`` becomes a column of structs with the errors and blobs of bad rows."""
    if not isinstance(decoded, Kept):
        return combine_chunks(decoded)
    columns = [combine_chunks(column) for column in (decoded.column, decoded.errors, decoded.kept)]
    return pa.StructArray.from_arrays(columns, ["value", "error", "kept"])
