--TEST--
A link can refer to each element of lists and maps of any size
--FILE--
<?php
$lost = 0;
foreach (['i:%d;', 's:3:"k%02d";'] as $key) {
    for ($n = 1; $n <= 33; $n++) {
        $elements = '';
        for ($i = 0; $i < $n; $i++) {
            $elements .= sprintf($key, $i) . "i:$i;";
        }
        for ($i = 0; $i < $n; $i++) {
            $v = unserialize("a:2:{i:0;a:$n:{{$elements}}i:1;R:" . (3 + $i) . ';}');
            $v[1] = 'new';
            $lost += array_values($v[0])[$i] !== 'new';
        }
    }
}
var_dump($lost);
?>
--EXPECT--
int(0)
