"""Columns of Arrow, by every library that has them."""

from __future__ import annotations

import random
from typing import Any

import icecore
import icecore.arrow
import pytest

ROWS = [{"id": 7, "tags": ["a", "b"], "price": 1.5}, None, {"id": 8, "tags": [], "price": None}]
BLOBS = [None if row is None else icecore.dumps(row, "php") for row in ROWS]
SCHEMA = "id int64, tags list<utf8>, price float64"


def library(name: str) -> Any:
    """Imports a library; without it the test is skipped with a message."""
    return pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed")


def test_pyarrow_arrays_are_decoded() -> None:
    pa = library("pyarrow")
    column = pa.array(BLOBS, pa.binary())
    decoded = icecore.arrow.decode(column, SCHEMA)
    assert isinstance(decoded, pa.StructArray) and decoded.to_pylist() == ROWS
    for kind in [pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string()]:
        assert icecore.arrow.decode(pa.array(BLOBS, kind), SCHEMA).to_pylist() == ROWS
    chunked = pa.chunked_array([column, column.slice(1)])
    decoded_chunks = icecore.arrow.decode(chunked, SCHEMA)
    assert isinstance(decoded_chunks, pa.ChunkedArray) and decoded_chunks.num_chunks == 2
    assert decoded_chunks.to_pylist() == ROWS + ROWS[1:]


def test_a_schema_may_be_of_any_library() -> None:
    pa = library("pyarrow")
    column = pa.array(BLOBS)
    fields = [("id", pa.int64()), ("tags", pa.list_(pa.string())), ("price", pa.float64())]
    for schema in [
        pa.schema(fields),
        pa.struct(fields),
        dict(fields),
        {"id": int, "tags": [str], "price": "float64"},
        icecore.arrow.infer(column),
        None,
    ]:
        assert icecore.arrow.decode(column, schema).to_pylist() == ROWS, schema
    assert str(icecore.arrow.infer(column)) == SCHEMA
    with pytest.raises(TypeError, match="schema"):
        icecore.arrow.decode(column, 7)


def test_bad_rows_raise_or_are_null_as_on_error_says() -> None:
    pa = library("pyarrow")
    column = pa.array([BLOBS[0], b"a:1:{", b'a:1:{s:2:"id";s:1:"x";}'])
    with pytest.raises(icecore.Error) as raised:
        icecore.arrow.decode(column, SCHEMA, format="php")
    assert (raised.value.row, raised.value.kind) == (1, "truncated")
    assert str(raised.value).startswith("row 1: ")
    errors: list[tuple[int, icecore.Error]] = []
    decoded = icecore.arrow.decode(column, SCHEMA, "null", format="php", errors=errors)
    assert decoded.to_pylist() == [ROWS[0], None, None]
    assert [(row, error.path) for row, error in errors] == [(1, "$"), (2, "$.id")]
    chunks = pa.chunked_array([column.slice(0, 1), column.slice(1)])
    errors.clear()
    icecore.arrow.decode(chunks, SCHEMA, "null", format="php", errors=errors)
    assert [row for row, _ in errors] == [1, 2]
    with pytest.raises(icecore.Error, match="^row 1: ") as raised:
        icecore.arrow.decode(chunks, SCHEMA, format="php")
    assert raised.value.row == 1


def test_an_error_names_the_row_that_can_not_be_written() -> None:
    pa = library("pyarrow")
    lists = pa.chunked_array([pa.array([[1], [2]]), pa.array([[3], [1, 2, 3, 4, 5, 6, 7, 8]])])
    with pytest.raises(icecore.Error, match="^row 3: ") as raised:
        icecore.arrow.encode(lists, "php", limits={"output": 20})
    assert raised.value.row == 3


def test_a_stream_is_decoded_batch_by_batch() -> None:
    pa = library("pyarrow")
    stream_calls = []

    class Stream:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            stream_calls.append(True)
            return self.array.__arrow_c_stream__()

    stream = icecore.arrow.decode(Stream(pa.chunked_array([BLOBS, BLOBS])), SCHEMA)
    assert pa.chunked_array(stream).to_pylist() == ROWS + ROWS
    with pytest.raises(icecore.Error, match="not read yet"):
        pa.chunked_array(stream)
    with pytest.raises(TypeError, match="give a schema"):
        icecore.arrow.decode(Stream(pa.chunked_array([BLOBS])))


