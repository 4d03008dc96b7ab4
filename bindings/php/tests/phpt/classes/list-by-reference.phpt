--TEST--
unserialize does not change the list in allowed_classes
--FILE--
<?php
$list = ['StdClass', 'Other'];
unserialize('O:8:"stdClass":0:{}', ['allowed_classes' => &$list]);
var_dump($list);
?>
--EXPECT--
array(2) {
  [0]=>
  string(8) "StdClass"
  [1]=>
  string(5) "Other"
}
