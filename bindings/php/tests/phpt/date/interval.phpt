--TEST--
A DateInterval keeps its parts
--FILE--
<?php
$i = new DateInterval('P1Y2M3DT4H5M6S');
$b = unserialize(serialize($i));
echo $b->format('%y %m %d %h %i %s %R'), "\n";
?>
--EXPECT--
1 2 3 4 5 6 +
