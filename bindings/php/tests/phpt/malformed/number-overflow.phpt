--TEST--
An integer beyond 64 bits is out of range
--SKIPIF--
<?php
if (PHP_INT_SIZE < 8) die('skip needs 64 bits');
?>
--FILE--
<?php
var_dump(unserialize('i:9223372036854775808;'), unserialize('i:-9223372036854775809;'), unserialize('a:1:{i:99999999999999999999;i:1;}'));
?>
--EXPECTF--
Warning: unserialize(): Numerical result out of range in %s on line %d

Warning: unserialize(): Numerical result out of range in %s on line %d

Warning: unserialize(): Numerical result out of range in %s on line %d
int(9223372036854775807)
int(-9223372036854775808)
array(1) {
  [9223372036854775807]=>
  int(1)
}
