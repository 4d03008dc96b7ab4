#!/usr/bin/env python3
"""Makes the samples in this folder: files of formats that are recognised, but
not read. Where the real tool is at hand (Python's own modules, javac and java,
perl, gzip, sqlite3, zip), it makes them; the others are built here by hand
from the description of the format. The name of a file begins with the name of
the format that must be found in it."""

import base64, bz2, gzip, json, lzma, os, pickle, plistlib, shutil, sqlite3, struct, subprocess, sys, tempfile, zipfile, zlib

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


class Employee:
    def __init__(self, name):
        self.name = name


STAFF = [{"id": 1, "name": "Alice", "age": 30.5, "tags": ["a", "b"]}, {"id": 2, "name": "Zoë", "age": None, "ok": True}]


def pickles():
    shared = [1, 2]
    value = {"staff": STAFF, "one": shared, "two": shared, "t": (1, (2, 3)), "b": b"\x00\xff", "big": 10**30, "s": {1, 2}}
    for protocol in range(6):
        write(f"pickle.protocol{protocol}", pickle.dumps(value, protocol))
        write(f"pickle.object{protocol}", pickle.dumps(Employee("Bob"), protocol))
        write(f"pickle.list{protocol}", pickle.dumps([1, 2.5, "x", None, True], protocol))
    write("pickle.several", b"".join(pickle.dumps(one, 4) for one in STAFF))


# --- by hand ------------------------------------------------------------

def msgpack(v):
    if v is None: return b"\xc0"
    if v is True: return b"\xc3"
    if v is False: return b"\xc2"
    if isinstance(v, int):
        if 0 <= v < 128: return bytes([v])
        return b"\xd3" + struct.pack(">q", v)
    if isinstance(v, float): return b"\xcb" + struct.pack(">d", v)
    if isinstance(v, bytes): return b"\xc4" + bytes([len(v)]) + v
    if isinstance(v, str):
        s = v.encode()
        return (bytes([0xA0 | len(s)]) if len(s) < 32 else b"\xda" + struct.pack(">H", len(s))) + s
    if isinstance(v, list):
        head = bytes([0x90 | len(v)]) if len(v) < 16 else b"\xdc" + struct.pack(">H", len(v))
        return head + b"".join(map(msgpack, v))
    head = bytes([0x80 | len(v)]) if len(v) < 16 else b"\xde" + struct.pack(">H", len(v))
    return head + b"".join(msgpack(k) + msgpack(x) for k, x in v.items())


def cbor(v):
    def head(major, n):
        if n < 24: return bytes([major << 5 | n])
        if n < 256: return bytes([major << 5 | 24, n])
        return bytes([major << 5 | 25]) + struct.pack(">H", n)
    if v is None: return b"\xf6"
    if v is True: return b"\xf5"
    if v is False: return b"\xf4"
    if isinstance(v, int): return head(0, v) if v >= 0 else head(1, -1 - v)
    if isinstance(v, float): return b"\xfb" + struct.pack(">d", v)
    if isinstance(v, bytes): return head(2, len(v)) + v
    if isinstance(v, str): return head(3, len(v.encode())) + v.encode()
    if isinstance(v, list): return head(4, len(v)) + b"".join(map(cbor, v))
    return head(5, len(v)) + b"".join(cbor(k) + cbor(x) for k, x in v.items())


def bson(v):
    def element(k, x):
        k = k.encode() + b"\0"
        if x is None: return b"\x0a" + k
        if x is True or x is False: return b"\x08" + k + bytes([x])
        if isinstance(x, int): return b"\x10" + k + struct.pack("<i", x)
        if isinstance(x, float): return b"\x01" + k + struct.pack("<d", x)
        if isinstance(x, str): return b"\x02" + k + struct.pack("<i", len(x.encode()) + 1) + x.encode() + b"\0"
        if isinstance(x, list): return b"\x04" + k + bson({str(i): y for i, y in enumerate(x)})
        return b"\x03" + k + bson(x)
    body = b"".join(element(k, x) for k, x in v.items())
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def php(v):
    if v is None: return b"N;"
    if v is True or v is False: return b"b:%d;" % v
    if isinstance(v, int): return b"i:%d;" % v
    if isinstance(v, float): return b"d:%r;" % v
    if isinstance(v, str): return b's:%d:"%s";' % (len(v.encode()), v.encode())
    items = enumerate(v) if isinstance(v, list) else v.items()
    return b"a:%d:{%s}" % (len(v), b"".join(php(k) + php(x) for k, x in items))


