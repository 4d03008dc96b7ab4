--TEST--
An object in two arrays that are one variable stays shared
--FILE--
<?php
$list = [new stdClass];
$a = [&$list, &$list, $list[0]];
echo $s = serialize($a), "\n";
$b = unserialize($s);
var_dump($b[0][0] === $b[2]);
$b[1][] = 1;
var_dump(count($b[0]));
?>
--EXPECT--
a:3:{i:0;a:1:{i:0;O:8:"stdClass":0:{}}i:1;R:2;i:2;r:3;}
bool(true)
int(2)
