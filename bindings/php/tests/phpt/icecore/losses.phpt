--TEST--
encode and convert list what a format can't express
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
class Point
{
    public $x = [INF, NAN];
    protected $y = 2;
}
Icecore\encode(new Point, 'json', $losses);
echo json_encode($losses), "\n";
Icecore\convert(serialize(new Point), null, 'marshal', $losses);
echo json_encode($losses), "\n";
Icecore\encode([1, 'a'], 'json', losses: $losses);
echo json_encode($losses), "\n";
Icecore\encode(new Point, 'php', $losses);
echo json_encode($losses), "\n";
$unchanged = 'unchanged';
try {
    Icecore\convert('i:1', 'php', 'json', $unchanged);
} catch (Icecore\DecodeException) {
    echo "$unchanged\n";
}
class Typed
{
    public int $losses = 0;
}
$typed = new Typed;
try {
    Icecore\encode(new Point, 'json', $typed->losses);
} catch (TypeError $error) {
    echo get_class($error), "\n";
}
?>
--EXPECT--
[{"kind":"visibility","count":1,"path":"$.y:protected","text":"1 visibility of a property dropped, first at $.y:protected"},{"kind":"class","count":1,"path":"$","text":"1 class name dropped, first at $"},{"kind":"float","count":2,"path":"$.x[0]","text":"2 infinite or undefined floats replaced, first at $.x[0]"}]
[{"kind":"visibility","count":1,"path":"$.y:protected","text":"1 visibility of a property dropped, first at $.y:protected"}]
[]
[]
unchanged
TypeError
