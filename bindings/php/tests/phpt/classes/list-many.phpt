--TEST--
A list may have ten thousand names
--FILE--
<?php
$list = array_map(fn ($i) => "Class$i", range(1, 10000));
$list[] = 'stdClass';
var_dump(get_class(unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => $list])));
?>
--EXPECT--
string(8) "stdClass"
