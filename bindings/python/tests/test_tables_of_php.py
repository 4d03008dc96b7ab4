"""Tables that PHP makes by chance: what is learned of them and decoded is what PHP says that its values are.

`ICECORE_TABLES` says how many; they are few if it does not.
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

#: Each table has a type, and all its rows have this type: a line of pairs, the blob in hex and the value as JSON.
CODE = r"""
mt_srand(SEED);
class P { private $x; protected $y; public $z; function __construct(...$v) { [$this->x, $this->y, $this->z] = $v; }
    function all() { return ['_class' => get_class($this), 'x' => said($this->x), 'y' => said($this->y), 'z' => said($this->z)]; } }
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
function said($v) { if (is_array($v)) return array_map('said', $v); if ($v instanceof P) return $v->all(); return $v instanceof Suit ? 'Suit:' . $v->name : $v; }
for ($table = 0; $table < TABLES; $table++) {
    $t = type(0); $rows = [];
    for ($i = r(12); $i >= 0; $i--) { $v = $t(); $rows[] = [bin2hex(FREEZE($v)), said($v)]; }
    echo json_encode($rows, JSON_PRESERVE_ZERO_FRACTION), "\n";
}
"""


def positions(value: Any) -> Any:
    """A list as the array of PHP that it is."""
    return {str(at): item for at, item in enumerate(value)} if isinstance(value, list) else value


def same(found: Any, said: Any) -> bool:
    """Whether JSON says the same as PHP: integers of floats, and an empty array is a list and a map."""
    if said in ([], {}):
        return found in ([], {})
    if isinstance(said, (list, dict)):
        found, said = positions(found), positions(said)
        if isinstance(found, dict) and "_class" not in found:
            said = {key: value for key, value in said.items() if key != "_class"}
        # JSON has the second member with this name as PHP calls it.
        said = {key.replace("C::", "\0C\0"): value for key, value in said.items()}
        return isinstance(found, dict) and found.keys() == said.keys() and all(same(found[key], said[key]) for key in said)
    return isinstance(found, bool) == isinstance(said, bool) and found == said or found == f"{said}".rpartition(":")[2]


def agrees(found: Any, said: Any, kind: Any) -> bool:
    """Whether a value of a column of this type is what PHP says."""
    if said is None or found is None:
        return found is None and said is None
    if pa.types.is_struct(kind):
        said = positions(said)
        names = [kind.field(at).name for at in range(kind.num_fields)]
        parts = ((found[name], said.get(name), kind.field(name).type) for name in names)
        return said == {} or set(said) <= set(names) and all(agrees(*part) for part in parts)
    if pa.types.is_map(kind):
        said, entries = positions(said), dict(found)
        return list(entries) == list(said) and all(agrees(entries[key], said[key], kind.item_type) for key in said)
    if pa.types.is_list(kind):
        items = list(said.values()) if isinstance(said, dict) else said
        return len(found) == len(items) and all(agrees(*pair, kind.value_type) for pair in zip(found, items))
    if isinstance(found, str) and not isinstance(said, str):
        # Values of several types are JSON, or a number as text.
        return found == str(said) or same(json.loads(found), said)
    if isinstance(found, str):
        return found == said or found == json.dumps(said, ensure_ascii=False)
    return isinstance(found, bool) == isinstance(said, bool) and found == said


@pytest.mark.parametrize(("format", "freeze"), [("php", "serialize"), ("igbinary", "igbinary_serialize")])
def test_columns_have_the_values_that_php_wrote(format: str, freeze: str) -> None:
    if format == "igbinary" and php("echo (int)extension_loaded('igbinary');") != b"1":
        pytest.skip("SKIPPED: igbinary is not installed")
    code = CODE.replace("SEED", str(SEED)).replace("TABLES", str(TABLES)).replace("FREEZE", freeze)
    for line in php(code).splitlines():
        rows = json.loads(line)
        blobs = pa.array([bytes.fromhex(blob) for blob, _ in rows], pa.binary())
        decoded = icecore.arrow.decode(blobs, format=format)
        for found, (blob, said) in zip(decoded.to_pylist(), rows):
            assert agrees(found, said, decoded.type), (str(decoded.type), found, said, bytes.fromhex(blob))
