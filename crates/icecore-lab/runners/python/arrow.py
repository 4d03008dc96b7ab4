#!/usr/bin/env -S python3 -I
# variants: php sereal marshal
# scenarios: columns
"""Icecore's kernel on an array of pyarrow, on one thread."""
import os
import sys

sys.path.append(os.environ["LAB_LIB"])
import columns
import lab

icecore = lab.needs("icecore.arrow", "icecore")
pyarrow = lab.needs("pyarrow")
format = os.environ["LAB_VARIANT"]
icecore = lab.needs("icecore")
decoder = icecore.arrow.decoder(columns.SCHEMA, format, threads=1)

lab.run(
    f"icecore, pyarrow: {format}",
    lab.version("icecore"),
    prepare=lambda rows: pyarrow.array(columns.blobs(icecore, rows, format), pyarrow.large_binary()),
    read=lambda column: decoder.decode(column).column,
    seen=lambda column: pyarrow.array(column).to_pylist(),
    octets=lambda column: columns.joined(column.to_pylist()),
)