def test_a_pyarrow_reader_is_decoded_to_a_reader() -> None:
    pa = library("pyarrow")
    requested = []

    def batches() -> Any:
        for number in range(3):
            requested.append(number)
            yield pa.record_batch({"data": pa.array(BLOBS if number < 2 else [b"?"], pa.binary())})

    schema = pa.schema({"data": pa.binary()})
    reader = icecore.arrow.decode(pa.RecordBatchReader.from_batches(schema, batches()), SCHEMA, format="php")
    assert isinstance(reader, pa.RecordBatchReader) and not requested
    first = reader.read_next_batch()
    assert requested == [0] and first.to_pylist() == [{"data": row} for row in ROWS]
    reader.read_next_batch()
    with pytest.raises(icecore.Error):
        reader.read_next_batch()


def test_objects_with_the_arrow_interface_alone_are_decoded() -> None:
    pa = library("pyarrow")

    class Foreign:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return pa.array(BLOBS).__arrow_c_array__()

        def __len__(self) -> int:
            return len(BLOBS)

    column = icecore.arrow.decode(Foreign(), SCHEMA)
    assert isinstance(column, icecore.arrow.Column)
    assert (len(column), column.null_count) == (3, 1)
    assert pa.array(column).to_pylist() == ROWS


def test_nanoarrow_arrays_are_decoded() -> None:
    library("pyarrow")
    na = library("nanoarrow")
    import pyarrow as pa

    column = na.Array(pa.array(BLOBS))
    decoded = icecore.arrow.decode(column, SCHEMA)
    rows = na.Array(decoded)
    assert rows.to_pylist() == ROWS


def test_polars_series_and_expressions_are_decoded() -> None:
    pl = library("polars")
    import icecore.polars

    series = pl.Series("data", BLOBS, dtype=pl.Binary)
    decoded = icecore.arrow.decode(series, SCHEMA)
    assert isinstance(decoded, pl.Series) and decoded.name == "data" and decoded.to_list() == ROWS
    frame = pl.DataFrame({"data": series})
    schema = {"id": pl.Int64, "tags": pl.List(pl.String), "price": pl.Float64}
    expression = pl.col("data").icecore.decode(schema=schema)
    for result in [frame.select(expression), frame.lazy().select(expression).collect()]:
        assert result["data"].to_list() == ROWS
        assert result.schema["data"] == pl.Struct(schema)
    # The plan knows the type before there is data.
    assert frame.lazy().select(expression).collect_schema()["data"] == pl.Struct(schema)
    assert series.icecore.infer() == pl.Struct(schema)
    bad = pl.DataFrame({"data": [b"a:1:{"]})
    assert bad.select(pl.col("data").icecore.decode(schema, on_error="null"))["data"].to_list() == [None]
    with pytest.raises(Exception, match="ends too early"):
        bad.select(pl.col("data").icecore.decode(schema, format="php"))


def test_pandas_series_are_decoded() -> None:
    pd = library("pandas")
    library("pyarrow")
    import icecore.pandas

    series = pd.Series(BLOBS, index=[3, 4, 5], name="data")
    frame = series.icecore.decode(SCHEMA)
    assert list(frame.columns) == ["id", "tags", "price"] and list(frame.index) == [3, 4, 5]
    assert frame["id"].tolist()[0] == 7 and frame["id"].isna().tolist() == [False, True, False]
    structs = series.icecore.decode(SCHEMA, expand=False)
    assert structs.name == "data" and structs.iloc[0] == ROWS[0]
    import pyarrow as pa

    arrow = pd.Series(BLOBS, dtype=pd.ArrowDtype(pa.binary()))
    assert arrow.icecore.decode(SCHEMA)["price"].tolist()[0] == 1.5
    assert series.icecore.loads().tolist() == ROWS
    assert list(icecore.arrow.decode(series, SCHEMA).index) == [3, 4, 5]


