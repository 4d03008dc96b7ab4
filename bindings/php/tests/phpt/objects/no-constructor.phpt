--TEST--
The constructor is not called
--FILE--
<?php
class Constructed
{
    public $a = 1;

    function __construct($must)
    {
        echo "constructed\n";
    }
}
var_dump(unserialize('O:11:"Constructed":0:{}')->a);
?>
--EXPECT--
int(1)