def marshal(v, symbols=None):
    symbols = {} if symbols is None else symbols
    def num(n):
        if n == 0: return b"\0"
        if 0 < n < 123: return bytes([n + 5])
        raw = n.to_bytes((n.bit_length() + 7) // 8, "little")
        return bytes([len(raw)]) + raw
    def symbol(s):
        if s in symbols: return b";" + num(symbols[s])
        symbols[s] = len(symbols)
        return b":" + num(len(s)) + s.encode()
    if v is None: return b"0"
    if v is True: return b"T"
    if v is False: return b"F"
    if isinstance(v, int): return b"i" + num(v)
    if isinstance(v, float): return b"f" + num(len(repr(v))) + repr(v).encode()
    if isinstance(v, str): return b'I"' + num(len(v.encode())) + v.encode() + num(1) + symbol("E") + b"T"
    if isinstance(v, list): return b"[" + num(len(v)) + b"".join(marshal(x, symbols) for x in v)
    return b"{" + num(len(v)) + b"".join(symbol(k) + marshal(x, symbols) for k, x in v.items())


def igbinary(v, strings=None):
    strings = {} if strings is None else strings
    def text(s):
        s = s.encode()
        if not s: return b"\x0d"
        if s in strings: return b"\x0e" + bytes([strings[s]])
        strings[s] = len(strings)
        return b"\x11" + bytes([len(s)]) + s
    if v is None: return b"\x00"
    if v is True: return b"\x05"
    if v is False: return b"\x04"
    if isinstance(v, int): return b"\x06" + bytes([v])
    if isinstance(v, float): return b"\x0c" + struct.pack(">d", v)
    if isinstance(v, str): return text(v)
    items = [(igbinary(k, strings), igbinary(x, strings)) for k, x in (enumerate(v) if isinstance(v, list) else v.items())]
    return b"\x14" + bytes([len(items)]) + b"".join(k + x for k, x in items)


def var_export(v, level=0):
    pad = "  " * level
    if v is None: return "NULL"
    if v is True or v is False: return str(v).lower()
    if isinstance(v, (int, float)): return repr(v)
    if isinstance(v, str): return "'" + v.replace("\\", "\\\\").replace("'", "\\'") + "'"
    out = "array (\n"
    for k, x in enumerate(v) if isinstance(v, list) else v.items():
        nested = isinstance(x, (list, dict))
        out += f"{pad}  {var_export(k)} => " + (f"\n{pad}  " if nested else "") + var_export(x, level + 1) + ",\n"
    return out + pad + ")"


def by_hand():
    one = {"list": STAFF, "n": -5, "deep": [[[{"x": 1.5}]]], "text": "plain text that is a bit longer than 31 bytes"}
    write("msgpack.map", msgpack(one))
    write("msgpack.list", msgpack(STAFF))
    write("cbor.map", cbor(one))
    write("cbor.list", cbor(STAFF))
    write("cbor.tagged", b"\xd9\xd9\xf7" + cbor(one))
    write("cbor.indefinite", b"\xbf\x61a\x9f\x01\x02\xff\x63key\x7f\x62ab\x61c\xff\xff")
    write("bson.document", bson(one))
    write("bson.dump", b"".join(map(bson, STAFF)))
    write("php.list", php(STAFF))
    write("php.object", b'O:8:"Employee":2:{s:4:"name";s:3:"Bob";s:6:"\0*\0age";i:30;}')
    write("php.custom", b'a:2:{i:0;C:11:"ArrayObject":21:{x:i:0;a:0:{};m:a:0:{}}i:1;O:3:"Foo":1:{s:1:"x";R:1;}}')
    write("php.enum", b'E:11:"Suit:Hearts";')
    write("php.string", b's:5:"hello";')
    write("php-session.files", b"user|" + php("alice") + b"cart|" + php(STAFF) + b"n|i:1;")
    write("php-session.binary", b"\x04user" + php("alice") + b"\x04cart" + php([1, 2]))
    write("var-export.list", var_export(STAFF))
    write("var-export.file", "<?php return " + var_export(STAFF) + ";\n")
    write("var-export.object", "\\Employee::__set_state(array(\n   'name' => 'Bob',\n   'nul' => 'a' . \"\\0\" . 'b',\n))")
    write("var-export.std", "(object) array(\n  'a' => -1.5,\n)")
    write("marshal.list", b"\x04\x08" + marshal(STAFF))
    write("marshal.object", b"\x04\x08o:\x0dEmployee\x07:\x0a@nameI\"\x08Bob\x06:\x06ET:\x09@agei#")
    write("marshal.nil", b"\x04\x080")
    write("marshal.user", b"\x04\x08[\x08u:\x0fBigDecimal\x0f18:0.125e1U:\x0dRational[\x07i\x06i\x07@\x06")
    write("igbinary.list", b"\0\0\0\x02" + igbinary(STAFF))
    write("igbinary.object", b"\0\0\0\x02\x17\x08Employee\x14\x01\x11\x04name\x11\x03Bob")
    write("dotnet.string", bytes.fromhex("0001000000ffffffff01000000000000000601000000") + b"\x05hello\x0b")
    write("avro.head", b"Obj\x01\x04\x16avro.schema\x0c\"long\"\x00" + bytes(16))
    write("parquet.head", b"PAR1\x15\x04\x15\x10" + bytes(8) + b"PAR1")
    write("yaml.ruby", "--- !ruby/object:Employee\nname: Bob\n")
    write("yaml.map", "# staff\n---\n".replace("# staff\n", "") + "name: Bob\nlist:\n  - 1\n")
    write("yaml.list", "---\n- 1\n- 2\n")
    write("xml.head", '<?xml version="1.0"?>\n<staff/>\n')


# --- with the real tools ------------------------------------------------

JAVA = """
import java.io.*; import java.util.*;
public class Make { public static void main(String[] a) throws Exception {
  List<Object> list = new ArrayList<>(List.of(1, "two", new HashMap<>(Map.of("x", 3.5))));
  try (var out = new ObjectOutputStream(new FileOutputStream(a[0]))) { out.writeObject(list); } } }
"""


def with_tools():
    write("plist.xml", plistlib.dumps({"staff": [1, "two"]}))
    write("plist.binary", plistlib.dumps({"staff": [1, "two"]}, fmt=plistlib.FMT_BINARY))
    text = json.dumps(STAFF * 20)
    write("gzip_json.gz", gzip.compress(text.encode(), mtime=0))
    write("gzip.text", gzip.compress(b"just some text, nothing else\n", mtime=0))
    write("zlib_json.z", zlib.compress(text.encode()))
    write("base64_json.txt", base64.encodebytes(text.encode()))
    write("base64_pickle.txt", base64.b64encode(pickle.dumps(STAFF, 4)))
    write("hex_marshal.txt", (b"\x04\x08" + marshal(STAFF)).hex())
    write("bzip2.bz2", bz2.compress(text.encode()))
    write("xz.xz", lzma.compress(text.encode()))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        db = sqlite3.connect(path)
        db.execute("create table staff (id integer)")
        db.commit()
        db.close()
        shutil.copyfile(path, os.path.join(HERE, "sqlite.db"))
        os.unlink(path)
        with zipfile.ZipFile(path, "w") as z:
            z.writestr(zipfile.ZipInfo("a.txt", (2020, 1, 1, 0, 0, 0)), "hello")
        shutil.copyfile(path, os.path.join(HERE, "zip.zip"))
        if shutil.which("javac"):
            with open(os.path.join(folder, "Make.java"), "w") as f:
                f.write(JAVA)
            subprocess.run(["javac", "-d", folder, os.path.join(folder, "Make.java")], check=True)
            subprocess.run(["java", "-cp", folder, "Make", os.path.join(HERE, "java.ser")], check=True)
            shutil.copyfile(os.path.join(folder, "Make.class"), os.path.join(HERE, "java-class.class"))
    if shutil.which("perl"):
        for name, indent in (("dumper.default", 2), ("dumper.flat", 0)):
            script = f"$Data::Dumper::Sortkeys=1; $Data::Dumper::Indent={indent}; print Data::Dumper->Dump([[1,{{a=>2,b=>qr/x/}}],'x'])"
            write(name, subprocess.run(["perl", "-MData::Dumper", "-e", script], check=True, capture_output=True).stdout)
    if shutil.which("zstd"):
        data = subprocess.run(["zstd", "-q", "-c"], input=text.encode(), check=True, capture_output=True).stdout
        write("zstd_json.zst", data)


pickles()
by_hand()
with_tools()
