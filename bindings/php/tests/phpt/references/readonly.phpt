--TEST--
An element may share a variable with a readonly property
--FILE--
<?php
class Fixed
{
    public readonly int $i;
}
try {
    var_dump(unserialize('a:2:{i:0;O:5:"Fixed":1:{s:1:"i";i:3;}i:1;R:3;}')[1]);
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
int(3)
