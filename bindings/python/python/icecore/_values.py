"""Values of Perl, PHP and Ruby for which Python has no type."""

from __future__ import annotations

from typing import Any


class Symbol(str):
    """A symbol of Ruby. It equals the same text, so it finds the same keys in a dict."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Symbol({super().__repr__()})"


class _Parts:
    """A base class of values with parts. Two are equal if their parts are. Because the parts may change, the hash is
    that of the object's identity."""

    __slots__ = ("__weakref__",)
    _part_names: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._part_names)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        parts = ", ".join(repr(getattr(self, name)) for name in self._part_names)
        return f"{type(self).__name__}({parts})"

    def _fill(self, *parts: Any) -> None:
        for name, part in zip(self._part_names, parts):
            setattr(self, name, part)


class Ref(_Parts):
    """A reference of Perl to a scalar: the value of ``\\"text"``."""

    __slots__ = ("value",)
    _part_names = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value


class EnumCase(_Parts):
    """A case of an enum of PHP."""

    __slots__ = ("cls", "name")
    _part_names = ("cls", "name")

    def __init__(self, cls: str | bytes, name: str | bytes) -> None:
        self.cls = cls
        self.name = name

    def __hash__(self) -> int:
        return hash((self.cls, self.name))


class Module(_Parts):
    """The name of a class or a module as a value. ``form`` is ``object`` for a class, ``module`` for a module, or
    ``variable`` for a glob of Perl."""

    __slots__ = ("name", "form")
    _part_names = ("name", "form")

    def __init__(self, name: str | bytes, form: str = "object") -> None:
        self.name = name
        self.form = form

    def __hash__(self) -> int:
        return hash((self.name, self.form))


class Regexp(_Parts):
    """A regular expression in the syntax of its language. It is not compiled."""

    __slots__ = ("pattern", "flags")
    _part_names = ("pattern", "flags")

    def __init__(self, pattern: str | bytes = "", flags: str | bytes = "") -> None:
        self.pattern = pattern
        self.flags = flags


class Code(_Parts):
    """The source of a sub of Perl. It is not run."""

    __slots__ = ("source",)
    _part_names = ("source",)

    def __init__(self, source: str | bytes = "") -> None:
        self.source = source


class VString(_Parts):
    """A v-string of Perl: ``v1.2`` and its value."""

    __slots__ = ("source", "value")
    _part_names = ("source", "value")

    def __init__(self, source: str | bytes = "", value: str | bytes = "") -> None:
        self.source = source
        self.value = value


class Tied(_Parts):
    """A tied variable of Perl: its object, and for a tied element also the key."""

    __slots__ = ("form", "parts")
    _part_names = ("form", "parts")

    def __init__(self, form: str = "tied_scalar", parts: list[Any] | None = None) -> None:
        self.form = form
        self.parts = parts or []

    def _fill(self, *parts: Any) -> None:
        self.parts = list(parts)


class Opaque(_Parts):
    """An object that its own class froze. ``data`` is what the class wrote, mostly bytes or text; ``others`` are the
    objects to which it refers."""

    __slots__ = ("cls", "data", "form", "others")
    _part_names = ("cls", "data", "form", "others")

    def __init__(
        self, cls: str | bytes, data: Any = None, form: str = "serializable", others: list[Any] | None = None
    ) -> None:
        self.cls = cls
        self.data = data
        self.form = form
        self.others = others or []

    def _fill(self, data: Any = None, *others: Any) -> None:
        self.data = data
        self.others = list(others)


class Hash(dict[Any, Any]):
    """A hash of Ruby with a value for absent keys: ``default``."""

    def __init__(self, *args: Any, default: Any = None) -> None:
        super().__init__(*args)
        self.default = default

    def __missing__(self, key: Any) -> Any:
        return self.default

    def __reduce__(self) -> tuple[Any, ...]:
        return (Hash, (), {"default": self.default}, None, iter(self.items()))


for _class in (Symbol, Ref, EnumCase, Module, Regexp, Code, VString, Tied, Opaque, Hash):
    _class.__module__ = "icecore"
