"""Hostile data: nothing that the data names is imported, opened or run, and no small input causes much work."""

from __future__ import annotations

import builtins
import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import icecore
import pytest
from conftest import blobs

#: Audit events of code, files, processes and connections.
WATCHED = ("import", "exec", "compile", "open", "os.", "subprocess.", "socket.", "ctypes.", "marshal.", "pickle.", "code.", "urllib.")

#: Names of classes or members in hostile data that would do something if they were looked up.
NAMES = [
    b"os", b"os.system", b"posix.system", b"builtins.eval", b"subprocess.Popen", b"__main__.Pwn", b"antigravity", b"this",
    b"__import__", b"__class__", b"__dict__", b"__reduce__", b"__setstate__", b"__init__", b"__del__", b"__missing__",
    b"__hash__", b"__eq__", b"cls", b"fields", b"value", b"form", b"visibility", b"default", b"_part_names", b"__weakref__",
    b"DateTime", b"Decimal", b"BigDecimal", b"Rational", b"Set", b"Time", b"Date", b"DateTimeZone", b"../../etc/passwd",
    b"Europe/Berlin", b"localtime",
]

Watch = Callable[[Callable[[], Any]], list[tuple[str, str]]]

_events: list[tuple[str, str]] = []
_is_watching = False


def _log(event: str, detail: str) -> None:
    if _is_watching:
        _events.append((event, detail))


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _is_watching and event.startswith(WATCHED):
        _log(event, repr(arguments)[:200])


class _Finder:
    """Logs the names of modules that are looked up."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        _log("find_spec", name)


class Pwn:
    """A class of the program. No data may create an object of it, or call a method of it."""

    def __new__(cls, *_: Any) -> Pwn:
        _log("Pwn", "__new__")
        return super().__new__(cls)

    def __setstate__(self, _: Any) -> None:
        _log("Pwn", "__setstate__")


@pytest.fixture(scope="module")
def watch() -> Iterator[Watch]:
    """Returns a function that runs another one, and returns the events that must not happen meanwhile."""
    # An audit hook stays until the process ends.
    sys.addaudithook(_hook)
    finder = _Finder()
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    original_import = builtins.__import__
    setattr(sys.modules["__main__"], "Pwn", Pwn)

    def log_import(name: str, *rest: Any, **keywords: Any) -> Any:
        _log("__import__", name)
        return original_import(name, *rest, **keywords)

    def run(work: Callable[[], Any]) -> list[tuple[str, str]]:
        global _is_watching
        del _events[:]
        builtins.__import__ = log_import
        _is_watching = True
        try:
            work()
        except (ValueError, OverflowError, RecursionError):
            pass  # circles have no end as text
        finally:
            _is_watching = False
            builtins.__import__ = original_import
        return list(_events)

    try:
        yield run
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
        delattr(sys.modules["__main__"], "Pwn")


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Returns the bytes with a few random changes."""
    result = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        index = rng.randrange(len(result)) if result else 0
        kind = rng.randrange(7)
        if kind == 0 and result:
            result[index] = rng.randrange(256)
        elif kind == 1 and result:
            result[index] ^= 1 << rng.randrange(8)
        elif kind == 2:
            result[index:index] = result[index : index + rng.randrange(1, 20)]
        elif kind == 3:
            del result[index : index + rng.randrange(1, 4)]
        elif kind == 4:
            del result[index + 1 :]
        else:
            name = rng.choice(NAMES)
            result[index : index + len(name)] = name
    return bytes(result)


def samples() -> list[tuple[str, bytes]]:
    """Documents of all formats, with hostile names among them."""
    formats = ("storable", "sereal", "marshal", "php", "igbinary")
    result = [(format, data) for format in formats for _, data in blobs(format) if len(data) < 400]
    for name in NAMES:
        text = name.decode()
        record = icecore.Record(text, {text: 1, "args": ["echo"], "__class__": text, "__dict__": {"a": text}})
        for format in (*formats, "json:typed"):
            result.append((format, icecore.dumps([record, record], format, losses="ignore")))
        size = len(name)
        result.append(("php", b'C:%d:"%s":%d:{%s}' % (size, name, size, name)))
        result.append(("php", b'E:%d:"%s:%s";' % (2 * size + 1, name, name)))
        result.append(("marshal", b"\x04\bu:" + bytes([size + 5]) + name + b"\x06x"))
        result.append(("marshal", b"\x04\bc" + bytes([size + 5]) + name))
    return result


def options(rng: random.Random) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if rng.randrange(3) == 0:
        result["known"] = True
    if rng.randrange(4) == 0:
        result["allow"] = ["App*", "stdClass", "os*"]
    if rng.randrange(4) == 0:
        result["strings"] = rng.choice(["bytes", "latin1", "str"])
    return result


