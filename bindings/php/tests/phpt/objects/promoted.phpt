--TEST--
Promoted properties are written like others
--FILE--
<?php
class Promoted
{
    function __construct(private int $a, protected ?string $b = null, public array $c = [])
    {
    }
}
echo strtr($s = serialize(new Promoted(1)), "\0", '~'), "\n";
var_dump(unserialize($s) == new Promoted(1));
?>
--EXPECT--
O:8:"Promoted":3:{s:11:"~Promoted~a";i:1;s:4:"~*~b";N;s:1:"c";a:0:{}}
bool(true)
