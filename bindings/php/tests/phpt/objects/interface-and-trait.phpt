--TEST--
Interfaces and traits can't be read
--FILE--
<?php
interface I
{
}
trait T
{
}
foreach (['I', 'T'] as $name) {
    try {
        unserialize("O:1:\"$name\":0:{}");
    } catch (Error $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Cannot instantiate interface I
Cannot instantiate trait T
