"""How fast `loads` and `dumps` are beside other packages: first the results are compared, then they are timed.

    python bench/bench.py

Peers are `phpserialize`, `rubymarshal`; `pickle`, and on formats of their own `msgspec` and `orjson`, are the roof.
Those that are not installed are named and left out.
"""

from __future__ import annotations

import importlib
import pickle
import timeit
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import icecore

SMALL = {
    "id": 7,
    "name": "Alice",
    "email": "alice@example.com",
    "roles": ["admin", "dev"],
    "active": True,
    "score": 2.5,
}
#: Each with a list of its own, because a shared list would become links, which not all packages read.
LIST = [{**SMALL, "id": number, "roles": ["admin", "dev"]} for number in range(1000)]


def peer(name: str) -> Any:
    """A package, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"left out: {name} is not installed")
        return None


class Participant(NamedTuple):
    """What reads and what writes a value."""

    loads: Callable[[], Any]
    #: None if it only reads.
    dumps: Callable[[], Any] | None
    #: Converts the result for the comparison, for packages that leave a step to their callers. Not timed.
    seen: Callable[[Any], Any] = lambda value: value


def participants(value: Any) -> dict[str, Participant]:
    """All that are there, for one value."""
    found = {}
    data = {}
    for format in ["php", "marshal", "igbinary", "sereal"]:
        data[format] = icecore.dumps(value, format, losses="ignore")
        found[f"icecore {format}"] = Participant(
            partial(icecore.loads, data[format], format), partial(icecore.dumps, value, format, losses="ignore")
        )
    found["icecore, php found by looking"] = Participant(
        partial(icecore.loads, data["php"]), partial(icecore.dumps, value)
    )
    found["pickle"] = Participant(partial(pickle.loads, pickle.dumps(value, 5)), partial(pickle.dumps, value, 5))
    if msgspec := peer("msgspec"):
        pack = msgspec.msgpack
        found["msgspec msgpack"] = Participant(partial(pack.decode, pack.encode(value)), partial(pack.encode, value))
    if orjson := peer("orjson"):
        found["orjson json"] = Participant(partial(orjson.loads, orjson.dumps(value)), partial(orjson.dumps, value))
    if phpserialize := peer("phpserialize"):
        loads = partial(phpserialize.loads, data["php"], decode_strings=True)
        found["phpserialize php"] = Participant(loads, partial(phpserialize.dumps, value), listed)
    if reader := peer("rubymarshal.reader"):
        writer = importlib.import_module("rubymarshal.writer")
        found["rubymarshal marshal"] = Participant(
            partial(reader.loads, data["marshal"]), partial(writer.writes, value)
        )
    if storable := peer("storable"):
        frozen = icecore.dumps(value, "storable:memory,netorder", losses="ignore")
        same = icecore.loads(frozen)
        found["icecore storable"] = Participant(
            partial(icecore.loads, frozen, "storable"),
            partial(icecore.dumps, value, "storable", losses="ignore"),
            lambda read: value if read == same else read,
        )
        found["storable storable"] = Participant(
            partial(storable.thaw, frozen), None, lambda read: value if read == same else read
        )
    return found


def listed(value: Any) -> Any:
    """Dicts with the keys 0, 1, … as lists."""
    if not isinstance(value, dict):
        return value
    items = {key: listed(item) for key, item in value.items()}
    return list(items.values()) if list(items) == list(range(len(items))) else items


def timed(run: Callable[[], Any]) -> float:
    """Nanoseconds of a call: the best of several rounds."""
    number = max(1, int(0.02 / max(timeit.timeit(run, number=1), 1e-7)))
    return min(timeit.repeat(run, number=number, repeat=7)) / number * 1e9


def main() -> None:
    for name, value in [("a small record", SMALL), ("a thousand records", LIST)]:
        print(f"\n{name}")
        found = participants(value)
        for who, (loads, _, seen) in found.items():
            if seen(loads()) != value:
                print(f"{who} reads something else")
        roof = timed(found["pickle"].loads)
        for who, (loads, dumps, _) in found.items():
            read = timed(loads)
            written = f"dumps {timed(dumps):12.0f} ns" if dumps is not None else "only reads"
            print(f"{who:30} loads {read:12.0f} ns  {read / roof:6.2f} of pickle   {written}")


if __name__ == "__main__":
    main()
