"""What is raised and warned of."""

from __future__ import annotations

import warnings
from dataclasses import dataclass


class Error(ValueError):
    """What is wrong with the data, or with what was asked for.

    ``kind`` is a word (``truncated``, ``malformed``, ``limit``, ``usage``, …), ``offset`` says where in the
    bytes, ``path`` where in the value (``$.staff[3].name``). Each may be None but ``kind``.
    """

    def __init__(
        self,
        message: str,
        kind: str = "usage",
        offset: int | None = None,
        path: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        format: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.offset = offset
        self.path = path
        self.expected = expected
        self.found = found
        self.format = format
        self.row: int | None = None

    def __reduce__(self) -> tuple[object, ...]:
        parts = (str(self), self.kind, self.offset, self.path, self.expected, self.found, self.format)
        return (Error, parts, {"row": self.row})


class ClassError(Error):
    """The data names classes that ``allow`` does not: ``classes`` has the first path of each."""

    def __init__(self, classes: dict[str, str]) -> None:
        name, path = next(iter(classes.items()), ("", "$"))
        more = f" and {len(classes) - 1} more" if len(classes) > 1 else ""
        super().__init__(
            f"class {name!r} at {path}{more} is not allowed: name it in allow= or in classes=",
            kind="class",
            path=path,
            found=name,
        )
        self.classes = classes

    def __reduce__(self) -> tuple[object, ...]:
        return (ClassError, (self.classes,))


class LossWarning(UserWarning):
    """Something that a format can't say was left out or written as the nearest it has."""


class ExtraWarning(UserWarning):
    """Rows of a column have entries that no field of the type has that was learned from them."""


@dataclass(frozen=True)
class Loss:
    """What a format can't say: of which kind, how often, and where first."""

    kind: str
    count: int
    path: str
    text: str

    def __str__(self) -> str:
        return self.text


def lost(losses: list[Loss], word: str) -> None:
    """Warns of losses, or raises them."""
    text = "; ".join(loss.text for loss in losses)
    if word == "raise":
        raise Error(f"something is lost: {text}", kind="unrepresentable", path=losses[0].path)
    if word == "warn":
        warnings.warn(text, LossWarning, stacklevel=2)


for _class in (Error, ClassError, ExtraWarning, Loss, LossWarning):
    _class.__module__ = "icecore"
