--TEST--
A typed property and an element that are one variable keep the type
--FILE--
<?php
class Typed
{
    public ?int $i = 1;
}
$v = unserialize('a:2:{i:0;O:5:"Typed":1:{s:1:"i";i:3;}i:1;R:3;}');
$v[1] = null;
var_dump($v[0]->i);
try {
    $v[1] = [];
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
NULL
Cannot assign array to reference held by property Typed::$i of type ?int
