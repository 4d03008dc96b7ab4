--TEST--
Strings that are not UTF-8 survive a round trip
--FILE--
<?php
$value = ["\xff\xfe" => "\xc3\x28", 'k' => "\x80"];
$s = serialize($value);
echo bin2hex($s), "\n";
var_dump(unserialize($s) === $value);
?>
--EXPECT--
613a323a7b733a323a22fffe223b733a323a22c328223b733a313a226b223b733a313a2280223b7d
bool(true)
