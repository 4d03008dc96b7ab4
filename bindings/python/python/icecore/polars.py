"""The namespace ``icecore`` of expressions, series and frames of polars.

>>> import polars as pl
>>> import icecore.polars
>>> frame = pl.DataFrame({"data": [b'a:1:{s:2:"id";i:7;}']})
>>> frame.select(pl.col("data").icecore.decode("id int64")).item(0, 0)
{'id': 7}
"""

from __future__ import annotations

from typing import Any, Unpack

import polars as pl

from .arrow import Options
from .arrow import decode as decode_arrow
from .arrow import infer as infer_arrow
from .arrow import schema_of

__all__ = ["Decoding", "SeriesDecoding", "type_of"]


def type_of(schema: Any) -> pl.DataType:
    """Returns the polars type for a schema."""
    empty = pl.Series("", [], dtype=pl.Binary)
    return decode_arrow(empty, schema_of(schema), format="json").dtype


@pl.api.register_series_namespace("icecore")
class SeriesDecoding:
    """``series.icecore``."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def decode(
        self,
        schema: Any = None,
        **options: Unpack[Options],
    ) -> Any:
        """Decodes the blobs to a series, or with ``on_error="keep"`` to three: see ``icecore.arrow.decode``."""
        return decode_arrow(self._series, schema, **options)

    def infer(self, *, format: str | None = None, limits: dict[str, int] | None = None) -> pl.DataType:
        """Learns the type that fits the blobs."""
        return type_of(infer_arrow(self._series, format, limits=limits))


@pl.api.register_expr_namespace("icecore")
class Decoding:
    """``pl.col("data").icecore``."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def decode(
        self,
        schema: Any = None,
        **options: Unpack[Options],
    ) -> pl.Expr:
        """Decodes the blobs by a schema: ``{"id": pl.Int64}``, a text, a type of polars or of pyarrow.

        An expression must have a type before it gets data, so the schema can't be learned here; use
        ``series.icecore.infer()``. With ``on_error="keep"`` the result is a struct of ``value``, ``error`` and
        ``kept``. ``errors`` is not supported, because an expression is run in parts.
        """
        if schema is None:
            raise TypeError(
                "an expression has to know its type before it sees data: give decode() a schema, such as 'id int64', "
                "or one that is learned: frame['data'].icecore.infer()"
            )
        if options.get("errors") is not None:
            raise TypeError("an expression has no list of errors: use on_error='keep' or series.icecore.decode")
        target_type = schema_of(schema)
        keeps = options.get("on_error") == "keep"

        def run(series: pl.Series) -> pl.Series:
            decoded = decode_arrow(series, target_type, **options)
            if not keeps:
                return decoded
            parts = {"value": decoded.column, "error": decoded.errors, "kept": decoded.kept}
            return pl.DataFrame(parts).to_struct(series.name)

        kind = type_of(target_type)
        if keeps:
            kind = pl.Struct({"value": kind, "error": pl.String(), "kept": pl.Binary()})
        return self._expr.map_batches(run, return_dtype=kind, is_elementwise=True)
