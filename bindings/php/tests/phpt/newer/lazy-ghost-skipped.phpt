--TEST--
With SKIP_INITIALIZATION_ON_SERIALIZE a lazy object is written uninitialized
--SKIPIF--
<?php
if (PHP_VERSION_ID < 80400) die('skip needs PHP 8.4');
?>
--FILE--
<?php
class Heavy
{
    public $data = 'none';
}
$o = (new ReflectionClass('Heavy'))->newLazyGhost(function (Heavy $o) {
    echo "initialized\n";
}, ReflectionClass::SKIP_INITIALIZATION_ON_SERIALIZE);
echo serialize($o), "\n";
?>
--EXPECT--
O:5:"Heavy":0:{}
