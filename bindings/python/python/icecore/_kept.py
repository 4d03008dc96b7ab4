"""Rows with what became of the bad ones, as one column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ._paths import flat
from .arrow import Kept

#: Columns in addition to the rows: the error of a bad row, and its blob.
BESIDE = [pa.field("error", pa.string()), pa.field("kept", pa.large_binary())]


def kept_type(kind: pa.DataType) -> pa.DataType:
    """The type of such a column."""
    return pa.struct([pa.field("value", kind), *BESIDE])


def kept_rows(decoded: Any) -> pa.Array:
    """A column with what became of the bad rows beside, if that was asked for."""
    if not isinstance(decoded, Kept):
        return flat(decoded)
    parts = [flat(part) for part in (decoded.column, decoded.errors, decoded.kept)]
    return pa.StructArray.from_arrays(parts, ["value", "error", "kept"])
