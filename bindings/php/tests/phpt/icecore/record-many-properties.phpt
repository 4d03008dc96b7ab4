--TEST--
A link can refer to each property of a record of any size
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
$lost = 0;
for ($n = 1; $n <= 33; $n++) {
    $properties = '';
    for ($i = 0; $i < $n; $i++) {
        $properties .= 's:' . strlen("p$i") . ":\"p$i\";i:$i;";
    }
    for ($i = 0; $i < $n; $i++) {
        $v = unserialize("a:2:{i:0;O:4:\"None\":$n:{{$properties}}i:1;R:" . (3 + $i) . ';}', ['classes' => 'record']);
        $v[1] = 'new';
        $lost += $v[0]->properties["p$i"] !== 'new';
    }
}
var_dump($lost);
?>
--EXPECT--
int(0)
