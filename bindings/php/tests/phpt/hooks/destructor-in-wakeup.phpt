--TEST--
An object that __wakeup releases is destroyed at once
--FILE--
<?php
class Part
{
    function __destruct() { echo "part destroyed\n"; }
}
class Whole
{
    public $part;

    function __wakeup()
    {
        echo "before\n";
        $this->part = null;
        echo "after\n";
    }
}
$o = unserialize('O:5:"Whole":1:{s:4:"part";O:4:"Part":0:{}}');
echo "read\n";
?>
--EXPECT--
before
part destroyed
after
read
