--TEST--
Objects of a readonly class survive a round trip
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
readonly class Pair
{
    function __construct(public int $a, public ?Pair $next = null)
    {
    }
}
echo $s = serialize(new Pair(1, new Pair(2))), "\n";
var_dump(unserialize($s)->next->a);
?>
--EXPECT--
O:4:"Pair":2:{s:1:"a";i:1;s:4:"next";O:4:"Pair":2:{s:1:"a";i:2;s:4:"next";N;}}
int(2)
