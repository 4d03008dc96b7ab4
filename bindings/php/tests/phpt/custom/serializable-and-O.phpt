--TEST--
A class with Serializable only can't be read from O:
--FILE--
<?php
class Only implements Serializable
{
    public $text = 'abc';

    function serialize() { return $this->text; }
    function unserialize($text) { $this->text = $text; }
}
try {
    var_dump(unserialize('O:4:"Only":1:{s:4:"text";s:1:"x";}'));
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
Deprecated: Only implements the Serializable interface, which is deprecated. Implement __serialize() and __unserialize() instead (or in addition, if support for old PHP versions is necessary) in %s on line %d

Warning: Erroneous data format for unserializing 'Only' in %s on line %d

%s: unserialize(): Error at offset 14 of 34 bytes in %s on line %d
bool(false)
