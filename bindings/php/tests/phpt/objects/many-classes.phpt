--TEST--
Objects of a hundred alternating classes survive a round trip
--FILE--
<?php
$list = [];
for ($i = 0; $i < 100; $i++) {
    eval("class C$i { public \$a = $i; protected \$b$i = 'x'; private \$c = [$i]; }");
}
for ($i = 0; $i < 300; $i++) {
    $class = 'C' . ($i * 7 % 100);
    $list[] = new $class;
}
var_dump(unserialize(serialize($list)) == $list);
?>
--EXPECT--
bool(true)
