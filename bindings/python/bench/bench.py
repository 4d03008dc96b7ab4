"""Times `loads` and `dumps` against other packages, after comparing the results.

    python bench/bench.py

Competitors are `phpserialize` and `rubymarshal`. `pickle`, and `msgspec` and `orjson` on formats of their own, show the
best possible time. Packages that are not installed are named and left out.
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


def import_package(name: str) -> Any:
    """Returns a package, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"left out: {name} is not installed")
        return None


class Participant(NamedTuple):
    """The calls that read and write a value."""

    loads: Callable[[], Any]
    #: None if the package only reads.
    dumps: Callable[[], Any] | None
    #: Converts the result for the comparison, for packages that leave a step to their callers. Not timed.
    normalize: Callable[[Any], Any] = lambda value: value


def participants(value: Any) -> dict[str, Participant]:
    """Returns all installed packages, with the calls for one value."""
    result = {}
    data = {}
    for format in ["php", "marshal", "igbinary", "sereal"]:
        data[format] = icecore.dumps(value, format, losses="ignore")
        result[f"icecore {format}"] = Participant(
            partial(icecore.loads, data[format], format), partial(icecore.dumps, value, format, losses="ignore")
        )
    result["icecore, php found by looking"] = Participant(
        partial(icecore.loads, data["php"]), partial(icecore.dumps, value)
    )
    result["pickle"] = Participant(partial(pickle.loads, pickle.dumps(value, 5)), partial(pickle.dumps, value, 5))
    if msgspec := import_package("msgspec"):
        pack = msgspec.msgpack
        result["msgspec msgpack"] = Participant(partial(pack.decode, pack.encode(value)), partial(pack.encode, value))
    if orjson := import_package("orjson"):
        result["orjson json"] = Participant(partial(orjson.loads, orjson.dumps(value)), partial(orjson.dumps, value))
    if phpserialize := import_package("phpserialize"):
        loads = partial(phpserialize.loads, data["php"], decode_strings=True)
        result["phpserialize php"] = Participant(loads, partial(phpserialize.dumps, value), lists_from_dicts)
    if reader := import_package("rubymarshal.reader"):
        writer = importlib.import_module("rubymarshal.writer")
        result["rubymarshal marshal"] = Participant(
            partial(reader.loads, data["marshal"]), partial(writer.writes, value)
        )
    if storable := import_package("storable"):
        frozen = icecore.dumps(value, "storable:memory,netorder", losses="ignore")
        same = icecore.loads(frozen)
        result["icecore storable"] = Participant(
            partial(icecore.loads, frozen, "storable"),
            partial(icecore.dumps, value, "storable", losses="ignore"),
            lambda read: value if read == same else read,
        )
        result["storable storable"] = Participant(
            partial(storable.thaw, frozen), None, lambda read: value if read == same else read
        )
    return result


def lists_from_dicts(value: Any) -> Any:
    """Returns the value with dicts whose keys are 0, 1, … as lists."""
    if not isinstance(value, dict):
        return value
    items = {key: lists_from_dicts(item) for key, item in value.items()}
    return list(items.values()) if list(items) == list(range(len(items))) else items


def measure_ns(run: Callable[[], Any]) -> float:
    """Returns the nanoseconds of a call: the best of several rounds."""
    number = max(1, int(0.02 / max(timeit.timeit(run, number=1), 1e-7)))
    return min(timeit.repeat(run, number=number, repeat=7)) / number * 1e9


def main() -> None:
    for name, value in [("a small record", SMALL), ("a thousand records", LIST)]:
        print(f"\n{name}")
        packages = participants(value)
        for package, (loads, _, normalize) in packages.items():
            if normalize(loads()) != value:
                print(f"{package} reads something else")
        pickle_ns = measure_ns(packages["pickle"].loads)
        for package, (loads, dumps, _) in packages.items():
            read = measure_ns(loads)
            written = f"dumps {measure_ns(dumps):12.0f} ns" if dumps is not None else "only reads"
            print(f"{package:30} loads {read:12.0f} ns  {read / pickle_ns:6.2f} of pickle   {written}")


if __name__ == "__main__":
    main()
