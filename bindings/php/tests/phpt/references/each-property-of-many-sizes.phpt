--TEST--
A link can refer to each dynamic property of objects of any size
--FILE--
<?php
#[AllowDynamicProperties]
class Row
{
    public $a;
    public $b;
    public $c;
}
$lost = 0;
for ($n = 1; $n <= 33; $n++) {
    $properties = '';
    for ($i = 0; $i < $n; $i++) {
        $properties .= 's:' . strlen("p$i") . ":\"p$i\";i:$i;";
    }
    for ($i = 0; $i < $n; $i++) {
        $v = unserialize("a:2:{i:0;O:3:\"Row\":$n:{{$properties}}i:1;R:" . (3 + $i) . ';}');
        $v[1] = 'new';
        $lost += $v[0]->{"p$i"} !== 'new';
    }
}
var_dump($lost);
?>
--EXPECT--
int(0)
