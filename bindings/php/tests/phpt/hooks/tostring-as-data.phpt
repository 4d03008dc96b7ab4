--TEST--
A __toString that supplies the data may read itself
--FILE--
<?php
class Text
{
    function __toString(): string
    {
        var_dump(unserialize('i:1;'));
        return 'i:2;';
    }
}
var_dump(unserialize(new Text));
?>
--EXPECT--
int(1)
int(2)
