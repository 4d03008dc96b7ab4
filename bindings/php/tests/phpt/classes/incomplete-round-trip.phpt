--TEST--
An incomplete object is written as the text from which it was read
--FILE--
<?php
$text = "O:4:\"None\":3:{s:1:\"a\";i:1;s:4:\"\0*\0b\";i:2;s:7:\"\0None\0c\";a:1:{i:0;O:5:\"Other\":0:{}}}";
var_dump(serialize(unserialize($text)) === $text);
?>
--EXPECT--
bool(true)
