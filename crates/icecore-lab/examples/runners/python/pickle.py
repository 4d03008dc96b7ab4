#!/usr/bin/env -S python3 -I
"""Pickle as a competitor: all that a language without runners of its own needs.

The data comes and goes as json:typed (docs/json-typed.md). What Python has no value
for is refused. -I, as this file would be found in the place of the module pickle.
"""
import base64
import json
import math
import pickle
import platform
import re
import sys
import time


class Cannot(Exception):
    pass


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


class Pickle:
    def write(self):
        return pickle.dumps(self.value, pickle.HIGHEST_PROTOCOL)

    def read(self):
        return pickle.loads(self.sample)

    def round_trip(self):
        return pickle.loads(pickle.dumps(self.value, pickle.HIGHEST_PROTOCOL))

    def hello(self, _):
        return {
            "protocol": 1,
            "name": "pickle",
            "version": str(pickle.HIGHEST_PROTOCOL),
            "runtime": platform.python_version(),
            "reference": "json:typed",
            "operations": ["write", "read", "round-trip"],
        }

    def load(self, question):
        if question["medium"] != "memory":
            raise Cannot("it works in memory only")
        self.value = read_reference(question["file"])
        self.sample = self.write()
        return {"ok": True}

    def check(self, question):
        with open(question["bytes"], "wb") as file:
            file.write(self.sample)
        write_reference(question["answer"], self.read())
        return {"size": len(self.sample)}

    def time(self, question):
        execute = {"write": self.write, "read": self.read, "round-trip": self.round_trip}[question["operation"]]
        before = time.perf_counter_ns()
        for _ in range(question["times"]):
            execute()
        return {"ns": time.perf_counter_ns() - before}

    def memory(self, _):
        return {"steps": []}


def main():
    runner = Pickle()
    answers = {"hello": runner.hello, "load": runner.load, "check": runner.check,
               "time": runner.time, "memory": runner.memory}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = answers[question["do"]](question)
        except (Cannot, RecursionError) as why:
            answer = {"cannot": str(why)}
        except Exception as why:
            answer = {"error": f"{type(why).__name__}: {why}"}
        print(json.dumps(answer), flush=True)


main()
