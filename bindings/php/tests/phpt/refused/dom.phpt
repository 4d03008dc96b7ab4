--TEST--
DOM nodes are refused unless a child has hooks
--EXTENSIONS--
dom
--FILE--
<?php
try {
    serialize(new DOMDocument);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
class Stored extends DOMDocument
{
    function __serialize(): array { return [$this->saveXML()]; }
    function __unserialize(array $data): void { $this->loadXML($data[0]); }
}
$d = new Stored;
$d->loadXML('<a><b/></a>');
try {
    echo unserialize(serialize($d))->documentElement->tagName, "\n";
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'DOMDocument' is not allowed, unless serialization methods are implemented in a subclass
a
