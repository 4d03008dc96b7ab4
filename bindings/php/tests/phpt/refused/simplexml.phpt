--TEST--
A SimpleXMLElement is refused
--EXTENSIONS--
simplexml
--FILE--
<?php
try {
    serialize(simplexml_load_string('<a/>'));
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Serialization of 'SimpleXMLElement' is not allowed
