#!/usr/bin/env -S python3 -I
# variants: pickle msgspec orjson
# scenarios: small-record
"""Quick packages with formats of their own: the roof of what Python can read."""
import os
import pickle
import platform
import sys

sys.path.append(os.environ["LAB_LIB"])
import lab

variant = os.environ["LAB_VARIANT"]
package = lab.needs(variant)
name, write, read = {
    "pickle": lambda: ("pickle", lambda value: pickle.dumps(value, pickle.HIGHEST_PROTOCOL), pickle.loads),
    "msgspec": lambda: ("msgspec, MessagePack", lab.needs("msgspec.msgpack").encode, package.msgpack.decode),
    "orjson": lambda: ("orjson, JSON", package.dumps, package.loads),
}[variant]()
version = platform.python_version() if variant == "pickle" else lab.version(variant)

lab.run(name, version, prepare=write, read=read, write=write)
