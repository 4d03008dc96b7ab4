"""Random types and values: what DuckDB, polars and pandas get is what pyarrow gets, and that is what was written.

`ICECORE_CASES` says how many; they are few if it does not.
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
    """A type: its text, a value as it is written, and the same as it is read."""

    text: str
    value: Callable[[random.Random], Any]
    read: Callable[[Any], Any] = lambda value: value


def integer(bits: int, signed: bool = True) -> Callable[[random.Random], Any]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, min(2**bits, 2**63) - 1)
    return lambda dice: dice.choice([0, low, high, dice.randint(low, high), max(low, -1)])


def text(dice: random.Random) -> str:
    return "".join(dice.choice("abcé'\"\\ \n\t$x{}[],:;😀%\u2028\x01") for _ in range(dice.randrange(12)))


def octets(dice: random.Random) -> bytes:
    return bytes(dice.choice([0, 39, 92, 34, 65, 120, 128, 200, 255]) for _ in range(dice.randrange(10)))


def cents(dice: random.Random) -> str:
    return str(decimal.Decimal(dice.randint(-(10**17), 10**17)).scaleb(-dice.randrange(5)))


def day(dice: random.Random) -> str:
    return datetime.date.fromordinal(dice.randint(1, 3652059)).isoformat()


def moment(dice: random.Random) -> str:
    at = datetime.datetime.fromordinal(dice.randint(1, 3652059)) + datetime.timedelta(
        microseconds=dice.randrange(86400 * 10**6)
    )
    return at.isoformat()


def utc(value: Any) -> Any:
    return value if value is None else datetime.datetime.fromisoformat(value).replace(tzinfo=datetime.timezone.utc)


PLAIN = [
    Kind("bool", lambda dice: dice.random() < 0.5),
    *(Kind(f"int{bits}", integer(bits)) for bits in (8, 16, 32, 64)),
    *(Kind(f"uint{bits}", integer(bits, False)) for bits in (8, 16, 32, 64)),
    Kind("float64", lambda dice: dice.choice([0.0, -0.5, 1e300, 5e-324, 0.1, 123456789.125, math.inf, -math.inf])),
    Kind("float32", lambda dice: dice.choice([0.0, -0.5, 1.25, 2.0**100, 16777216.0])),
    Kind("utf8", text),
    Kind("large_utf8", text),
    Kind("binary", octets),
    Kind("large_binary", octets),
    Kind("decimal(38, 4)", cents, decimal.Decimal),
    Kind("decimal(9, 2)", lambda dice: str(decimal.Decimal(dice.randint(-(10**9) + 1, 10**9 - 1)).scaleb(-2)), decimal.Decimal),
    Kind("timestamp[s]", lambda dice: moment(dice)[:19], datetime.datetime.fromisoformat),
    Kind("timestamp[ms]", lambda dice: (moment(dice)[:19] + ".125"), datetime.datetime.fromisoformat),
    Kind("date32", day, datetime.date.fromisoformat),
    Kind("timestamp[us]", moment, datetime.datetime.fromisoformat),
    Kind("timestamp[us, UTC]", lambda dice: moment(dice)[:26] + "+00:00", lambda value: datetime.datetime.fromisoformat(value)),
]


def optional(kind: Kind) -> Kind:
    return kind._replace(
        value=lambda dice: None if dice.random() < 0.15 else kind.value(dice),
        read=lambda value: None if value is None else kind.read(value),
    )


def anything(dice: random.Random, depth: int = 0) -> Kind:
    """A random type."""
    nested = dice.randrange(10) if depth < 3 else 9
    if nested == 0:
        item = optional(anything(dice, depth + 1))
        return Kind(
            f"list<{item.text}>",
            lambda dice: [item.value(dice) for _ in range(dice.randrange(4))],
            lambda value: [item.read(each) for each in value],
        )
    if nested == 2:
        item = optional(anything(dice, depth + 1))
        return Kind(
            f"map<utf8, {item.text}>",
            lambda dice: {name: item.value(dice) for name in dice.sample(NAMES, dice.randrange(4))},
            lambda value: [(key, item.read(each)) for key, each in value.items()],
        )
    if nested == 1:
        return structure(dice, depth + 1)
    return dice.choice(PLAIN)


def structure(dice: random.Random, depth: int = 0) -> Kind:
    names = dice.sample(NAMES, 1 + dice.randrange(4))
    parts = {name: optional(anything(dice, depth)) for name in names}
    quoted = [(name if name.isascii() and name.isidentifier() else '"' + name.replace('"', '""') + '"') for name in names]
    return Kind(
        f"struct<{', '.join(f'{name} {part.text}' for name, part in zip(quoted, parts.values()))}>",
        lambda dice: {name: part.value(dice) for name, part in parts.items()},
        lambda value: {name: part.read(value[name]) for name, part in parts.items()},
    )


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, list):
        # A map is a dict, or a list of pairs.
        one = list(one.items())
    if isinstance(one, list) and isinstance(other, list):
        one = [tuple(each.values()) if isinstance(each, dict) and list(each) == ["key", "value"] else each for each in one]
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, datetime.datetime) and isinstance(other, datetime.datetime):
        # Libraries return the same moment in different zones.
        return (one.tzinfo is None) == (other.tzinfo is None) and one == other
    return one == other and isinstance(one, bool) == isinstance(other, bool)


class Case(NamedTuple):
    schema: str
    format: str
    blobs: list[bytes | None]
    rows: list[Any]


def cases(seed: int) -> list[Case]:
    dice = random.Random(seed)
    made = []
    while len(made) < CASES:
        kind = optional(structure(dice))
        given = [kind.value(dice) for _ in range(1 + dice.randrange(5))]
        format = dice.choice(["php", "marshal", "igbinary", "sereal"])
        blobs = [None if value is None else icecore.dumps(value, format, losses="ignore") for value in given]
        made.append(Case(kind.text, format, blobs, [kind.read(value) for value in given]))
    return made


def check(decode: Callable[[Case], list[Any]]) -> None:
    wrong = []
    for case in cases(int(os.environ.get("ICECORE_SEED", "23"))):
        try:
            found: Any = decode(case)
        except Exception as why:
            found = f"{type(why).__name__}: {why}"
        if not same(found, case.rows):
            wrong.append(f"{case.schema}\n  {case.format} {case.blobs}\n  found    {found}\n  expected {case.rows}")
    assert not wrong, f"{len(wrong)} of {CASES}:\n" + "\n".join(sorted(wrong, key=len)[:4])


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

    def asked(case: Case) -> list[Any]:
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
            return asked(case)
        except duckdb.Error as why:
            # Names that differ only in their case are equal for DuckDB, which refuses them.
            if "Duplicate" in str(why) and "A " in case.schema and "a " in case.schema:
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