def do_first_uses() -> None:
    """Does what a process does only once: imports, and listing the time zones."""
    berlin = {"date": "2020-01-01 00:00:00.000000", "timezone_type": 3, "timezone": "Europe/Berlin"}
    time = icecore.dumps(icecore.Record("DateTimeImmutable", berlin), "php")
    for known in (False, True):
        icecore.loads(time, known=known)
    icecore.classes(time)
    icecore.detect(time)
    str(icecore.inspect(time))
    icecore.convert(time, "json")
    with pytest.raises(icecore.Error):
        icecore.loads(time[:-1])


@pytest.mark.filterwarnings("ignore::icecore.LossWarning")
def test_no_code_that_the_data_names_runs(watch: Watch) -> None:
    count = int(os.environ.get("ICECORE_HOSTILE", "200000" if os.environ.get("ICECORE_FULL") else "20000"))
    seed = int(os.environ.get("ICECORE_SEED", "1"))
    documents = samples()
    do_first_uses()
    read = 0

    def load_and_show(*arguments: Any, **arguments_of_loads: Any) -> None:
        nonlocal read
        repr(icecore.loads(*arguments, **arguments_of_loads))
        read += 1

    for number in range(count):
        rng = random.Random(seed << 32 | number)
        format, data = documents[rng.randrange(len(documents))]
        data = mutate(data, rng)
        arguments_of_loads = options(rng)
        calls: list[Callable[[], Any]] = [
            lambda: load_and_show(data, format, **arguments_of_loads),
            lambda: load_and_show(data, format, **arguments_of_loads),
            lambda: load_and_show(data, **arguments_of_loads),
            lambda: load_and_show(memoryview(bytearray(data)), format, **arguments_of_loads),
            lambda: icecore.classes(data, format),
            lambda: icecore.convert(data, "json", format),
            lambda: str(icecore.inspect(data, format)),
        ]
        events = watch(rng.choice(calls))
        # With known=True a time may need the file of its zone, one of the system's list.
        unexpected = [
            (event, detail)
            for event, detail in events
            if not (arguments_of_loads.get("known") and event == "open" and "zoneinfo" in detail and ".." not in detail)
        ]
        assert not unexpected, (number, format, data, arguments_of_loads, unexpected)
    assert read > count / 20


def test_the_watch_detects_imports_and_calls(watch: Watch) -> None:
    import pickle

    frozen = b"c__main__\nPwn\n)\x81."
    assert {event for event, _ in watch(lambda: pickle.loads(frozen))} >= {"pickle.find_class", "Pwn"}
    assert [event for event, _ in watch(lambda: open(os.devnull).close())] == ["open"]
    assert [event for event, _ in watch(lambda: __import__("json"))] == ["__import__"]


def test_many_keys_with_the_same_hash_are_an_error() -> None:
    prime = sys.hash_info.modulus

    def hostile(count: int) -> bytes:
        return icecore.dumps({number * prime << 64: None for number in range(1, count)}, "marshal")

    # Creating such a dict takes as long as reading it would, so the dict is small.
    assert len(icecore.loads(hostile(1000), "marshal")) == 999
    with pytest.raises(icecore.Error) as caught:
        icecore.loads(hostile(1500), "marshal")
    assert caught.value.kind == "limit"
    # Other large integers are harmless.
    many = {number**5 + (1 << 70): number for number in range(5000)}
    assert icecore.loads(icecore.dumps(many, "marshal"), "marshal") == many


def test_names_of_members_become_keys_and_not_attributes() -> None:
    for name in ("__class__", "__dict__", "__reduce__", "cls", "fields", "form", "value", "visibility"):
        record = icecore.loads(icecore.dumps(icecore.Record("A", {name: "x"}), "php"), "php")
        assert type(record) is icecore.Record
        assert (record.cls, record.form, record.value, record.visibility) == ("A", "object", None, None)
        assert record.fields == {name: "x"}


def test_a_buffer_is_locked_only_while_it_is_read() -> None:
    data = bytearray(icecore.dumps(list(range(20000)), "php"))
    view = memoryview(data)
    assert icecore.loads(view, "php")[-1] == 19999
    view.release()
    data.append(1)


def test_classes_are_checked_before_a_factory_runs() -> None:
    called: list[str] = []

    def factory(name: str, fields: Any) -> Any:
        called.append(name)
        return name

    good = b'a:2:{i:0;O:1:"A":0:{}i:1;O:1:"B":0:{}}'
    with pytest.raises(icecore.ClassError):
        icecore.loads(good, "php", classes=factory, allow=["A"])
    with pytest.raises(icecore.Error):
        icecore.loads(good[:-1], "php", classes=factory)
    assert called == []
