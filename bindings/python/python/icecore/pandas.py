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


def own_library(column: pd.Series) -> tuple[Callable[[Any], pd.Series], Any]:
    """Returns a function that makes a series of an Arrow column, with the index of this series, and this series as
    Arrow."""

    def to_series(result: Any) -> pd.Series:
        array = pa.chunked_array(result) if hasattr(result, "__arrow_c_stream__") else pa.array(result)
        return pd.Series(pd.arrays.ArrowExtensionArray(array), index=column.index, name=column.name)

    if isinstance(column.dtype, pd.ArrowDtype):
        return to_series, column
    missing = column.isna()
    values = [None if is_missing else value for value, is_missing in zip(column, missing)]
    is_text = any(isinstance(value, str) for value in values)
    return to_series, pa.array(values, pa.large_string() if is_text else pa.large_binary())


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
        """Decodes the blobs. The result for structs is a frame with a column for each field, in types of Arrow; with
        ``expand=False`` it is a series of structs. With ``on_error="keep"`` the result is a ``Kept``, whose first part
        is that frame or series. See ``icecore.arrow.decode``."""
        decoded = decode_arrow(self._series, schema, **options)
        if isinstance(decoded, Kept):
            return decoded._replace(column=self._expand(decoded.column, expand))
        return self._expand(decoded, expand)

    @staticmethod
    def _expand(series: pd.Series, expand: bool) -> pd.DataFrame | pd.Series:
        """Returns a frame with a column for each field of the structs, if ``expand``."""
        kind = series.dtype.pyarrow_dtype
        if not expand or not pa.types.is_struct(kind):
            return series
        chunked = series.array.__arrow_array__()
        chunked = pa.chunked_array([chunked]) if isinstance(chunked, pa.Array) else chunked
        columns = {}
        for index in range(kind.num_fields):
            parts = [pc.struct_field(chunk, [index]) for chunk in chunked.chunks]
            whole = pa.chunked_array(parts, kind.field(index).type)
            columns[kind.field(index).name] = pd.Series(pd.arrays.ArrowExtensionArray(whole), index=series.index)
        return pd.DataFrame(columns, index=series.index)

    def loads(self, format: str | None = None, **options: Any) -> pd.Series:
        """Returns the values as Python objects, as ``icecore.loads`` does for each blob."""
        values = [
            None if value is None or value is pd.NA else loads(value, format, **options) for value in self._series
        ]
        return pd.Series(values, index=self._series.index, name=self._series.name, dtype=object)
