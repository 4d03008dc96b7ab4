"""Functions that the tests share: they run programs in the languages, and read the fixtures."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"


def run(command: list[str], data: bytes = b"") -> bytes:
    """Runs a program and returns its output; without the program the test is skipped with a message."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"SKIPPED: {command[0]} is not installed")
    result = subprocess.run(command, input=data, capture_output=True)
    assert result.returncode == 0, result.stderr.decode(errors="replace")
    return result.stdout


def php(code: str, data: bytes = b"") -> bytes:
    return run(["php", "-d", "error_reporting=-1", "-d", "display_errors=stderr", "-r", code], data)


def perl(code: str, data: bytes = b"") -> bytes:
    return run(["perl", "-MStorable=nfreeze,thaw", "-e", "binmode STDIN; binmode STDOUT; local $/; " + code], data)


def ruby(code: str, data: bytes = b"") -> bytes:
    return run(["ruby", "-e", "STDIN.binmode; STDOUT.binmode; " + code], data)


def blobs(name: str) -> Iterator[tuple[str, bytes]]:
    """Yields the names and blobs of a file of fixtures."""
    with open(FIXTURES / f"{name}.jsonl", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if isinstance(case.get("blob"), str):
                yield case.get("name", ""), base64.b64decode(case["blob"])
