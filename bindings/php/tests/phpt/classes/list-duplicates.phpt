--TEST--
A list with a name twice in different letters
--FILE--
<?php
var_dump(get_class(unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => ['stdclass', 'STDCLASS', 'stdClass']])));
?>
--EXPECT--
string(8) "stdClass"
