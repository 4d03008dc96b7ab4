#!/usr/bin/env -S python3 -I
# variants: phpserialize rubymarshal storable
# scenarios: columns small-record
"""Packages in Python alone, which read one blob after the other."""
import importlib
import os
import sys

sys.path.append(os.environ["LAB_LIB"])
import columns
import lab

icecore = lab.needs("icecore")
variant = os.environ["LAB_VARIANT"]
package = lab.needs(variant)


def plain(value):
    """Dicts with the keys 0, 1, … as lists: phpserialize leaves that to its callers."""
    if not isinstance(value, dict):
        return value
    items = {key: plain(item) for key, item in value.items()}
    return list(items.values()) if items and list(items) == list(range(len(items))) else items


def texts(value):
    """rubymarshal's own strings as text."""
    if isinstance(value, dict):
        return {texts(key): texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [texts(item) for item in value]
    return str(value) if type(value).__name__ == "RubyString" else value


if variant == "phpserialize":
    format, loads, dumps, seen = "php", lambda blob: package.loads(blob, decode_strings=True), package.dumps, plain
elif variant == "rubymarshal":
    format, loads, seen = "marshal", importlib.import_module("rubymarshal.reader").loads, texts
    dumps = importlib.import_module("rubymarshal.writer").writes
else:
    format, loads, dumps, seen = "storable:memory,netorder", package.thaw, None, lambda value: value


def is_column(value):
    return isinstance(value, list)


def prepare(value):
    if not is_column(value):
        return icecore.dumps(value, format, losses="ignore")
    if variant == "storable":
        raise lab.Cannot("floats without a fraction are integers in what Perl freezes")
    return columns.blobs(icecore, value, format)


def read(sample):
    return [loads(blob) for blob in sample] if is_column(sample) else loads(sample)


lab.run(
    variant,
    lab.version(variant),
    prepare=prepare,
    read=read,
    write=dumps,
    seen=lambda value: [seen(row) for row in value] if is_column(value) else seen(value),
    octets=lambda sample: columns.joined(sample) if is_column(sample) else sample,
)
