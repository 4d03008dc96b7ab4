#!/usr/bin/env -S python3 -I
# variants: php sereal marshal
# scenarios: columns
"""Icecore as an expression of polars, with a frame's own threads."""
import os
import sys

sys.path.append(os.environ["LAB_LIB"])
import columns
import lab

polars = lab.needs("polars")
icecore = lab.needs("icecore")
lab.needs("icecore.polars", "icecore")
format = os.environ["LAB_VARIANT"]
expression = polars.col("data").icecore.decode(columns.SCHEMA, format=format)

lab.run(
    f"icecore, polars: {format}",
    lab.version("icecore"),
    prepare=lambda rows: polars.DataFrame({"data": columns.blobs(icecore, rows, format)}),
    read=lambda frame: frame.lazy().select(expression).collect(),
    seen=lambda frame: frame["data"].to_list(),
    octets=lambda frame: columns.joined(frame["data"]),
)
