--TEST--
max_depth counts objects as it counts arrays
--FILE--
<?php
var_dump(unserialize('O:8:"stdClass":1:{s:1:"a";O:8:"stdClass":1:{s:1:"a";O:8:"stdClass":1:{s:1:"a";i:1;}}}', ['max_depth' => 2]));
?>
--EXPECTF--
Warning: unserialize(): Maximum depth of 2 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 70 of 85 bytes in %s on line %d
bool(false)
