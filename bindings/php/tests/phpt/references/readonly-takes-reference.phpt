--TEST--
A readonly property may share a variable with an earlier element, which can be changed
--FILE--
<?php
class Fixed
{
    public readonly int $i;
}
try {
    $v = unserialize('a:2:{i:0;i:3;i:1;O:5:"Fixed":1:{s:1:"i";R:2;}}');
    $v[0] = 4;
    var_dump($v[1]->i);
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
int(4)
