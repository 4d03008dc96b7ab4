--TEST--
An object of an alias is written with the name of the class
--FILE--
<?php
class Original
{
    public $a = 1;
}
class_alias('Original', 'Shortcut');
echo serialize(new Shortcut), "\n";
echo get_class(unserialize('O:8:"Shortcut":0:{}')), "\n";
?>
--EXPECT--
O:8:"Original":1:{s:1:"a";i:1;}
Original
