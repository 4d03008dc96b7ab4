"""Random types and values: pyarrow, DuckDB, polars and pandas decode the values that were written.

`ICECORE_CASES` is the number of cases; by default they are few.
"""

from __future__ import annotations

import datetime
import decimal
import math
import os
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import icecore
import icecore.arrow
import pytest

CASES = int(os.environ.get("ICECORE_CASES", "60"))
#: Without numbers, because a PHP array whose only key is 0 is a list.
NAMES = ["a", "A", "b", "id", "Name", "zoë", "with space", 'qu"ote', "it's", "select", "a.b", "$x", "-", "日本", "x[0]"]


class Kind(NamedTuple):
    """A type: its text, a function that creates a random value to write, and the value that is read for it."""

    text: str
    value: Callable[[random.Random], Any]
    read: Callable[[Any], Any] = lambda value: value


def random_integer(bits: int, signed: bool = True) -> Callable[[random.Random], Any]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, min(2**bits, 2**63) - 1)
    return lambda rng: rng.choice([0, low, high, rng.randint(low, high), max(low, -1)])


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice("abcé'\"\\ \n\t$x{}[],:;😀%\u2028\x01") for _ in range(rng.randrange(12)))


def random_bytes(rng: random.Random) -> bytes:
    return bytes(rng.choice([0, 39, 92, 34, 65, 120, 128, 200, 255]) for _ in range(rng.randrange(10)))


def decimal_text(rng: random.Random) -> str:
    return str(decimal.Decimal(rng.randint(-(10**17), 10**17)).scaleb(-rng.randrange(5)))


def date_text(rng: random.Random) -> str:
    return datetime.date.fromordinal(rng.randint(1, 3652059)).isoformat()


def timestamp_text(rng: random.Random) -> str:
    date_and_time = datetime.datetime.fromordinal(rng.randint(1, 3652059)) + datetime.timedelta(
        microseconds=rng.randrange(86400 * 10**6)
    )
    return date_and_time.isoformat()


def utc(value: Any) -> Any:
    return value if value is None else datetime.datetime.fromisoformat(value).replace(tzinfo=datetime.timezone.utc)


PLAIN = [
    Kind("bool", lambda rng: rng.random() < 0.5),
    *(Kind(f"int{bits}", random_integer(bits)) for bits in (8, 16, 32, 64)),
    *(Kind(f"uint{bits}", random_integer(bits, False)) for bits in (8, 16, 32, 64)),
    Kind("float64", lambda rng: rng.choice([0.0, -0.5, 1e300, 5e-324, 0.1, 123456789.125, math.inf, -math.inf])),
    Kind("float32", lambda rng: rng.choice([0.0, -0.5, 1.25, 2.0**100, 16777216.0])),
    Kind("utf8", random_text),
    Kind("large_utf8", random_text),
    Kind("binary", random_bytes),
    Kind("large_binary", random_bytes),
    Kind("decimal(38, 4)", decimal_text, decimal.Decimal),
    Kind("decimal(9, 2)", lambda rng: str(decimal.Decimal(rng.randint(-(10**9) + 1, 10**9 - 1)).scaleb(-2)), decimal.Decimal),
    Kind("timestamp[s]", lambda rng: timestamp_text(rng)[:19], datetime.datetime.fromisoformat),
    Kind("timestamp[ms]", lambda rng: (timestamp_text(rng)[:19] + ".125"), datetime.datetime.fromisoformat),
    Kind("date32", date_text, datetime.date.fromisoformat),
    Kind("timestamp[us]", timestamp_text, datetime.datetime.fromisoformat),
    Kind("timestamp[us, UTC]", lambda rng: timestamp_text(rng)[:26] + "+00:00", lambda value: datetime.datetime.fromisoformat(value)),
]


def nullable(kind: Kind) -> Kind:
    return kind._replace(
        value=lambda rng: None if rng.random() < 0.15 else kind.value(rng),
        read=lambda value: None if value is None else kind.read(value),
    )


def random_type(rng: random.Random, depth: int = 0) -> Kind:
    """A random type."""
    nested = rng.randrange(10) if depth < 3 else 9
    if nested == 0:
        item = nullable(random_type(rng, depth + 1))
        return Kind(
            f"list<{item.text}>",
            lambda rng: [item.value(rng) for _ in range(rng.randrange(4))],
            lambda value: [item.read(element) for element in value],
        )
    if nested == 2:
        item = nullable(random_type(rng, depth + 1))
        return Kind(
            f"map<utf8, {item.text}>",
            lambda rng: {name: item.value(rng) for name in rng.sample(NAMES, rng.randrange(4))},
            lambda value: [(key, item.read(element)) for key, element in value.items()],
        )
    if nested == 1:
        return random_struct(rng, depth + 1)
    return rng.choice(PLAIN)


def random_struct(rng: random.Random, depth: int = 0) -> Kind:
    names = rng.sample(NAMES, 1 + rng.randrange(4))
    field_types = {name: nullable(random_type(rng, depth)) for name in names}
    quoted = [(name if name.isascii() and name.isidentifier() else '"' + name.replace('"', '""') + '"') for name in names]
    return Kind(
        f"struct<{', '.join(f'{name} {field_type.text}' for name, field_type in zip(quoted, field_types.values()))}>",
        lambda rng: {name: field_type.value(rng) for name, field_type in field_types.items()},
        lambda value: {name: field_type.read(value[name]) for name, field_type in field_types.items()},
    )


