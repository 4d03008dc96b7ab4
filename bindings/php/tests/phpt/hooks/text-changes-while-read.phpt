--TEST--
A hook that changes the variable which held the text
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
