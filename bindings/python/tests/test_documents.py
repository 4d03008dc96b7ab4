"""Many documents in one file."""

from __future__ import annotations

import io
from pathlib import Path

import icecore
import pytest


class Dribble(io.RawIOBase):
    """A stream that returns one byte at a time, like a slow socket."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self.data.read(1)


VALUES = [7, "text", [1, 2, {"a": None}], {"k": "v" * 300}, [], -5]


@pytest.mark.parametrize("format", ["php", "marshal", "ndjson", "igbinary", "storable", "json"])
def test_documents_are_read_one_after_another(format: str, tmp_path: Path) -> None:
    values = VALUES if format != "storable" else [[value] for value in VALUES]
    document_format = "json" if format == "ndjson" else format
    documents = [icecore.dumps(value, document_format, losses="ignore") for value in values]
    data = (b"\n" if "json" in format else b"").join(documents)
    assert list(icecore.iter_documents(io.BytesIO(data), format)) == values
    assert list(icecore.iter_documents(Dribble(data), format)) == values
    path = tmp_path / "file"
    path.write_bytes(data)
    assert list(icecore.iter_documents(path, format)) == values


def test_the_format_of_the_first_document_is_used_for_all() -> None:
    assert list(icecore.iter_documents(io.BytesIO(b"a:1:{i:0;i:1;}a:0:{}"))) == [[1], []]


def test_a_truncated_document_is_an_error_with_its_offset_in_the_file() -> None:
    documents = icecore.iter_documents(io.BytesIO(b"i:1;a:1:{i:0;"), "php")
    assert next(documents) == 1
    with pytest.raises(icecore.Error) as raised:
        next(documents)
    assert raised.value.kind == "truncated" and raised.value.offset == 13
    assert list(documents) == []


def test_a_document_may_span_several_chunks() -> None:
    values = [["x" * 1000, number] for number in range(500)]
    data = b"".join(icecore.dumps(value) for value in values)
    assert list(icecore.iter_documents(io.BytesIO(data), "php")) == values


def test_iter_documents_accepts_the_arguments_of_loads() -> None:
    data = b'O:1:"A":0:{}' * 2
    assert list(icecore.iter_documents(io.BytesIO(data), "php", classes=lambda cls, fields: cls)) == ["A", "A"]
    with pytest.raises(icecore.Error):
        list(icecore.iter_documents(io.BytesIO(data), "php", strings="other"))
