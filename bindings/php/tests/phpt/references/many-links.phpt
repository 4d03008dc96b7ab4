--TEST--
A thousand links refer to the right objects
--FILE--
<?php
$objects = array_map(fn ($i) => (object) ['i' => $i], range(0, 999));
$a = array_merge($objects, array_reverse($objects));
$b = unserialize(serialize($a));
$same = 0;
for ($i = 0; $i < 1000; $i++) {
    $same += $b[$i] === $b[1999 - $i] && $b[$i]->i === $i;
}
var_dump($same);
?>
--EXPECT--
int(1000)
