--TEST--
max_depth holds for a text whose classes allowed_classes does not allow
--FILE--
<?php
var_dump(unserialize('a:1:{i:0;O:4:"None":0:{}}', ['max_depth' => 1, 'allowed_classes' => false]));
?>
--EXPECTF--
Warning: unserialize(): Maximum depth of 1 exceeded. The depth limit can be changed using the max_depth unserialize() option or the unserialize_max_depth ini setting in %s on line %d

%s: unserialize(): Error at offset 23 of 25 bytes in %s on line %d
bool(false)
