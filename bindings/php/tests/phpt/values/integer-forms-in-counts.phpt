--TEST--
Counts and lengths may have leading zeros
--FILE--
<?php
var_dump(@unserialize('a:01:{i:0;s:02:"ab";}'), @unserialize('O:08:"stdClass":00:{}') == new stdClass);
?>
--EXPECT--
array(1) {
  [0]=>
  string(2) "ab"
}
bool(true)
