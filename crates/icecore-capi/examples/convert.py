"""Converts with Python's ctypes: convert.py LIBRARY FROM TO < INPUT.

    python3 crates/icecore-capi/examples/convert.py target/release/libicecore_capi.so "" json < data.storable
"""

import ctypes
import sys


class Buffer(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("len", ctypes.c_size_t), ("capacity", ctypes.c_size_t)]


class Error(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("offset", ctypes.c_int64),
        ("path", ctypes.c_char * 512),
        ("message", ctypes.c_char * 1024),
    ]


class Icecore:
    def __init__(self, library):
        self.lib = ctypes.CDLL(library)
        self.lib.icecore_convert.restype = ctypes.c_uint32
        self.lib.icecore_convert.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.POINTER(Buffer),
            ctypes.POINTER(Error),
        ]
        self.lib.icecore_buffer_free.argtypes = [ctypes.POINTER(Buffer)]
        self.lib.icecore_buffer_free.restype = None

    def convert(self, data, source, target):
        out, error = Buffer(), Error()
        kind = self.lib.icecore_convert(data, len(data), source.encode(), target.encode(), out, error)
        if kind:
            raise ValueError(error.message.decode())
        try:
            return ctypes.string_at(out.bytes, out.len)
        finally:
            self.lib.icecore_buffer_free(out)


if __name__ == "__main__":
    library, source, target = sys.argv[1:]
    try:
        sys.stdout.buffer.write(Icecore(library).convert(sys.stdin.buffer.read(), source, target))
    except ValueError as error:
        sys.exit(str(error))
