--TEST--
A readonly private property gets its value under its old public name
--FILE--
<?php
class Money
{
    private readonly int $amount;

    function amount() { return $this->amount; }
}
var_dump(unserialize('O:5:"Money":1:{s:6:"amount";i:5;}')->amount());
?>
--EXPECT--
int(5)
