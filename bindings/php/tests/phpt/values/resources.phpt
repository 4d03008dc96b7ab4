--TEST--
A resource is written as the integer 0
--FILE--
<?php
$file = fopen('php://memory', 'r');
echo serialize($file), serialize([$file]), "\n";
fclose($file);
echo serialize($file), "\n";
?>
--EXPECT--
i:0;a:1:{i:0;i:0;}
i:0;
