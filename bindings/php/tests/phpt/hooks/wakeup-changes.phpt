--TEST--
__wakeup may change the object
--FILE--
<?php
class Opens
{
    public $name = 'x';
    public $handle;

    function __wakeup() { $this->handle = "opened $this->name"; }
}
var_dump(unserialize('O:5:"Opens":1:{s:4:"name";s:1:"f";}')->handle);
?>
--EXPECT--
string(8) "opened f"
