"""What values become, and what is raised."""

from __future__ import annotations

import copy
import pickle
import weakref
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import icecore
import pytest
from icecore import Record, Symbol

USER = b'O:8:"App\\User":3:{s:4:"name";s:5:"Alice";s:6:"\0*\0age";i:7;s:12:"\0App\\User\0id";i:1;}'


def test_plain_values_are_read_and_written() -> None:
    value = {"i": 1, "f": 2.5, "t": "é", "n": None, "b": True, "l": [1, [2]], 7: "seven"}
    for format in ["php", "igbinary", "marshal"]:
        assert icecore.loads(icecore.dumps(value, format), format) == value


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, -(2**63), 2**63, 2**64, 2**70, -(2**200) - 1])
def test_integers_may_have_any_size(number: int) -> None:
    assert icecore.loads(icecore.dumps(number, "marshal")) == number


def test_byte_strings_become_what_strings_says() -> None:
    data = b'a:2:{i:0;s:2:"\xc3\xa9";i:1;s:1:"\xff";}'
    assert icecore.loads(data) == ["é", b"\xff"]
    assert icecore.loads(data, strings="bytes") == [b"\xc3\xa9", b"\xff"]
    assert icecore.loads(data, strings="latin1") == ["Ã©", "ÿ"]
    with pytest.raises(icecore.Error) as raised:
        icecore.loads(data, strings="str")
    assert (raised.value.kind, raised.value.path) == ("unrepresentable", "$[1]")
    # The rule holds for keys, and one call does not disturb the next.
    assert icecore.loads(b'a:1:{s:1:"k";i:1;}', strings="bytes") == {b"k": 1}
    assert icecore.loads(b'a:1:{s:1:"k";i:1;}') == {"k": 1}


def test_symbols_are_a_subclass_of_str() -> None:
    value = icecore.loads(b"\x04\x08{\x06:\aidi\x06")
    assert value == {"id": 1} and value["id"] == 1
    assert isinstance(next(iter(value)), Symbol)
    assert type(next(iter(icecore.loads(b"\x04\x08{\x06:\aidi\x06", symbols="str")))) is str
    assert icecore.dumps(value, "marshal") == b"\x04\x08{\x06:\aidi\x06"


def test_objects_become_records() -> None:
    user = icecore.loads(USER)
    assert isinstance(user, Record)
    assert (user.cls, user.fields, user["name"], "age" in user, len(user)) == (
        "App\\User",
        {"name": "Alice", "age": 7, "id": 1},
        "Alice",
        True,
        3,
    )
    assert user.visibility == {"age": "protected", "id": "private"}
    assert icecore.dumps(user, "php") == USER
    user["name"] = "Bob"
    assert user != icecore.loads(USER) and repr(user).startswith("Record('App\\\\User', {'name': 'Bob'")
    assert icecore.loads(USER) == icecore.loads(USER)
    assert len({icecore.loads(USER), icecore.loads(USER)}) == 2
    assert pickle.loads(pickle.dumps(user)) == user and copy.deepcopy(user) == user
    assert weakref.ref(user)() is user


def test_private_members_of_a_base_class_keep_their_names() -> None:
    data = b'O:1:"B":2:{s:4:"\0A\0x";i:1;s:1:"x";i:2;}'
    record = icecore.loads(data)
    assert record.fields == {"\0A\0x": 1, "x": 2}
    assert icecore.dumps(record) == data


def test_factories_create_the_values_of_objects() -> None:
    class User:
        def __init__(self, fields: dict[str, object]) -> None:
            self.fields = fields

    data = b"a:2:{i:0;" + USER + b'i:1;O:1:"B":0:{}}'
    user, other = icecore.loads(data, classes={"App\\User": User})
    assert isinstance(user, User) and user.fields["age"] == 7 and isinstance(other, Record)
    pairs = icecore.loads(data, classes=lambda cls, fields: (cls, len(fields)))
    assert pairs == [("App\\User", 3), ("B", 0)]
    shared = b'a:2:{i:0;O:1:"B":0:{}i:1;r:2;}'
    one, two = icecore.loads(shared, classes={"B": lambda fields: object()})
    assert one is two


