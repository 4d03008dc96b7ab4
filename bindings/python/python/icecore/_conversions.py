"""Conversion of times, decimals and fractions: to Python values, and to values that a format can express."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones


def build_known(kind: str, text: str, zone: str) -> Any:
    """Returns the Python value for a value of a well-known class; None if Python can't express it exactly."""
    try:
        return _READERS[kind](text, zone)
    except (KeyError, ValueError, InvalidOperation, OverflowError, OSError):
        return None


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone(name: str) -> ZoneInfo:
    """Returns the zone with this name. ZoneInfo is called only for names that exist: it looks for files."""
    if name not in _zones():
        raise ValueError("no such zone")
    return ZoneInfo(name)


def _datetime(text: str, zone: str) -> datetime:
    if len(text.partition(".")[2].rstrip("Z").partition("+")[0].partition("-")[0]) > 6:
        raise ValueError("finer than microseconds")
    moment = datetime.fromisoformat(text)
    return moment.astimezone(_zone(zone)) if "/" in zone else moment


def _php_datetime(text: str, zone: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if zone[:1] in ("+", "-"):
        return datetime.fromisoformat(f"{text}{zone}")
    return moment.replace(tzinfo=timezone.utc if zone == "UTC" else _zone(zone))


def _complex(text: str, zone: str) -> complex:
    return complex(text.replace("i", "j"))


_READERS = {
    "datetime": _datetime,
    "php": _php_datetime,
    "date": lambda text, zone: date.fromisoformat(text),
    "decimal": lambda text, zone: Decimal(text),
    "rational": lambda text, zone: Fraction(text),
    "complex": _complex,
}


def describe(value: object, is_php: bool) -> Any:
    """Returns what is written for a value of Python's library, such as text for a date; else NotImplemented."""
    if isinstance(value, datetime):
        return _php_time(value) if is_php else value.isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return NotImplemented


#: PHP's numbers for the kinds of zones in a DateTime.
_OFFSET_ZONE, _NAMED_ZONE = 1, 3


def _php_time(value: datetime) -> Any:
    """Returns the record of a PHP DateTimeImmutable."""
    from . import Record

    offset = value.utcoffset()
    name = getattr(value.tzinfo, "key", None)
    if offset is None or name == "UTC" or value.tzinfo is timezone.utc:
        zone_type, zone = _NAMED_ZONE, "UTC"
    elif name is not None:
        zone_type, zone = _NAMED_ZONE, name
    else:
        minutes = offset // timedelta(minutes=1)
        zone_type, zone = _OFFSET_ZONE, f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = value.replace(tzinfo=None).isoformat(" ", "microseconds")
    return Record("DateTimeImmutable", {"date": text, "timezone_type": zone_type, "timezone": zone})
