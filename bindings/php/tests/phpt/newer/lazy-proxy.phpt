--TEST--
A lazy proxy is written as its real object
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
$o = (new ReflectionClass('Heavy'))->newLazyProxy(function () {
    $real = new Heavy;
    $real->data = 'real';
    return $real;
});
echo serialize($o), "\n";
?>
--EXPECT--
O:5:"Heavy":1:{s:4:"data";s:4:"real";}