def test_a_factory_in_a_cycle_is_an_error() -> None:
    data = b'O:1:"B":1:{s:4:"self";r:1;}'
    record = icecore.loads(data)
    assert record["self"] is record
    with pytest.raises(icecore.Error, match="factory has not made yet"):
        icecore.loads(data, classes={"B": dict})


def test_classes_that_are_not_allowed_are_refused() -> None:
    data = b'a:2:{i:0;O:8:"App\\User":0:{}i:1;O:1:"B":0:{}}'
    with pytest.raises(icecore.ClassError) as raised:
        icecore.loads(data, allow=["App\\*"])
    assert raised.value.classes == {"B": "$[1]"} and raised.value.path == "$[1]"
    assert len(icecore.loads(data, allow=["App\\*", "B"])) == 2
    assert len(icecore.loads(data, allow=["App\\*"], classes={"B": dict})) == 2


def test_loads_imports_no_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *rest: object) -> None:
        raise AssertionError(f"{name} was imported")

    icecore.loads(USER)
    monkeypatch.setattr("builtins.__import__", refuse)
    record = icecore.loads(b'O:13:"os\\path\\Popen":1:{s:1:"x";O:10:"subprocess":0:{}}')
    assert record.cls == "os\\path\\Popen"


def test_links_and_cycles_are_kept() -> None:
    value: list[object] = [[1], None]
    value[1] = value[0]
    value.append(value)
    for format in ["php", "igbinary", "marshal", "storable:memory,netorder", "sereal"]:
        again = icecore.loads(icecore.dumps(value, format, losses="ignore"), format.partition(":")[0])
        assert again[0] is again[1] and again[2] is again, format


def test_references_of_php_become_the_same_object() -> None:
    one, two = icecore.loads(b"a:2:{i:0;a:1:{i:0;i:1;}i:1;R:2;}")
    assert one is two
    # A scalar has no identity: it is simply the same value.
    assert icecore.loads(b"a:2:{i:0;i:5;i:1;R:2;}") == [5, 5]


def test_copies_become_separate_values() -> None:
    shared = [1]
    data = icecore.dumps({"a": shared, "b": [2]}, "igbinary")
    assert icecore.loads(data) == {"a": [1], "b": [2]}


def test_errors_have_offset_and_path() -> None:
    with pytest.raises(icecore.Error) as raised:
        icecore.loads(b'a:1:{s:1:"k";a:1:{i:0;i:x;}}', "php")
    error = raised.value
    assert isinstance(error, ValueError)
    assert (error.kind, error.path) == ("malformed", "$.k[0]")
    assert error.offset is not None and error.expected and error.found
    assert pickle.loads(pickle.dumps(error)).offset == error.offset
    with pytest.raises(icecore.Error) as raised:
        icecore.loads(b"i:1;i:2;", "php")
    assert raised.value.kind == "trailing"


def test_different_keys_that_are_equal_in_python_are_an_error() -> None:
    two = b'\x04\x08{\x07:\x06ai\x06I"\x06a\x06:\x06ETi\x07'
    with pytest.raises(icecore.Error, match="tells apart"):
        icecore.loads(two)
    assert icecore.loads(b'{"a":1,"a":2}', "json") == {"a": 2}
    with pytest.raises(icecore.Error, match="tells apart"):
        icecore.loads(b'{"$icecore":1,"$value":{"$map":[["a",0],["a",1]],"$identity":true}}', "json")


def test_keys_of_other_kinds_are_read() -> None:
    value = {(1, 2): "pair", None: 0, 1.5: 1, Symbol("s"): 2}
    assert icecore.loads(icecore.dumps(value, "marshal")) == value
    with pytest.raises(icecore.Error, match="a key that a dict can have"):
        icecore.loads(b"\x04\x08{\x06{\x00i\x06")


