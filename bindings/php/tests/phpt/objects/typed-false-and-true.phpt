--TEST--
The types false, null and true are checked
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
class Flags
{
    public false $f = false;
    public null $n = null;
    public true $t = true;
}
var_dump(unserialize(serialize(new Flags)) == new Flags);
try {
    unserialize('O:5:"Flags":1:{s:1:"f";b:1;}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
bool(true)
Cannot assign %s to property Flags::$f of type false
