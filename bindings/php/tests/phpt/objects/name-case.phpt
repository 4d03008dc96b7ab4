--TEST--
Class names in the text match without regard to case
--FILE--
<?php
class MixedCase
{
    public $a = 1;
}
echo serialize(unserialize('O:9:"mixedcase":0:{}')), "\n";
echo get_class(unserialize('O:8:"STDCLASS":0:{}')), "\n";
?>
--EXPECT--
O:9:"MixedCase":1:{s:1:"a";i:1;}
stdClass
