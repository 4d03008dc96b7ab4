--TEST--
An object with a thousand dynamic properties survives a round trip
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