def test_times_become_python_values_with_known() -> None:
    moment = datetime(2026, 2, 2, 3, 40, 0, 500000, timezone(timedelta(hours=2)))
    data = icecore.dumps(moment, "php")
    assert isinstance(icecore.loads(data), Record)
    assert icecore.loads(data, known=True) == moment
    assert icecore.loads(icecore.dumps([Decimal("1.50")], "json")) == ["1.50"]
    berlin = (
        b'O:8:"DateTime":3:{s:4:"date";s:26:"2026-07-02 03:40:00.000000";s:13:"timezone_type";i:3;s:8:"timezone";%s}'
    )
    there = icecore.loads(berlin % b's:13:"Europe/Berlin";', known=True)
    assert there.isoformat() == "2026-07-02T03:40:00+02:00"
    # A zone that exists only in the data is never looked up.
    assert isinstance(icecore.loads(berlin % b's:13:"os/path/posix";', known=True), Record)


def test_default_is_called_for_other_types() -> None:
    class Odd:
        pass

    with pytest.raises(TypeError, match=r"in \$\.a.*default="):
        icecore.dumps({"a": [Odd()]})
    assert icecore.dumps([Odd()], default=lambda value: "odd") == b'a:1:{i:0;s:3:"odd";}'
    assert icecore.dumps([{1}], default=list) == b"a:1:{i:0;a:1:{i:0;i:1;}}"
    # A default that returns such a value for ever ends with an error.
    with pytest.raises(TypeError):
        icecore.dumps(Odd(), default=lambda value: Odd())


def test_losses_warn_raise_or_are_collected() -> None:
    record = Record("A", {"x": 1})
    with pytest.warns(icecore.LossWarning, match="class name dropped"):
        assert icecore.dumps(record, "json") == b'{"x":1}'
    losses: list[icecore.Loss] = []
    icecore.dumps(record, "json", losses=losses)
    assert [(loss.kind, loss.count, loss.path) for loss in losses] == [("class", 1, "$")]
    with pytest.raises(icecore.Error, match="class name"):
        icecore.dumps(record, "json", losses="raise")
    with pytest.raises(icecore.Error):
        icecore.convert(b"i:7;", "json", losses="sometimes")


def test_options_of_formats_are_keyword_arguments() -> None:
    assert icecore.dumps({"b": 1, "a": 2}, "json", sort_keys=True) == b'{"a":2,"b":1}'
    with pytest.raises(icecore.Error, match="option"):
        icecore.dumps({}, "json", sort_kyes=True)


def test_depth_is_limited_and_needs_no_native_stack() -> None:
    deep: list[object] = []
    for _ in range(9_000):
        deep = [deep]
    data = icecore.dumps(deep)
    value = icecore.loads(data)
    for _ in range(9_000):
        value = value[0]
    assert value == []
    for _ in range(2_000):
        deep = [deep]
    with pytest.raises(icecore.Error) as raised:
        icecore.dumps(deep)
    assert raised.value.kind == "limit"
    with pytest.raises(icecore.Error):
        icecore.loads(data, limits={"depth": 100})
    # Nested records that are not in lists are dropped by a loop.
    record = Record("A", None)
    for _ in range(300_000):
        record = Record("A", record)
    del record


def test_input_may_be_any_buffer_or_text() -> None:
    for data in [b"i:7;", bytearray(b"i:7;"), memoryview(b"i:7;"), "i:7;"]:
        assert icecore.loads(data) == 7
    with pytest.raises(icecore.Error, match="bytes"):
        icecore.loads(7)  # type: ignore[arg-type]


def test_detect_classes_and_inspect_describe_data() -> None:
    found = icecore.detect(icecore.dumps([1, USER], "gzip/base64/php"))
    assert found is not None
    assert (found.stages, found.readable, found.certainty) == (["gzip", "base64", "php"], True, found.certainty)
    assert icecore.detect(b"no such thing") is None
    assert icecore.classes(USER) == [icecore.ClassUse("App\\User", "object", 1, "$")]
    assert icecore.convert(USER, "json", losses="ignore") == b'{"name":"Alice","age":7,"id":1}'


def test_a_document_is_shown_as_text_and_html() -> None:
    document = icecore.inspect(b'a:1:{s:3:"<b>";O:1:"A":1:{s:1:"x";i:1;}}')
    html = document._repr_html_()
    assert "<details" in html and "&lt;b&gt;" in html and '"<b>"' not in html
    assert ">A</span>" in html and "34–38" in html
    assert "object A" in str(document) and document.error is None
    broken = icecore.inspect(b"a:2:{i:0;i:7;", "php")
    assert broken.error is not None and "int 7" in str(broken)
