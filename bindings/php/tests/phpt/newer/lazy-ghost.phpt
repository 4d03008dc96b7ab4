--TEST--
Writing a lazy object initializes it
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
    $o->data = 'loaded';
});
echo serialize($o), "\n";
?>
--EXPECT--
initialized
O:5:"Heavy":1:{s:4:"data";s:6:"loaded";}
