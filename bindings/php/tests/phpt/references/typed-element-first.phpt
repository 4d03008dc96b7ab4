--TEST--
An earlier element that is linked by a typed property gets its type
--FILE--
<?php
class Typed
{
    public ?int $i = 1;
}
$v = unserialize('a:2:{i:0;i:3;i:1;O:5:"Typed":1:{s:1:"i";R:2;}}');
try {
    $v[0] = 'text';
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
var_dump($v[1]->i);
?>
--EXPECT--
Cannot assign string to reference held by property Typed::$i of type ?int
int(3)
