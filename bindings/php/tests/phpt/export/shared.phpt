--TEST--
A value that occurs twice is exported twice
--FILE--
<?php
$o = (object) ['a' => 1];
var_export([$o, $o]);
?>
--EXPECT--
array (
  0 => 
  (object) array(
     'a' => 1,
  ),
  1 => 
  (object) array(
     'a' => 1,
  ),
)
