--TEST--
A failed reading leaks no memory
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') die('skip needs the allocator of PHP');
?>
--FILE--
<?php
class Counted
{
    static $alive = 0;
    public $a;
}
$text = serialize([new Counted, new Counted]);
@unserialize(substr($text, 0, -1));
$before = memory_get_usage();
for ($i = 0; $i < 100; $i++) {
    @unserialize(substr($text, 0, -1));
}
var_dump(memory_get_usage() - $before < 2000);
?>
--EXPECT--
bool(true)
