"""What the runners of Python share: the protocol of ../../README.md, and json:typed (docs/json-typed.md).

A runner says its name, what it needs, and how it reads and writes; what Python has no value for is refused:

    lab.run("pickle", "5", prepare=pickle.dumps, read=pickle.loads, write=pickle.dumps)
"""

import base64
import importlib
import importlib.metadata
import json
import math
import platform
import re
import sys
import time


class Cannot(Exception):
    """The data can't be carried, and why."""


def needs(module, package=None):
    """A module, or the end of this runner: it says that the package is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as why:
        package = package or module.partition(".")[0]
        install = f"python3 -m pip install {package}"
        if package == "icecore":
            install = "scripts/python.sh test-all; icecore bench --python target/python/test/bin/python"
        sys.stdin.readline()
        print(json.dumps({"missing": f"the Python package {package} ({why})", "install": install}), flush=True)
        sys.exit()


def version(package):
    """Of an installed package."""
    return importlib.metadata.version(package)


def value(typed, text):
    """json:typed to Python; `text`: a plain string is text and not bytes."""
    if isinstance(typed, str):
        return typed if text else typed.encode()
    if isinstance(typed, list):
        return [value(item, text) for item in typed]
    if not isinstance(typed, dict):
        return typed
    for key, read in FORMS.items():
        if key in typed:
            if len(typed) > 1:
                raise Cannot(f"it has nothing for {', '.join(typed)}")
            return read(typed[key], text)
    return {name(key, text): value(item, text) for key, item in typed.items()}


def name(key, text):
    if not key.startswith("$"):
        return key if text else key.encode()
    if key.startswith("$$"):
        return key[1:] if text else key[1:].encode()
    kinds = {"$t:": str, "$b:": str.encode, "$l:": lambda rest: rest.encode("latin-1")}
    if key[:3] not in kinds:
        raise Cannot(f"it has nothing for {key}")
    return kinds[key[:3]](key[3:])


def string(typed, _):
    """The value of $text."""
    if not isinstance(typed, str):
        raise Cannot("text that is not valid UTF-8")
    return typed


def octets(typed, _):
    """The value of $bytes."""
    return typed.encode()


def pairs(typed, text):
    made = {}
    for pair in typed:
        if len(pair) != 2 or isinstance(pair[0], list):
            raise Cannot("a map that is no dict")
        key = value(pair[0], text)
        if isinstance(key, dict) or key in made:
            raise Cannot("a map that is no dict")
        made[key] = value(pair[1], text)
    return made


FORMS = {
    "$text": string,
    "$bytes": octets,
    "$latin1": lambda typed, _: typed.encode("latin-1"),
    "$base64": lambda typed, _: base64.b64decode(typed),
    "$float": lambda typed, _: float(typed),
    "$map": pairs,
}


def typed(value):
    """Python to json:typed, where a plain string is text."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, bytes):
        return {"$latin1": value.decode("latin-1")}
    if isinstance(value, list):
        return [typed(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {re.sub(r"\A\$", "$$", key): typed(item) for key, item in value.items()}
        return {"$map": [[typed(key), typed(item)] for key, item in value.items()]}
    return value


def read_reference(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    text = True
    if isinstance(document, dict) and "$icecore" in document:
        text = document.get("$strings", "text") == "text"
        document = document["$value"]
    return value(document, text)


def write_reference(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"$icecore": 1, "$strings": "text", "$value": typed(value)}, file)


class Runner:
    def __init__(self, name, version, prepare, read, write=None, seen=None, octets=None):
        self.name, self.version = name, version
        self.prepare, self.execute_read, self.execute_write = prepare, read, write
        self.seen, self.octets = seen or (lambda value: value), octets or (lambda sample: sample)

    def operations(self):
        return {
            "write": lambda: self.execute_write(self.value),
            "read": lambda: self.execute_read(self.sample),
            "round-trip": lambda: self.execute_read(self.execute_write(self.value)),
        }

    def hello(self, _):
        return {
            "protocol": 1,
            "name": self.name,
            "version": self.version,
            "runtime": platform.python_version(),
            "reference": "json:typed",
            "operations": ["read"] if self.execute_write is None else list(self.operations()),
        }

    def load(self, question):
        if question["medium"] != "memory":
            raise Cannot("it works in memory only")
        value = read_reference(question["file"])
        self.sample = self.prepare(value)
        # What only reads needs no memory for it.
        self.value = value if self.execute_write is not None else None
        return {"ok": True}

    def check(self, question):
        octets = self.octets(self.sample)
        with open(question["bytes"], "wb") as file:
            file.write(octets)
        write_reference(question["answer"], self.seen(self.execute_read(self.sample)))
        return {"size": len(octets)}

    def time(self, question):
        execute = self.operations()[question["operation"]]
        before = time.perf_counter_ns()
        for _ in range(question["times"]):
            execute()
        return {"ns": time.perf_counter_ns() - before}

    def memory(self, _):
        return {"steps": []}


def run(name, version, **how):
    """Answers the lab until its questions end.

    `prepare` makes of the value what is read (its `octets` are counted), `read` gives a result, whose value `seen`
    makes of it where the timed reading leaves it to others. `write` is left out by what only reads.
    """
    runner = Runner(name, version, **how)
    answers = {
        "hello": runner.hello,
        "load": runner.load,
        "check": runner.check,
        "time": runner.time,
        "memory": runner.memory,
    }
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = answers[question["do"]](question)
        except (Cannot, RecursionError) as why:
            answer = {"cannot": str(why)}
        except Exception as why:
            answer = {"error": f"{type(why).__name__}: {why}"}
        print(json.dumps(answer), flush=True)
