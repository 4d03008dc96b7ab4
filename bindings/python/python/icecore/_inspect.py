"""Queries about data: its format, its classes, its tree. No value is built."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from . import _icecore
from ._errors import Error


@dataclass(frozen=True)
class Detection:
    """The detected format of some bytes.

    ``stage`` is the ``format`` for ``loads``, or None if the bytes can't be read. ``stages`` are its parts, outermost
    first. ``certainty`` is ``sure``, ``likely`` or ``possible``.
    """

    format: str
    title: str
    variant: str
    certainty: str
    wrappers: list[str]
    readable: bool
    stage: str | None

    @property
    def stages(self) -> list[str]:
        return [*self.wrappers, self.format]

    def __str__(self) -> str:
        return "/".join(self.stages)


@dataclass(frozen=True)
class ClassUse:
    """A class in the data: its name, how it is used, how often, and the path of the first use."""

    name: str
    kind: str
    count: int
    path: str


@dataclass(frozen=True)
class Row:
    """A value in a document: its depth, the last step of its path, its kind and its contents."""

    depth: int
    step: str
    kind: str
    cls: str | None
    value: str | None
    count: int | None
    start: int | None
    end: int | None

    def __str__(self) -> str:
        words = [self.step, self.kind] if self.step else [self.kind]
        words += [self.cls] if self.cls else []
        words += [self.value] if self.value is not None else []
        words += [f"({self.count})"] if self.count is not None and self.value is None else []
        return " ".join(words)

    @property
    def offsets(self) -> str:
        """The range of bytes of the value, as text."""
        if self.start is None:
            return ""
        return f"{self.start}–{self.end}" if self.end is not None else f"{self.start}–"


class Document:
    """A document for people: ``str`` of it is a tree, and a notebook shows a tree that can be folded."""

    def __init__(self, format: str, rows: list[Row], error: Error | None) -> None:
        self.format = format
        self.rows = rows
        self.error = error

    def __str__(self) -> str:
        lines = [self.format]
        lines += ["  " * row.depth + str(row) + (f"  [{row.offsets}]" if row.offsets else "") for row in self.rows]
        if self.error is not None:
            lines.append(f"! {self.error}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<icecore.Document {self.format}, {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        parts = [f'<div style="font-family:monospace"><b>{escape(self.format)}</b>']
        open_depths: list[int] = []
        for index, row in enumerate(self.rows):
            while open_depths and open_depths[-1] >= row.depth:
                open_depths.pop()
                parts.append("</details>")
            following = self.rows[index + 1] if index + 1 < len(self.rows) else None
            if following is not None and following.depth > row.depth:
                is_open = " open" if row.depth < 2 else ""
                parts.append(f'<details{is_open} style="margin-left:1em"><summary>{_html(row)}</summary>')
                open_depths.append(row.depth)
            else:
                parts.append(f'<div style="margin-left:2em">{_html(row)}</div>')
        parts.extend("</details>" for _ in open_depths)
        if self.error is not None:
            parts.append(f'<div style="color:#b00">{escape(str(self.error))}</div>')
        parts.append("</div>")
        return "".join(parts)


def _html(row: Row) -> str:
    step = f"<b>{escape(row.step)}</b> " if row.step else ""
    cls = f' <span style="color:#808">{escape(row.cls)}</span>' if row.cls else ""
    value = f" {escape(row.value)}" if row.value is not None else ""
    count = f" ({row.count})" if row.count is not None and row.value is None else ""
    offsets = f' <small style="color:#888">{row.offsets}</small>' if row.offsets else ""
    return f"{step}<i>{escape(row.kind)}</i>{cls}{value}{count}{offsets}"


def detect(data: Any) -> Detection | None:
    """Detects the format of the bytes. Returns None if no format fits."""
    found = _icecore.detect(data)
    return Detection(**found) if found is not None else None


def classes(data: Any, format: str | None = None, *, limits: dict[str, int] | None = None) -> list[ClassUse]:
    """Lists the classes in the data, in the order in which they first occur."""
    return [ClassUse(*use) for use in _icecore.classes(data, format, limits=limits)]


def inspect(
    data: Any,
    format: str | None = None,
    *,
    items: int = 100,
    text: int = 80,
    limits: dict[str, int] | None = None,
) -> Document:
    """Returns the document as a tree for people.

    The tree shows up to ``items`` items of each list, and ``text`` characters of each string. An error in the data is
    not raised: it is in ``error``, and the rows contain the values before it.
    """
    name, rows, error = _icecore.rows(data, format, items=items, text=text, limits=limits)
    return Document(name, [Row(*row) for row in rows], error)


for _class in (Detection, ClassUse, Row, Document):
    _class.__module__ = "icecore"
