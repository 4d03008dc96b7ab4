"""Many documents, one after another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from ._icecore import Documents

_CHUNK_SIZE = 64 << 10


def iter_documents(file: str | os.PathLike[str] | BinaryIO, format: str | None = None, **options: Any) -> Iterator[Any]:
    """Iterates over the documents of a file or a stream; each value is what ``loads`` would return.

    ``file`` is a path, or an object with ``read``. It is read in chunks, so memory is needed only for the longest
    document. Without ``format`` it is detected from the first document. The other arguments are those of ``loads``.
    After an error there are no further values.
    """
    documents = Documents(format, **options)
    if isinstance(file, (str, os.PathLike)):
        return _iterate(documents, open(file, "rb"), True)
    return _iterate(documents, file, False)


def _iterate(documents: Documents, file: BinaryIO, must_close: bool) -> Iterator[Any]:
    try:
        while not documents.ended:
            is_complete, value = documents.next()
            if is_complete:
                yield value
                continue
            chunk = file.read(_CHUNK_SIZE)
            if isinstance(chunk, str):
                raise TypeError("the file was opened as text: open it with mode 'rb'")
            documents.feed(bytes(chunk or b""))
            if not chunk:
                yield from _iterate_rest(documents)
                return
    finally:
        if must_close:
            file.close()


def _iterate_rest(documents: Documents) -> Iterator[Any]:
    while True:
        is_complete, value = documents.next()
        if not is_complete:
            return
        yield value
