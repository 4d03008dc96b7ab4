--TEST--
A thousand dynamic properties
--FILE--
<?php
$o = new stdClass;
for ($i = 0; $i < 1000; $i++) {
    $o->{"p$i"} = $i;
}
var_dump(unserialize(serialize($o)) == $o);
?>
--EXPECT--
bool(true)
