--TEST--
The length of a class name must be right
--FILE--
<?php
foreach (['O:7:"stdClass":0:{}', 'O:9:"stdClass":0:{}', 'O:0:"":0:{}', 'O:-1:"stdClass":0:{}'] as $text) {
    var_dump(unserialize($text));
}
?>
--EXPECTF--
%s: unserialize(): Error at offset 12 of 19 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 14 of 19 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 2 of 11 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 0 of 20 bytes in %s on line %d
bool(false)
