--TEST--
A later hook may change an object that an earlier one has seen
--FILE--
<?php
class First
{
    public $list = [];

    function __wakeup() { $this->list[] = 'first'; }
}
class Second
{
    public $first;

    function __wakeup() { $this->first->list[] = 'second'; }
}
$v = unserialize('a:2:{i:0;O:5:"First":1:{s:4:"list";a:0:{}}i:1;O:6:"Second":1:{s:5:"first";r:2;}}');
echo implode(' ', $v[0]->list), "\n";
?>
--EXPECT--
first second
