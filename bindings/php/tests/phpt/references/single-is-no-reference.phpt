--TEST--
A reference without a second place is not written
--FILE--
<?php
$x = 1;
$a = [&$x];
echo serialize($a), "\n";
unset($x);
echo serialize($a), "\n";
?>
--EXPECT--
a:1:{i:0;i:1;}
a:1:{i:0;i:1;}
