--TEST--
Both functions take named arguments
--FILE--
<?php
echo serialize(value: [1]), "\n";
var_dump(unserialize(options: ['allowed_classes' => false], data: 'i:1;'));
?>
--EXPECT--
a:1:{i:0;i:1;}
int(1)
