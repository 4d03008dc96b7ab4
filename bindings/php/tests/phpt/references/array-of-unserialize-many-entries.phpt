--TEST--
A link can refer to each entry of the array that __unserialize receives
--FILE--
<?php
class Takes
{
    public $data;

    function __unserialize(array $data): void { $this->data = $data; }
}
$lost = 0;
for ($n = 1; $n <= 33; $n++) {
    $entries = '';
    for ($i = 0; $i < $n; $i++) {
        $entries .= $i % 3 ? "s:3:\"k$i" . str_repeat('_', 2 - strlen($i)) . "\";i:$i;" : "i:$i;i:$i;";
    }
    for ($i = 0; $i < $n; $i++) {
        $v = unserialize("a:2:{i:0;O:5:\"Takes\":$n:{{$entries}}i:1;R:" . (3 + $i) . ';}');
        $v[1] = 'new';
        $lost += array_values($v[0]->data)[$i] !== 'new';
    }
}
var_dump($lost);
?>
--EXPECT--
int(0)
