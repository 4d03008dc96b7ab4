--TEST--
A reference that nothing else refers to leaves no trace
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
