--TEST--
Keys of other types than integers and strings are malformed
--FILE--
<?php
foreach (['b:1;', 'd:1.5;', 'N;', 'a:0:{}', 'O:8:"stdClass":0:{}', 'R:1;'] as $key) {
    var_dump(unserialize("a:1:{{$key}i:1;}"));
}
?>
--EXPECTF--
%s: unserialize(): Error at offset 9 of 14 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 11 of 16 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 7 of 12 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 10 of 16 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 5 of 29 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 9 of 14 bytes in %s on line %d
bool(false)