def are_equal(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(are_equal(left[key], right[key]) for key in left)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return all(map(are_equal, left, right))
    if isinstance(left, dict) and isinstance(right, list):
        # A map is a dict, or a list of pairs.
        left = list(left.items())
    if isinstance(left, list) and isinstance(right, list):
        left = [tuple(item.values()) if isinstance(item, dict) and list(item) == ["key", "value"] else item for item in left]
        return len(left) == len(right) and all(map(are_equal, left, right))
    if isinstance(left, datetime.datetime) and isinstance(right, datetime.datetime):
        # Libraries return the same moment in different zones.
        return (left.tzinfo is None) == (right.tzinfo is None) and left == right
    return left == right and isinstance(left, bool) == isinstance(right, bool)


class Case(NamedTuple):
    schema: str
    format: str
    blobs: list[bytes | None]
    rows: list[Any]


def cases(seed: int) -> list[Case]:
    rng = random.Random(seed)
    result = []
    while len(result) < CASES:
        kind = nullable(random_struct(rng))
        values = [kind.value(rng) for _ in range(1 + rng.randrange(5))]
        format = rng.choice(["php", "marshal", "igbinary", "sereal"])
        blobs = [None if value is None else icecore.dumps(value, format, losses="ignore") for value in values]
        result.append(Case(kind.text, format, blobs, [kind.read(value) for value in values]))
    return result


def check(decode: Callable[[Case], list[Any]]) -> None:
    failures = []
    for case in cases(int(os.environ.get("ICECORE_SEED", "23"))):
        try:
            actual: Any = decode(case)
        except Exception as error:
            actual = f"{type(error).__name__}: {error}"
        if not are_equal(actual, case.rows):
            failures.append(f"{case.schema}\n  {case.format} {case.blobs}\n  found    {actual}\n  expected {case.rows}")
    assert not failures, f"{len(failures)} of {CASES}:\n" + "\n".join(sorted(failures, key=len)[:4])


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"SKIPPED: {name} is not installed")


def test_pyarrow_agrees_with_loads() -> None:
    pa = library("pyarrow")
    check(lambda case: icecore.arrow.decode(pa.array(case.blobs, pa.binary()), case.schema, format=case.format).to_pylist())


def test_polars_agrees_with_loads() -> None:
    pl = library("polars")
    import icecore.polars

    def decode(case: Case) -> list[Any]:
        frame = pl.DataFrame({"data": pl.Series(case.blobs, dtype=pl.Binary)})
        return frame.select(pl.col("data").icecore.decode(case.schema, format=case.format))["data"].to_list()

    check(decode)


def test_pandas_agrees_with_loads() -> None:
    pd = library("pandas")
    pa = library("pyarrow")
    import icecore.pandas

    def decode(case: Case) -> list[Any]:
        series = pd.Series(case.blobs, dtype=object).icecore.decode(case.schema, format=case.format, expand=False)
        return pa.array(series).to_pylist()

    check(decode)


@pytest.mark.parametrize("way", ["register_struct", "icecore_struct"])
def test_duckdb_agrees_with_loads(way: str) -> None:
    duckdb = library("duckdb")
    pa = library("pyarrow")
    import icecore.duckdb

    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")

    def query_rows(case: Case) -> list[Any]:
        connection.register("blobs", pa.table({"data": pa.array(case.blobs, pa.binary())}))
        if way == "register_struct":
            icecore.duckdb.register_struct(connection, "mine", case.schema, format=case.format, on_error="raise")
            query = "select mine(data) as row from blobs"
        else:
            schema = case.schema.replace("'", "''")
            query = f"select icecore_struct(data, '{schema}') as row from blobs"
        return connection.sql(query).to_arrow_table()["row"].to_pylist()

    def decode(case: Case) -> list[Any]:
        try:
            return query_rows(case)
        except duckdb.Error as error:
            # Names that differ only in their case are equal for DuckDB, which refuses them.
            if "Duplicate" in str(error) and "A " in case.schema and "a " in case.schema:
                return case.rows
            raise

    icecore.duckdb.register(connection, on_error="raise")
    check(decode)


def test_duckdb_accepts_text_as_blobs() -> None:
    duckdb = library("duckdb")
    library("pyarrow")
    import icecore.duckdb

    connection = duckdb.connect()
    icecore.duckdb.register(connection)
    icecore.duckdb.register(connection)
    icecore.duckdb.register_struct(connection, "my id", {"id": "int64"})
    frozen = 'a:2:{s:2:"id";i:7;s:4:"name";s:3:"\u20ac";}'
    connection.execute("create table t(text varchar, bytes blob)")
    connection.execute("insert into t values (?, ?), (null, null)", [frozen, frozen.encode()])
    for column in "text", "bytes":
        query = (
            f"select icecore_get({column}, '$.name'), icecore_json({column}), "
            f"""icecore_struct({column}, 'id int64'), "my id"({column}) from t"""
        )
        assert connection.sql(query).fetchall() == [
            ("\u20ac", '{"id":7,"name":"\u20ac"}', {"id": 7}, {"id": 7}),
            (None, None, None, None),
        ]
    assert connection.sql("select icecore_get(null, '$.a'), icecore_json(null)").fetchall() == [(None, None)]


def test_polars_says_that_an_expression_needs_a_schema() -> None:
    polars = library("polars")
    import icecore.polars  # noqa: F401

    with pytest.raises(TypeError, match="icecore.infer"):
        polars.col("data").icecore.decode()
