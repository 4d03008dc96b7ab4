--TEST--
Two places with the same array have two arrays after reading
--FILE--
<?php
$shared = [1];
$s = serialize([$shared, $shared]);
echo $s, "\n";
$back = unserialize($s);
$back[0][] = 2;
var_dump(count($back[1]));
?>
--EXPECT--
a:2:{i:0;a:1:{i:0;i:1;}i:1;a:1:{i:0;i:1;}}
int(1)
