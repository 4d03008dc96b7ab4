--TEST--
unserialize_max_depth is the default for max_depth
--INI--
unserialize_max_depth=3
--FILE--
<?php
$text = fn ($n) => str_repeat('a:1:{i:0;', $n) . 'i:1;' . str_repeat('}', $n);
var_dump(is_array(unserialize($text(3))), @unserialize($text(4)), is_array(unserialize($text(4), ['max_depth' => 4])));
ini_set('unserialize_max_depth', '5');
var_dump(is_array(unserialize($text(5))));
?>
--EXPECT--
bool(true)
bool(false)
bool(true)
bool(true)
