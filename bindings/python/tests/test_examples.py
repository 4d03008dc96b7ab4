"""The examples in README.md and in the modules print the output next to them."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest


def test_examples_of_the_readme_give_their_output() -> None:
    pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    readme = Path(__file__).resolve().parents[1] / "README.md"
    tests = doctest.testfile(str(readme), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tests.attempted > 8 and not tests.failed


@pytest.mark.parametrize("name", ["icecore", "icecore.arrow", "icecore.polars", "icecore.pandas", "icecore.duckdb"])
def test_examples_of_the_modules_give_their_output(name: str) -> None:
    library = name.partition(".")[2].replace("arrow", "pyarrow")
    if library:
        pytest.importorskip(library, reason=f"SKIPPED: {library} is not installed")
    tests = doctest.testmod(importlib.import_module(name))
    assert tests.attempted > 0 and not tests.failed
