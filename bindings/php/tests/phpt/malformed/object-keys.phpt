--TEST--
Property names must be strings or integers
--FILE--
<?php
foreach (['b:1;', 'd:1.5;', 'N;', 'a:0:{}'] as $key) {
    var_dump(unserialize("O:8:\"stdClass\":1:{{$key}i:1;}"));
}
?>
--EXPECTF--
%s: unserialize(): Error at offset 22 of 27 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 24 of 29 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 20 of 25 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 23 of 29 bytes in %s on line %d
bool(false)
