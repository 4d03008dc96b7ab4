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
from typing import Any

import icecore

SMALL = {
    "id": 7,
    "name": "Alice",
    "email": "alice@example.com",
    "roles": ["admin", "dev"],
    "active": True,
    "score": 2.5,
}
LIST = [{**SMALL, "id": number} for number in range(1000)]


def peer(name: str) -> Any:
    """A package, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"left out: {name} is not installed")
        return None


def participants(value: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """What reads and what writes the value."""
    data = {format: icecore.dumps(value, format) for format in ["php", "marshal", "igbinary"]}
    frozen = pickle.dumps(value, 5)
    found: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        f"icecore {format}": (
            lambda format=format: icecore.loads(data[format], format),
            lambda format=format: icecore.dumps(value, format),
        )
        for format in data
    }
    found["icecore, php found by looking"] = (lambda: icecore.loads(data["php"]), lambda: icecore.dumps(value))
    found["pickle"] = (lambda: pickle.loads(frozen), lambda: pickle.dumps(value, 5))
    if msgspec := peer("msgspec"):
        packed = msgspec.msgpack.encode(value)
        found["msgspec msgpack"] = (lambda: msgspec.msgpack.decode(packed), lambda: msgspec.msgpack.encode(value))
    if orjson := peer("orjson"):
        text = orjson.dumps(value)
        found["orjson json"] = (lambda: orjson.loads(text), lambda: orjson.dumps(value))
    if phpserialize := peer("phpserialize"):
        found["phpserialize php"] = (
            lambda: listed(phpserialize.loads(data["php"], decode_strings=True)),
            lambda: phpserialize.dumps(value),
        )
    if reader := peer("rubymarshal.reader"):
        writer = importlib.import_module("rubymarshal.writer")
        found["rubymarshal marshal"] = (lambda: reader.loads(data["marshal"]), lambda: writer.writes(value))
    return found


def listed(value: Any) -> Any:
    """A dict with the keys 0, 1, … as a list, which that package leaves to its callers. It is not timed."""
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
        for who, (loads, _) in found.items():
            assert loads() == value, f"{who} reads something else"
        if phpserialize := peer("phpserialize"):
            data = icecore.dumps(value)
            found["phpserialize php"] = (
                lambda: phpserialize.loads(data, decode_strings=True),
                found["phpserialize php"][1],
            )
        roof = timed(found["pickle"][0])
        for who, (loads, dumps) in found.items():
            read, written = timed(loads), timed(dumps)
            print(f"{who:32} loads {read:12.0f} ns  {read / roof:6.2f} of pickle   dumps {written:12.0f} ns")


if __name__ == "__main__":
    main()
