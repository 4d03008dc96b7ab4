--TEST--
A link a hundred levels deep can refer to an object at the top
--FILE--
<?php
$o = new stdClass;
$v = $o;
for ($i = 0; $i < 100; $i++) {
    $v = [$v];
}
$back = unserialize(serialize([$o, $v]));
$in = $back[1];
while (is_array($in)) {
    $in = $in[0];
}
var_dump($in === $back[0]);
?>
--EXPECT--
bool(true)
