--TEST--
allowed_classes restricts enums
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
enum Suit
{
    case Hearts;
}
var_dump(unserialize('E:11:"Suit:Hearts";', ['allowed_classes' => ['Suit']]));
try {
    unserialize('E:11:"Suit:Hearts";', ['allowed_classes' => ['Other']]);
} catch (Icecore\ClassException $e) {
    echo implode(', ', array_keys($e->classes)), "\n";
}
?>
--EXPECT--
enum(Suit::Hearts)
Suit
