--TEST--
A link can refer to each entry of an array that begins as a list
--FILE--
<?php
$lost = 0;
for ($n = 2; $n <= 33; $n++) {
    $entries = '';
    for ($i = 0; $i < $n; $i++) {
        $entries .= $i < $n - 1 ? "i:$i;i:$i;" : "s:4:\"last\";i:$i;";
    }
    for ($i = 0; $i < $n; $i++) {
        $v = unserialize("a:2:{i:0;a:$n:{{$entries}}i:1;R:" . (3 + $i) . ';}');
        $v[1] = 'new';
        $lost += array_values($v[0])[$i] !== 'new';
    }
}
var_dump($lost);
?>
--EXPECT--
int(0)
