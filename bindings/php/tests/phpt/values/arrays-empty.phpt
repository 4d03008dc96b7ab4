--TEST--
An empty array survives a round trip
--FILE--
<?php
echo $s = serialize([]), "\n";
var_dump(unserialize($s), unserialize('a:0:{}'));
?>
--EXPECT--
a:0:{}
array(0) {
}
array(0) {
}
