--TEST--
A readonly property may be repeated in the text
--FILE--
<?php
class Money
{
    public readonly int $amount;
}
try {
    var_dump(unserialize('O:5:"Money":2:{s:6:"amount";i:1;s:6:"amount";i:2;}'));
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
object(Money)#%d (1) {
  ["amount"]=>
  int(2)
}
