"""Values of classes that are known, there and back: times, decimals, fractions."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones


def known(kind: str, text: str, zone: str) -> Any:
    """What Python has for a value; None, if it has nothing that says the same."""
    try:
        return _READERS[kind](text, zone)
    except (KeyError, ValueError, InvalidOperation, OverflowError, OSError):
        return None


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone(name: str) -> ZoneInfo:
    """The zone of this name, if there is one: by any other name nothing is looked for."""
    if name not in _zones():
        raise ValueError("no such zone")
    return ZoneInfo(name)


def _datetime(text: str, zone: str) -> datetime:
    if len(text.partition(".")[2].rstrip("Z").partition("+")[0].partition("-")[0]) > 6:
        raise ValueError("finer than microseconds")
    moment = datetime.fromisoformat(text)
    return moment.astimezone(_zone(zone)) if "/" in zone else moment


def _php(text: str, zone: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if zone[:1] in ("+", "-"):
        return datetime.fromisoformat(f"{text}{zone}")
    return moment.replace(tzinfo=timezone.utc if zone == "UTC" else _zone(zone))


def _complex(text: str, zone: str) -> complex:
    return complex(text.replace("i", "j"))


_READERS = {
    "datetime": _datetime,
    "php": _php,
    "date": lambda text, zone: date.fromisoformat(text),
    "decimal": lambda text, zone: Decimal(text),
    "rational": lambda text, zone: Fraction(text),
    "complex": _complex,
}


def described(value: object, is_php: bool) -> Any:
    """What stands for a value of a class of Python's own library; NotImplemented for any other."""
    if isinstance(value, datetime):
        return _php_time(value) if is_php else value.isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return NotImplemented


def _php_time(value: datetime) -> Any:
    from . import Record

    offset = value.utcoffset()
    name = getattr(value.tzinfo, "key", None)
    if offset is None or name == "UTC" or value.tzinfo is timezone.utc:
        zone_type, zone = 3, "UTC"
    elif name is not None:
        zone_type, zone = 3, name
    else:
        minutes = offset // timedelta(minutes=1)
        zone_type, zone = 1, f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = value.replace(tzinfo=None).isoformat(" ", "microseconds")
    return Record("DateTimeImmutable", {"date": text, "timezone_type": zone_type, "timezone": zone})
