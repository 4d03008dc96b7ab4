--TEST--
A backed property with hooks is written with its raw value
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80400) die('skip needs PHP 8.4');
?>
--FILE--
<?php
class Temperature
{
    public float $celsius = 0.5 {
        get { echo "get\n"; return $this->celsius; }
        set { echo "set\n"; $this->celsius = $value; }
    }
}
echo $s = serialize(new Temperature), "\n";
unserialize($s);
?>
--EXPECT--
O:11:"Temperature":1:{s:7:"celsius";d:0.5;}
