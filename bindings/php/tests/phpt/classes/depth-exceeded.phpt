--TEST--
A text with more levels than max_depth is refused
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;a:1:{i:0;a:1:{i:0;i:5;}}}', ['max_depth' => 2]));
?>
--EXPECTF--
Warning: unserialize(): Maximum depth of 2 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 23 of 34 bytes in %s on line %d
bool(false)
