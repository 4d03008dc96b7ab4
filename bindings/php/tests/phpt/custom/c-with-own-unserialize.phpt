--TEST--
__unserialize does not read the payload of a C: object
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
