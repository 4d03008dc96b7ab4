--TEST--
Integers of every size keep their value
--FILE--
<?php
$wrong = 0;
for ($bit = 0; $bit < 63; $bit++) {
    foreach ([(1 << $bit) - 1, 1 << $bit, -(1 << $bit), ~(1 << $bit)] as $i) {
        $wrong += unserialize(serialize([$i => $i])) !== [$i => $i];
    }
}
var_dump($wrong);
?>
--EXPECT--
int(0)
