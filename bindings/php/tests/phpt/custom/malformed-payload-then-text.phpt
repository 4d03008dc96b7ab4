--TEST--
A malformed payload of ArrayObject throws if the text is malformed further on
--FILE--
<?php
foreach (['a:2:{i:0;C:11:"ArrayObject":7:{x:i:0;r}', 'a:3:{i:0;C:8:"SplQueue":4:{i:4;}i:1;C:11:"ArrayObject":6:{x:i:0;}x',
    'a:3:{i:0;C:8:"SplQueue":4:{i:4;}i:1;x'] as $text) {
    try {
        var_dump(unserialize($text));
    } catch (UnexpectedValueException $error) {
        echo $error->getMessage(), "\n";
    }
}
?>
--EXPECTF--
Error at offset 6 of 7 bytes
Error at offset 6 of 6 bytes

%s: unserialize(): Error at offset 36 of 37 bytes in %s on line %d
bool(false)
