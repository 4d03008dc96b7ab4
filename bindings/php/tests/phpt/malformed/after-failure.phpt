--TEST--
A failed call does not affect the next one
--FILE--
<?php
for ($i = 0; $i < 3; $i++) {
    @unserialize('a:2:{i:0;O:8:"stdClass":1:{s:1:"a";R:1;}i:1;');
    var_dump(unserialize('a:2:{i:0;i:' . $i . ';i:1;R:2;}'));
}
?>
--EXPECT--
array(2) {
  [0]=>
  &int(0)
  [1]=>
  &int(0)
}
array(2) {
  [0]=>
  &int(1)
  [1]=>
  &int(1)
}
array(2) {
  [0]=>
  &int(2)
  [1]=>
  &int(2)
}
