--TEST--
Three places of one variable stay one after one is unset
--FILE--
<?php
$x = 'v';
$a = [&$x, &$x, &$x];
$b = unserialize(serialize($a));
unset($b[1]);
$b[0] = 'w';
var_dump($b);
?>
--EXPECT--
array(2) {
  [0]=>
  &string(1) "w"
  [2]=>
  &string(1) "w"
}
