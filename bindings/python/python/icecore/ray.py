"""Columns of blobs in Ray Data, by Arrow.

>>> import icecore.ray
>>> icecore.ray.decode(dataset, "data", schema="id int64")    # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from ray.data import Dataset

from ._kept import BESIDE
from ._paths import flat
from .arrow import decoder, schema_of

__all__ = ["Decode", "decode"]


class Decode:
    """What ``Dataset.map_batches`` calls: a batch of Arrow with a column decoded."""

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
        decoded = self._decoder.decode(flat(batch.column(self.column)))
        rows = pa.array(decoded.column)
        at = batch.column_names.index(self.column)
        if self.on_error == "keep":
            for part, array in zip(BESIDE, (decoded.texts, decoded.kept)):
                batch = batch.append_column(f"{self.column}_{part.name}", pa.array(array))
        if self.into is not None:
            return batch.append_column(self.into, rows)
        made = batch.remove_column(at)
        for part, array in zip(rows.type, rows.flatten()):
            made = made.append_column(part.name, array)
        return made


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
    """The dataset with the blobs of ``column`` decoded: its fields instead of the column, or with ``into`` a
    struct of that name next to it. With ``on_error="keep"`` columns ``data_error`` and ``data_kept`` have what is wrong
    with a bad row, and its blob. Other arguments are those of ``Dataset.map_batches``."""
    run = Decode(column, schema, into=into, format=format, on_error=on_error)
    return dataset.map_batches(run, batch_format="pyarrow", **options)
