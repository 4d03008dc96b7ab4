--TEST--
A link can refer to each entry of an array with repeated keys
--FILE--
<?php
$lost = 0;
for ($n = 2; $n <= 34; $n += 2) {
    $entries = '';
    for ($i = 0; $i < $n; $i++) {
        $entries .= 's:2:"k' . chr(65 + intdiv($i, 2)) . "\";i:$i;";
    }
    for ($i = 0; $i < $n; $i++) {
        $v = unserialize("a:2:{i:0;a:$n:{{$entries}}i:1;R:" . (3 + $i) . ';}');
        $v[1] = 'new';
        $lost += $v[0]['k' . chr(65 + intdiv($i, 2))] !== 'new';
    }
}
var_dump($lost);
?>
--EXPECT--
int(0)
