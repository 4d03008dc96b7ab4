"""Reads and writes the data that Perl, PHP and Ruby freeze. No code of these languages runs.

>>> import icecore
>>> icecore.loads(b'a:2:{s:2:"id";i:7;s:4:"tags";a:1:{i:0;s:1:"a";}}')
{'id': 7, 'tags': ['a']}
>>> icecore.dumps({"id": 7}, "php")
b'a:1:{s:2:"id";i:7;}'
>>> icecore.loads(b'O:8:"App\\\\User":1:{s:4:"name";s:5:"Alice";}')
Record('App\\\\User', {'name': 'Alice'})
"""

from __future__ import annotations

from ._documents import iter_documents
from ._errors import ClassError, Error, ExtraWarning, Loss, LossWarning
from ._icecore import Record, __version__, convert, dumps, formats, loads
from ._inspect import ClassUse, Detection, Document, Row, classes, detect, inspect
from ._values import Code, EnumCase, Hash, Module, Opaque, Ref, Regexp, Symbol, Tied, VString

__all__ = [
    "ClassError",
    "ClassUse",
    "Code",
    "Detection",
    "Document",
    "EnumCase",
    "Error",
    "ExtraWarning",
    "Hash",
    "Loss",
    "LossWarning",
    "Module",
    "Opaque",
    "Record",
    "Ref",
    "Regexp",
    "Row",
    "Symbol",
    "Tied",
    "VString",
    "__version__",
    "classes",
    "convert",
    "detect",
    "dumps",
    "formats",
    "inspect",
    "iter_documents",
    "loads",
]
