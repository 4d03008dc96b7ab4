"""Memory, threads, fork, and damaged bytes."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path

import icecore
import pytest
from conftest import blobs

RECORD = {"id": 7, "name": "Alice", "tags": ["a", "b"], "user": icecore.Record("App\\User", {"x": 1})}


def memory_pages() -> int:
    """Returns the number of resident memory pages of the process."""
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_a_hundred_thousand_calls_leak_no_memory() -> None:
    data = icecore.dumps(RECORD, "php")
    broken = data[:-3]

    def call_often() -> None:
        for number in range(50_000):
            icecore.loads(data, "php")
            # Keys and classes that never occur again.
            key = b"k%d" % number
            icecore.loads(b'O:%d:"%s":1:{s:%d:"%s";i:1;}' % (len(key), key, len(key), key))
            try:
                icecore.loads(broken, "php")
            except icecore.Error:
                pass

    call_often()
    gc.collect()
    before = memory_pages() if sys.platform == "linux" else 0
    call_often()
    gc.collect()
    after = memory_pages() if sys.platform == "linux" else 0
    # Two megabytes of leeway for the allocator.
    assert after - before < 512


def test_values_are_freed_with_all_their_parts() -> None:
    data = icecore.dumps(RECORD, "php")
    icecore.loads(data)
    tracemalloc.start()
    try:
        first = tracemalloc.get_traced_memory()[0]
        for _ in range(2000):
            value = icecore.loads(data)
            value["self"] = value
        del value
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - first < 100_000
    finally:
        tracemalloc.stop()


def test_circles_of_records_are_collected() -> None:
    references = [weakref.ref(icecore.loads(b'O:1:"B":1:{s:4:"self";r:1;}')) for _ in range(1000)]
    gc.collect()
    assert not any(record() for record in references)


def test_threads_can_load_and_dump_at_the_same_time() -> None:
    failed_values: list[object] = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(300):
            value = {f"k{rng.randrange(50)}": ["x" * rng.randrange(3000)] * rng.randrange(1, 8) for _ in range(5)}
            format = rng.choice(["php", "marshal", "json", "sereal"])
            if icecore.loads(icecore.dumps(value, format, losses="ignore"), format) != value:
                failed_values.append(value)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed_values


@pytest.mark.skipif(not hasattr(os, "fork"), reason="SKIPPED: this system has no fork")
def test_a_forked_process_can_load_and_dump() -> None:
    data = icecore.dumps(RECORD, "php")
    icecore.loads(data)
    child = os.fork()
    if child == 0:
        os._exit(0 if icecore.loads(data) == RECORD else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert icecore.loads(data) == RECORD


def test_factories_and_defaults_can_call_the_module() -> None:
    inner = icecore.dumps(["inner"], "marshal")

    def make(cls: str, fields: object) -> object:
        return icecore.loads(inner)

    value = icecore.loads(b'a:2:{i:0;O:1:"A":1:{s:1:"a";i:1;}s:1:"b";i:2;}', classes=make)
    assert value == {0: ["inner"], "b": 2}


def test_an_exception_of_a_factory_is_passed_on() -> None:
    def make(fields: object) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        icecore.loads(b'O:1:"A":0:{}', classes={"A": make})
    assert icecore.loads(b'O:1:"A":0:{}').cls == "A"


def test_free_threaded_python_enables_its_lock() -> None:
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("SKIPPED: this Python always has its lock")
    assert sys._is_gil_enabled()


def test_damaged_bytes_raise_only_errors_of_icecore() -> None:
    rng = random.Random(11)
    formats = {"php": "php", "marshal": "marshal", "igbinary": "igbinary", "storable": "storable", "sereal": "sereal"}
    for name, format in formats.items():
        samples = [blob for _, blob in blobs(name) if len(blob) < 2000]
        for _ in range(1500):
            data = bytearray(rng.choice(samples))
            for _ in range(rng.randrange(1, 4)):
                if data:
                    index = rng.randrange(len(data))
                    data[index : index + rng.randrange(2)] = bytes([rng.randrange(256)] * rng.randrange(3))
            try:
                value = icecore.loads(data, format, known=rng.random() < 0.3)
            except icecore.Error:
                continue
            try:
                icecore.dumps(value, format, losses="ignore")
            except icecore.Error:
                pass
