--TEST--
The argument may be a reference itself
--FILE--
<?php
$a = [1];
$r = &$a;
echo serialize($r), serialize($a), "\n";
?>
--EXPECT--
a:1:{i:0;i:1;}a:1:{i:0;i:1;}
