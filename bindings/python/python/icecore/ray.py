"""Decodes columns of blobs in Ray Data, by Arrow.

>>> import icecore.ray
>>> icecore.ray.decode(dataset, "data", schema="id int64")    # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from ray.data import Dataset

from ._bad_rows import BAD_ROW_FIELDS
from ._paths import combine_chunks
from .arrow import decoder, schema_of

__all__ = ["Decode", "decode"]


class Decode:
    """A function for ``Dataset.map_batches``: decodes a column of each Arrow batch."""

    def __init__(
        self,
        column: str = "data",
        schema: Any = None,
        *,
        into: str | None = None,
        format: str | None = None,
        on_error: str = "raise",
    ) -> None:
        self.column = column
        self.into = into
        self.schema = pa.schema([pa.field(schema_of(schema)).with_name("rows")])
        self.format = format
        self.on_error = on_error
        self._decoder: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_decoder": None}

    def __call__(self, batch: pa.Table) -> pa.Table:
        if self._decoder is None:
            self._decoder = decoder(self.schema.field(0).type, self.format, self.on_error)
        decoded = self._decoder.decode(combine_chunks(batch.column(self.column)))
        rows = pa.array(decoded.column)
        index = batch.column_names.index(self.column)
        if self.on_error == "keep":
            for field, array in zip(BAD_ROW_FIELDS, (decoded.texts, decoded.kept)):
                batch = batch.append_column(f"{self.column}_{field.name}", pa.array(array))
        if self.into is not None:
            return batch.append_column(self.into, rows)
        result = batch.remove_column(index)
        for field, array in zip(rows.type, rows.flatten()):
            result = result.append_column(field.name, array)
        return result


def decode(
    dataset: Dataset,
    column: str = "data",
    schema: Any = None,
    *,
    into: str | None = None,
    format: str | None = None,
    on_error: str = "raise",
    **options: Any,
) -> Dataset:
    """Decodes the blobs of ``column``. The fields replace the column; with ``into`` the column stays, and a struct of
    that name is added. With ``on_error="keep"`` the columns ``data_error`` and ``data_kept`` contain the error and the
    blob of each bad row. Other arguments are passed to ``Dataset.map_batches``."""
    run = Decode(column, schema, into=into, format=format, on_error=on_error)
    return dataset.map_batches(run, batch_format="pyarrow", **options)
