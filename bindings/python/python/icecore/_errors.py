"""Exceptions and warnings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass


class Error(ValueError):
    """An error in the data or in the arguments.

    ``kind`` is the kind of the error (``truncated``, ``malformed``, ``limit``, ``usage``, …), ``offset`` its position
    in the bytes, ``path`` its position in the value (``$.staff[3].name``). All attributes except ``kind`` may be None.
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
    """The data contains classes that are not allowed. ``classes`` maps their names to their first paths."""

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
    """A format can't express a value: it was left out, or written as the nearest value of the format."""


class ExtraWarning(UserWarning):
    """Rows have entries without a field in the type that was learned from a sample."""


@dataclass(frozen=True)
class Loss:
    """Values that a format can't express: their kind, their number, and the path of the first."""

    kind: str
    count: int
    path: str
    text: str

    def __str__(self) -> str:
        return self.text


def report_losses(losses: list[Loss], action: str) -> None:
    """Warns of losses, raises an error, or does nothing; ``action`` is ``warn``, ``raise`` or ``ignore``."""
    text = "; ".join(loss.text for loss in losses)
    if action == "raise":
        raise Error(f"something is lost: {text}", kind="unrepresentable", path=losses[0].path)
    if action == "warn":
        warnings.warn(text, LossWarning, stacklevel=2)


for _class in (Error, ClassError, ExtraWarning, Loss, LossWarning):
    _class.__module__ = "icecore"
