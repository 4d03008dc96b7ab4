--TEST--
A hook may change the variable that had the text
--FILE--
<?php
class Clears
{
    function __wakeup() { $GLOBALS['text'] = null; }
}
$long = str_repeat('long', 50);
$text = 'a:3:{i:0;O:6:"Clears":0:{}i:1;s:200:"' . $long . '";i:2;O:6:"Clears":0:{}}';
var_dump(unserialize($text)[1] === $long, $text);
?>
--EXPECT--
bool(true)
NULL
