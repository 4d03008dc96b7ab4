--TEST--
allowed_classes true is the default
--FILE--
<?php
class Known
{
}
var_dump(get_class(unserialize('O:5:"Known":0:{}', ['allowed_classes' => true])));
?>
--EXPECT--
string(5) "Known"