def test_duckdb_functions_decode_blobs() -> None:
    duckdb = library("duckdb")
    pa = library("pyarrow")
    import icecore.duckdb

    connection = duckdb.connect()
    icecore.duckdb.register(connection)
    icecore.duckdb.register(connection)
    table = pa.table({"data": pa.array(BLOBS + [b"a:1:{"], pa.binary()), "path": ["$.id", "$.id", "$.tags", "$.id"]})
    connection.register("blobs", table)
    query_rows = lambda query: connection.sql(query.replace("FROM", "from blobs")).fetchall()  # noqa: E731
    assert query_rows("select icecore_json(data) FROM") == [
        ('{"id":7,"tags":["a","b"],"price":1.5}',),
        (None,),
        ('{"id":8,"tags":[],"price":null}',),
        (None,),
    ]
    assert query_rows("select icecore_get(data, '$.tags[1]') FROM") == [("b",), (None,), (None,), (None,)]
    assert query_rows("select icecore_get(data, path) FROM") == [("7",), (None,), ("[]",), (None,)]
    rows = query_rows(f"select icecore_struct(data, '{SCHEMA}') FROM")
    assert [row for (row,) in rows] == [*ROWS, None]
    assert query_rows("select icecore_struct(data, 'id int64, d decimal(9, 2), b binary').id + 1 FROM")[0] == (8,)
    icecore.duckdb.register_struct(connection, "mine", SCHEMA)
    assert [row for (row,) in query_rows("select mine(data) FROM")] == [*ROWS, None]
    icecore.duckdb.register(connection, format="php", on_error="raise")
    with pytest.raises(duckdb.Error, match="ends too early"):
        query_rows("select icecore_json(data) FROM")


def test_duckdb_keeps_all_types() -> None:
    duckdb = library("duckdb")
    library("pyarrow")
    import icecore.duckdb

    connection = duckdb.connect()
    icecore.duckdb.register(connection)
    blob = icecore.dumps({"b": b"\x00\xff'", "t": "2026-02-02T03:40:00Z", "d": "1.25", "m": {"x": 1}})
    schema = "b binary, t timestamp[us], d decimal(9, 2), m struct<x int32>"
    (row,) = connection.execute(f"select icecore_struct(?::blob, '{schema}')", [blob]).fetchone()
    assert row["b"] == b"\x00\xff'" and str(row["d"]) == "1.25" and row["m"] == {"x": 1}
    assert row["t"].isoformat() == "2026-02-02T03:40:00"


def test_random_columns_agree_with_loads() -> None:
    pa = library("pyarrow")
    rng = random.Random(5)
    for _ in range(50):
        rows = [
            rng.choice([None, {"a": rng.randrange(-9, 10**12), "b": rng.choice([None, "x" * rng.randrange(20)])}])
            for _ in range(rng.randrange(40))
        ]
        format = rng.choice(["php", "marshal", "igbinary", "json"])
        column = pa.array([None if row is None else icecore.dumps(row, format) for row in rows], pa.binary())
        assert icecore.arrow.decode(column, "a int64, b utf8").to_pylist() == rows


def test_encoded_columns_decode_to_the_same_values() -> None:
    pa = library("pyarrow")
    rows = icecore.arrow.decode(pa.array(BLOBS, pa.binary()), SCHEMA)
    encoded = icecore.arrow.encode(rows, "php")
    assert isinstance(encoded, pa.BinaryArray)
    assert [None if blob is None else icecore.loads(blob) for blob in encoded.to_pylist()] == ROWS
    chunked = icecore.arrow.encode(pa.chunked_array([rows, rows]), "marshal")
    assert [None if blob is None else icecore.loads(blob) for blob in chunked.to_pylist()] == ROWS + ROWS
    pl = library("polars")
    series = icecore.arrow.encode(pl.Series("rows", ROWS), "json")
    assert series.name == "rows" and series[0] == b'{"id":7,"tags":["a","b"],"price":1.5}'


def test_several_threads_give_the_same_result_as_one() -> None:
    pa = library("pyarrow")
    blobs = [b"a:1:{s:2:\"id\";i:%d;}" % index if index % 997 else b"?" for index in range(250_000)]
    column = pa.array(blobs, pa.binary())
    chunked = pa.chunked_array([column.slice(0, 100_001), column.slice(100_001)])
    for variant in (column, chunked):
        errors: list[list[Any]] = [[], []]
        single, parallel = (
            icecore.arrow.decode(variant, "id int64", "null", format="php", errors=errors[index], threads=index * 2 + 1)
            for index in (0, 1)
        )
        assert single.to_pylist() == parallel.to_pylist() and type(single) is type(parallel)
        rows = [[row for row, _ in some] for some in errors]
        assert rows[0] == rows[1] == list(range(0, 250_000, 997))
        with pytest.raises(icecore.Error) as raised:
            icecore.arrow.decode(variant.slice(1), "id int64", format="php", threads=3)
        assert raised.value.row == 996
    with pytest.raises(ValueError, match="threads"):
        icecore.arrow.decode(column, "id int64", threads=0)
