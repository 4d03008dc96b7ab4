"""The accessor ``icecore`` of series of pandas.

>>> import pandas as pd
>>> import icecore.pandas
>>> pd.Series([b'a:1:{s:2:"id";i:7;}']).icecore.decode("id int64")["id"].tolist()
[7]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ._icecore import loads
from .arrow import Kept, Options
from .arrow import decode as decode_arrow

__all__ = ["Decoding"]


def home(column: pd.Series) -> tuple[Callable[[Any], pd.Series], Any]:
    """What makes a series of a column, with the index of this one; and this one as Arrow."""

    def back(made: Any) -> pd.Series:
        array = pa.chunked_array(made) if hasattr(made, "__arrow_c_stream__") else pa.array(made)
        return pd.Series(pd.arrays.ArrowExtensionArray(array), index=column.index, name=column.name)

    if isinstance(column.dtype, pd.ArrowDtype):
        return back, column
    missing = column.isna()
    values = [None if is_missing else value for value, is_missing in zip(column, missing)]
    is_text = any(isinstance(value, str) for value in values)
    return back, pa.array(values, pa.large_string() if is_text else pa.large_binary())


@pd.api.extensions.register_series_accessor("icecore")
class Decoding:
    """``series.icecore``."""

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def decode(
        self,
        schema: Any = None,
        *,
        expand: bool = True,
        **options: Unpack[Options],
    ) -> Any:
        """What the blobs say: of structs a frame with a column for each field, in types of Arrow; or the series as it
        is with ``expand=False``. With ``on_error="keep"`` it is the first of a ``Kept``. See ``icecore.arrow.decode``."""
        decoded = decode_arrow(self._series, schema, **options)
        if isinstance(decoded, Kept):
            return decoded._replace(column=self._shaped(decoded.column, expand))
        return self._shaped(decoded, expand)

    @staticmethod
    def _shaped(series: pd.Series, expand: bool) -> pd.DataFrame | pd.Series:
        kind = series.dtype.pyarrow_dtype
        if not expand or not pa.types.is_struct(kind):
            return series
        chunked = series.array.__arrow_array__()
        chunked = pa.chunked_array([chunked]) if isinstance(chunked, pa.Array) else chunked
        columns = {}
        for at in range(kind.num_fields):
            parts = [pc.struct_field(chunk, [at]) for chunk in chunked.chunks]
            whole = pa.chunked_array(parts, kind.field(at).type)
            columns[kind.field(at).name] = pd.Series(pd.arrays.ArrowExtensionArray(whole), index=series.index)
        return pd.DataFrame(columns, index=series.index)

    def loads(self, format: str | None = None, **options: Any) -> pd.Series:
        """The values as objects of Python, each as ``icecore.loads`` gives it."""
        values = [
            None if value is None or value is pd.NA else loads(value, format, **options) for value in self._series
        ]
        return pd.Series(values, index=self._series.index, name=self._series.name, dtype=object)
