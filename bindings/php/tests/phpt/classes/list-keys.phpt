--TEST--
Keys of allowed_classes are ignored
--FILE--
<?php
var_dump(get_class(unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => ['x' => 'stdClass', 9 => 'Other']])));
?>
--EXPECT--
string(8) "stdClass"
