--TEST--
References to null and booleans are kept
--FILE--
<?php
$n = null;
$t = true;
$a = [&$n, &$n, &$t, &$t];
echo $s = serialize($a), "\n";
$v = unserialize($s);
$v[0] = 1;
$v[3] = 2;
var_dump($v[1], $v[2]);
?>
--EXPECT--
a:4:{i:0;N;i:1;R:2;i:2;b:1;i:3;R:3;}
int(1)
int(2)
