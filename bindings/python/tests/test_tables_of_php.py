"""Random tables that PHP writes: their types are learned, and the decoded values are compared with PHP's own.

`ICECORE_TABLES` is the number of tables; by default they are few.
"""

from __future__ import annotations

import json
import os
from typing import Any

import icecore.arrow
import pytest
from conftest import php

pa = pytest.importorskip("pyarrow")

TABLES = int(os.environ.get("ICECORE_TABLES", "150"))
SEED = int(os.environ.get("ICECORE_SEED", "1"))

#: Prints each table as a line of JSON: a list of rows, each with the blob in hex and the value as JSON. All rows of a
#: table have one type, which is random.
CODE = r"""
mt_srand(SEED);
class P { private $x; protected $y; public $z; function __construct(...$v) { [$this->x, $this->y, $this->z] = $v; }
    function all() { return ['_class' => get_class($this), 'x' => json_value($this->x), 'y' => json_value($this->y), 'z' => json_value($this->z)]; } }
class C extends P { private $x = 5; function all() { return parent::all() + ['C::x' => 5]; } }
enum Suit { case A; case B; }
function r($n) { return mt_rand(0, $n - 1); }
function text() { $all = ['', 'a', 'é', '12', '1.5', 'true', 'null', '2026-02-03', '2026-02-03T04:05:06Z', 'NaN', '007', "a\nb", '{"a":1}', '[]'];
    return $all[r(count($all))] . (r(9) ? '' : str_repeat('x', r(60))); }
function scalar() { switch (r(7)) { case 0: return null; case 1: return (bool)r(2); case 2: return r(2000) - 1000;
    case 3: return mt_rand() * mt_rand(); case 4: return (r(2000) - 1000) / 8; case 5: return PHP_INT_MIN + r(3); default: return text(); } }
function type($deep) { switch (r($deep > 2 ? 6 : 12)) {
    case 0: return fn() => r(100);
    case 1: return fn() => text();
    case 2: return fn() => r(1000) / 4;
    case 3: return fn() => (bool)r(2);
    case 4: return fn() => scalar();
    case 5: return fn() => r(3) ? mt_rand() * r(1000000) : null;
    case 6: $t = type($deep + 1); return function () use ($t) { $all = []; for ($i = r(4); $i > 0; $i--) $all[] = $t(); return $all; };
    case 7: case 8: $types = []; for ($i = r(5); $i >= 0; $i--) $types[['id', 'name', '$k', 'é', '0', 'a b', 'Name', '_class'][r(8)]] = [type($deep + 1), r(4)];
        return function () use ($types) { $all = []; $keys = array_keys($types); if (!r(3)) shuffle($keys);
            foreach ($keys as $key) if ($types[$key][1] || r(3)) $all[$key] = $types[$key][0](); return $all; };
    case 9: $t = type($deep + 1); return function () use ($t) { $all = []; for ($i = r(5); $i > 0; $i--) $all[r(2) ? 'k' . r(100) : r(6)] = $t(); return $all; };
    case 10: $a = type($deep + 1); $class = r(2) ? 'P' : 'C'; return fn() => new $class($a(), scalar(), text());
    default: return fn() => r(4) ? [Suit::A, Suit::B][r(2)] : null;
} }
function json_value($v) { if (is_array($v)) return array_map('json_value', $v); if ($v instanceof P) return $v->all(); return $v instanceof Suit ? 'Suit:' . $v->name : $v; }
for ($table = 0; $table < TABLES; $table++) {
    $t = type(0); $rows = [];
    for ($i = r(12); $i >= 0; $i--) { $v = $t(); $rows[] = [bin2hex(FREEZE($v)), json_value($v)]; }
    echo json_encode($rows, JSON_PRESERVE_ZERO_FRACTION), "\n";
}
"""


def list_as_map(value: Any) -> Any:
    """Returns a list as the PHP array that it is: a map from positions to items."""
    return {str(index): item for index, item in enumerate(value)} if isinstance(value, list) else value


def json_equals(actual: Any, expected: Any) -> bool:
    """Returns true if JSON and PHP have the same value. Integers equal floats, and an empty array is both a list and a
    map."""
    if expected in ([], {}):
        return actual in ([], {})
    if isinstance(expected, (list, dict)):
        actual, expected = list_as_map(actual), list_as_map(expected)
        if isinstance(actual, dict) and "_class" not in actual:
            expected = {key: value for key, value in expected.items() if key != "_class"}
        # `C::x` stands for the private member `x` of C. In JSON it has the name that PHP uses inside.
        expected = {key.replace("C::", "\0C\0"): value for key, value in expected.items()}
        return isinstance(actual, dict) and actual.keys() == expected.keys() and all(json_equals(actual[key], expected[key]) for key in expected)
    return isinstance(actual, bool) == isinstance(expected, bool) and actual == expected or actual == f"{expected}".rpartition(":")[2]


def column_equals(actual: Any, expected: Any, kind: Any) -> bool:
    """Returns true if a value of a column of this type is PHP's value."""
    if expected is None or actual is None:
        return actual is None and expected is None
    if pa.types.is_struct(kind):
        expected = list_as_map(expected)
        names = [kind.field(index).name for index in range(kind.num_fields)]
        parts = ((actual[name], expected.get(name), kind.field(name).type) for name in names)
        return expected == {} or set(expected) <= set(names) and all(column_equals(*part) for part in parts)
    if pa.types.is_map(kind):
        expected, entries = list_as_map(expected), dict(actual)
        return list(entries) == list(expected) and all(column_equals(entries[key], expected[key], kind.item_type) for key in expected)
    if pa.types.is_list(kind):
        items = list(expected.values()) if isinstance(expected, dict) else expected
        return len(actual) == len(items) and all(column_equals(*pair, kind.value_type) for pair in zip(actual, items))
    if isinstance(actual, str) and not isinstance(expected, str):
        # A column whose values have several types has text: each value as JSON, or the digits of a number.
        return actual == str(expected) or json_equals(json.loads(actual), expected)
    if isinstance(actual, str):
        return actual == expected or actual == json.dumps(expected, ensure_ascii=False)
    return isinstance(actual, bool) == isinstance(expected, bool) and actual == expected


@pytest.mark.parametrize(("format", "freeze"), [("php", "serialize"), ("igbinary", "igbinary_serialize")])
def test_columns_have_the_values_that_php_wrote(format: str, freeze: str) -> None:
    if format == "igbinary" and php("echo (int)extension_loaded('igbinary');") != b"1":
        pytest.skip("SKIPPED: igbinary is not installed")
    code = CODE.replace("SEED", str(SEED)).replace("TABLES", str(TABLES)).replace("FREEZE", freeze)
    for line in php(code).splitlines():
        rows = json.loads(line)
        blobs = pa.array([bytes.fromhex(blob) for blob, _ in rows], pa.binary())
        decoded = icecore.arrow.decode(blobs, format=format)
        for actual, (blob, expected) in zip(decoded.to_pylist(), rows):
            assert column_equals(actual, expected, decoded.type), (str(decoded.type), actual, expected, bytes.fromhex(blob))
