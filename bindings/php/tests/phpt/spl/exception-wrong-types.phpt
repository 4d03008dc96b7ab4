--TEST--
A message of a wrong type is removed from an exception
--FILE--
<?php
try {
    $e = unserialize("O:9:\"Exception\":1:{s:10:\"\0*\0message\";i:5;}");
    var_dump($e->getMessage());
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
Warning: Undefined property: Exception::$message in %s on line %d
string(0) ""
