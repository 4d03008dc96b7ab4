--TEST--
The default limit is 4096 levels
--FILE--
<?php
$text = fn ($n) => str_repeat('a:1:{i:0;', $n) . 'i:1;' . str_repeat('}', $n);
var_dump(is_array(unserialize($text(4096))), unserialize($text(4097)));
?>
--EXPECTF--
Warning: unserialize(): Maximum depth of 4096 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 36869 of 40974 bytes in %s on line %d
bool(true)
bool(false)
