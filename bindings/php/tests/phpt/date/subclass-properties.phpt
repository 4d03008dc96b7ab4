--TEST--
A child of DateTimeImmutable keeps its own properties
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80200) die('skip needs PHP 8.2');
?>
--FILE--
<?php
class Moment extends DateTimeImmutable
{
    public $label = 'l';
    private $secret = 's';

    function secret() { return $this->secret; }
}
$o = new Moment('2020-01-01 UTC');
$o->label = 'changed';
echo strtr($s = serialize($o), "\0", '~'), "\n";
$b = unserialize($s);
var_dump($b->label, $b->secret(), $b == $o);
?>
--EXPECT--
O:6:"Moment":5:{s:4:"date";s:26:"2020-01-01 00:00:00.000000";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";s:5:"label";s:7:"changed";s:14:"~Moment~secret";s:1:"s";}
string(7) "changed"
string(1) "s"
bool(true)
