"""Bad rows that are kept, and entries without a field."""

from __future__ import annotations

import warnings
from typing import Any

import icecore
import icecore.arrow
import pytest

BLOBS = [b"i:1;", None, b"i:?;", b"i:3;", b""]
VALUES = [1, None, None, 3, None]
KEPT = [None, None, b"i:?;", None, b""]
EXTRA = [b'a:1:{s:1:"a";i:1;}', b'a:2:{s:1:"a";i:2;s:1:"b";i:3;}', b'a:2:{s:1:"a";i:2;s:1:"c";i:3;}']


def library(name: str) -> Any:
    """Imports a library; without it the test is skipped with a message."""
    return pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed")


def has_text(errors: list[str | None]) -> list[bool]:
    return [text is not None for text in errors]


def test_pyarrow_keeps_errors_and_blobs_of_bad_rows() -> None:
    pa = library("pyarrow")
    column = pa.array(BLOBS, pa.binary())
    errors: list[tuple[int, Any]] = []
    result = icecore.arrow.decode(column, "int64", "keep", format="php", errors=errors)
    assert result.column.to_pylist() == VALUES and result.kept.to_pylist() == KEPT
    assert has_text(result.errors.to_pylist()) == has_text(KEPT) and "offset 2" in result.errors[2].as_py()
    assert [row for row, _ in errors] == [2, 4] and result.extra is None
    # Slices and chunks, of each kind of array.
    for kind in [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string()]:
        column = pa.array(BLOBS, kind)
        chunked = pa.chunked_array([column.slice(1, 2), column.slice(0, 0), column.slice(3), column])
        result = icecore.arrow.decode(chunked, "int64", "keep", format="php")
        assert isinstance(result.kept, pa.ChunkedArray)
        assert result.column.to_pylist() == VALUES[1:] + VALUES
        assert result.kept.to_pylist() == KEPT[1:] + KEPT
        assert has_text(result.errors.to_pylist()) == has_text(KEPT[1:] + KEPT)


def test_several_threads_keep_bad_rows() -> None:
    pa = library("pyarrow")
    blobs = [b"i:%d;" % index if index % 997 else b"?%d" % index for index in range(250_000)]
    column = pa.array(blobs, pa.binary())
    for variant in (column, pa.chunked_array([column.slice(0, 100_001), column.slice(100_001)]), column.slice(5)):
        result = icecore.arrow.decode(variant, "int64", "keep", format="php", threads=3)
        blobs_of_column = variant.to_pylist()
        assert result.kept.to_pylist() == [blob if blob[:1] == b"?" else None for blob in blobs_of_column]
        assert result.column.to_pylist() == [None if blob[:1] == b"?" else int(blob[2:-1]) for blob in blobs_of_column]


def test_a_stream_can_not_keep_bad_rows() -> None:
    pa = library("pyarrow")
    column = pa.chunked_array([pa.array(BLOBS, pa.binary())])

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return column.__arrow_c_stream__()

    with pytest.raises(TypeError, match="raise or null"):
        icecore.arrow.decode(Stream(), "int64", "keep")
    with pytest.raises(icecore.Error, match="raise or null"):
        icecore.arrow.encode(pa.array([1]), "php", "keep")


def test_polars_keeps_errors_and_blobs_of_bad_rows() -> None:
    pl = library("polars")
    import icecore.polars

    series = pl.Series("data", BLOBS, dtype=pl.Binary)
    result = series.icecore.decode("int64", on_error="keep", format="php")
    assert result.column.to_list() == VALUES and result.kept.to_list() == KEPT and result.kept.name == "data"
    expression = pl.col("data").icecore.decode("int64", on_error="keep", format="php")
    frame = pl.DataFrame(series).lazy().select(expression)
    kind = pl.Struct({"value": pl.Int64, "error": pl.String, "kept": pl.Binary})
    assert frame.collect_schema()["data"] == kind
    rows = frame.collect()["data"].to_list()
    assert [row["value"] for row in rows] == VALUES and [row["kept"] for row in rows] == KEPT
    with pytest.raises(TypeError, match="keep"):
        pl.col("data").icecore.decode("int64", errors=[])


def test_pandas_keeps_errors_and_blobs_of_bad_rows() -> None:
    pd = library("pandas")
    library("pyarrow")
    import icecore.pandas

    series = pd.Series(EXTRA + [b"?"], index=[7, 8, 9, 9], name="data")
    result = series.icecore.decode("a int64", on_error="keep", format="php")
    assert result.column["a"].tolist()[:3] == [1, 2, 2] and list(result.kept.index) == [7, 8, 9, 9]
    assert result.kept.tolist()[3] == b"?" and result.extra == (2, 1)
    assert result.errors.isna().tolist() == [True, True, True, False]


def test_duckdb_keeps_errors_and_blobs_of_bad_rows() -> None:
    duckdb = library("duckdb")
    pa = library("pyarrow")
    import icecore.duckdb

    connection = duckdb.connect()
    icecore.duckdb.register_struct(connection, "kept", "int64", format="php", on_error="keep")
    connection.register("blobs", pa.table({"data": pa.array(BLOBS, pa.binary())}))
    rows = [row for (row,) in connection.sql("select kept(data) from blobs").fetchall()]
    assert [row["value"] for row in rows] == VALUES and [row["kept"] for row in rows] == KEPT


def test_entries_without_a_field_are_counted_and_warned_of() -> None:
    pa = library("pyarrow")
    column = pa.array(EXTRA, pa.binary())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # An explicit schema may be meant to take only a part.
        icecore.arrow.decode(column, "a int64")
        icecore.arrow.decode(column)
    assert icecore.arrow.decode(column, "a int64", "keep").extra == (2, 1)
    assert icecore.arrow.decode(pa.chunked_array([column, column]), "a int64", "keep").extra == (4, 1)
    assert icecore.arrow.decode(column, "a int64, more rest", "keep").extra is None
    # More rows than the type was learned from.
    learned = icecore.arrow.infer(column.slice(0, 1))
    with pytest.warns(icecore.ExtraWarning, match="2 rows have entries .* the first is row 1"):
        icecore.arrow.decode(column, learned)
