--TEST--
A list may have a name several times in different case
--FILE--
<?php
var_dump(get_class(unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => ['stdclass', 'STDCLASS', 'stdClass']])));
?>
--EXPECT--
string(8) "stdClass"
