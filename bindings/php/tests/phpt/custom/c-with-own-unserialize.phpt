--TEST--
C: of a class with __unserialize alone
--FILE--
<?php
class Takes
{
    function __unserialize(array $data): void { }
}
var_dump(unserialize('C:5:"Takes":0:{}'));
?>
--EXPECTF--
Warning: Class Takes has no unserializer in %s on line %d
object(Takes)#%d (0) {
}
