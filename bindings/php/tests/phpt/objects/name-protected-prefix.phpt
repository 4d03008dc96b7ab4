--TEST--
A protected name in stdClass is kept mangled
--FILE--
<?php
$o = unserialize("O:8:\"stdClass\":1:{s:4:\"\0*\0p\";i:1;}");
foreach ((array) $o as $name => $value) {
    echo strtr($name, "\0", '~'), "=$value\n";
}
var_dump(isset($o->p));
?>
--EXPECT--
~*~p=1
bool(false)
