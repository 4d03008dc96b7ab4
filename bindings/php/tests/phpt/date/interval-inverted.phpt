--TEST--
A negative DateInterval keeps its sign
--FILE--
<?php
$i = (new DateTime('2021-03-04'))->diff(new DateTime('2020-01-01'));
$b = unserialize(serialize($i));
echo $b->format('%R%a'), "\n";
?>
--EXPECT--
-428
