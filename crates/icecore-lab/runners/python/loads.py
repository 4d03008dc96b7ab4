#!/usr/bin/env -S python3 -I
# variants: php marshal igbinary sereal storable
# scenarios: small-record
"""icecore.loads and icecore.dumps."""
import os
import sys
from functools import partial

sys.path.append(os.environ["LAB_LIB"])
import lab

icecore = lab.needs("icecore")
format = os.environ["LAB_VARIANT"]
dumps = partial(icecore.dumps, format=format, losses="ignore")

lab.run(
    f"icecore.loads: {format}",
    lab.version("icecore"),
    prepare=dumps,
    read=partial(icecore.loads, format=format),
    write=dumps,
)
