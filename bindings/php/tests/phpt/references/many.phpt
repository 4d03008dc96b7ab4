--TEST--
A thousand references to one variable stay one
--FILE--
<?php
$x = 0;
$a = [];
for ($i = 0; $i < 1000; $i++) {
    $a[] = &$x;
}
$b = unserialize(serialize($a));
$b[999] = 'last';
var_dump($b[0], $b[500]);
?>
--EXPECT--
string(4) "last"
string(4) "last"
