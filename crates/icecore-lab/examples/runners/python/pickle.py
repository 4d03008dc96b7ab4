#!/usr/bin/env -S python3 -I
"""Pickle as a competitor. -I, as this file would be found in the place of the module pickle."""
import os
import pickle
import sys

sys.path.append(os.environ["LAB_LIB"])
import lab


def write(value):
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


lab.run("pickle", str(pickle.HIGHEST_PROTOCOL), prepare=write, read=pickle.loads, write=write)
