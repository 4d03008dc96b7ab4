--TEST--
SPL objects are exported by __set_state
--FILE--
<?php
var_export([new ArrayObject(['a' => 1]), new SplObjectStorage]);
?>
--EXPECT--
array (
  0 => 
  \ArrayObject::__set_state(array(
     'a' => 1,
  )),
  1 => 
  \SplObjectStorage::__set_state(array(
  )),
)
