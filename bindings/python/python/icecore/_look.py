"""What is in bytes: nothing is built."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from . import _icecore
from ._errors import Error


@dataclass(frozen=True)
class Detection:
    """What some bytes are.

    ``stage`` is what ``loads`` takes as format, None if the bytes are not read; ``stages`` are its parts, outermost
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
    """A class that the data names: in which way, how often, and where first."""

    name: str
    kind: str
    count: int
    path: str


@dataclass(frozen=True)
class Row:
    """A value in a document: how deep, the last step of its path, and what it is."""

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
        """Which bytes it is."""
        if self.start is None:
            return ""
        return f"{self.start}–{self.end}" if self.end is not None else f"{self.start}–"


class Document:
    """A document for people: as text a tree, in a notebook one that folds."""

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
        for at, row in enumerate(self.rows):
            while open_depths and open_depths[-1] >= row.depth:
                open_depths.pop()
                parts.append("</details>")
            following = self.rows[at + 1] if at + 1 < len(self.rows) else None
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
    """What the bytes are; None, if nobody knows."""
    found = _icecore.detect(data)
    return Detection(**found) if found is not None else None


def classes(data: Any, format: str | None = None, *, limits: dict[str, int] | None = None) -> list[ClassUse]:
    """The classes that the data names, in the order in which they first occur."""
    return [ClassUse(*use) for use in _icecore.classes(data, format, limits=limits)]


def inspect(
    data: Any,
    format: str | None = None,
    *,
    items: int = 100,
    text: int = 80,
    limits: dict[str, int] | None = None,
) -> Document:
    """The document for people: of each list ``items`` items, of each string ``text`` characters. What is wrong
    with the data is in ``error``, and not raised: the rows go as far as the data could be read."""
    name, rows, error = _icecore.rows(data, format, items=items, text=text, limits=limits)
    return Document(name, [Row(*row) for row in rows], error)


for _class in (Detection, ClassUse, Row, Document):
    _class.__module__ = "icecore"
