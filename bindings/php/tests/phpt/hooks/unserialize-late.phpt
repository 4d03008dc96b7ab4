--TEST--
__unserialize is called after the whole text was read
--FILE--
<?php
class Inner
{
    public $ready = false;

    function __unserialize(array $data): void
    {
        echo "inner {$data['n']}\n";
        $this->ready = true;
    }
}
class Outer
{
    function __unserialize(array $data): void
    {
        echo 'outer, inner is ', $data['inner']->ready ? "ready\n" : "not ready\n";
    }
}
unserialize('a:2:{i:0;O:5:"Outer":1:{s:5:"inner";O:5:"Inner":1:{s:1:"n";i:1;}}i:1;O:5:"Inner":1:{s:1:"n";i:2;}}');
?>
--EXPECT--
inner 1
outer, inner is ready
inner 2
