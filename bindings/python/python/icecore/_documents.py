"""Many documents, one after another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from ._icecore import Documents

_PIECE = 64 << 10


def iter_documents(file: str | os.PathLike[str] | BinaryIO, format: str | None = None, **options: Any) -> Iterator[Any]:
    """The values of a file or a stream that has documents one after another, each as ``loads`` returns it.

    ``file`` is a path or has ``read``. It is read piece by piece and needs only memory for the longest document.
    Without ``format`` the first document decides. The other arguments are those of ``loads``. After an error there
    are no further values.
    """
    documents = Documents(format, **options)
    if isinstance(file, (str, os.PathLike)):
        return _values(documents, open(file, "rb"), True)
    return _values(documents, file, False)


def _values(documents: Documents, file: BinaryIO, is_ours: bool) -> Iterator[Any]:
    try:
        while not documents.ended:
            is_there, value = documents.next()
            if is_there:
                yield value
                continue
            piece = file.read(_PIECE)
            if isinstance(piece, str):
                raise TypeError("the file was opened as text: open it with mode 'rb'")
            documents.feed(bytes(piece or b""))
            if not piece:
                yield from _rest(documents)
                return
    finally:
        if is_ours:
            file.close()


def _rest(documents: Documents) -> Iterator[Any]:
    while True:
        is_there, value = documents.next()
        if not is_there:
            return
        yield value
