--TEST--
A reference that a loop leaves in an array is written only if it occurs twice
--FILE--
<?php
$a = [1, 2, 3];
foreach ($a as &$v);
echo serialize($a), "\n";
$copy = [$a, &$v];
echo serialize($copy), "\n";
?>
--EXPECT--
a:3:{i:0;i:1;i:1;i:2;i:2;i:3;}
a:2:{i:0;a:3:{i:0;i:1;i:1;i:2;i:2;i:3;}i:1;R:5;}
