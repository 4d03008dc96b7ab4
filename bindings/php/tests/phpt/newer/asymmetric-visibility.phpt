--TEST--
A property that only the class may write is read
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80400) die('skip needs PHP 8.4');
?>
--FILE--
<?php
class Account
{
    public private(set) int $balance = 1;
}
var_dump(unserialize('O:7:"Account":1:{s:7:"balance";i:9;}')->balance);
?>
--EXPECT--
int(9)
