--TEST--
A clone is written as another object
--FILE--
<?php
$a = (object) ['n' => [1]];
$b = clone $a;
echo serialize([$a, $b, $a]), "\n";
?>
--EXPECT--
a:3:{i:0;O:8:"stdClass":1:{s:1:"n";a:1:{i:0;i:1;}}i:1;O:8:"stdClass":1:{s:1:"n";a:1:{i:0;i:1;}}i:2;r:2;}
