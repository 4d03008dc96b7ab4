--TEST--
The text of an incomplete object gives a complete one once the class exists
--FILE--
<?php
$text = serialize(unserialize('O:5:"Later":1:{s:1:"a";i:1;}'));
eval('class Later { public $a; }');
var_dump(unserialize($text)->a);
?>
--EXPECT--
int(1)
