--TEST--
__wakeup of an inner object is called first
--FILE--
<?php
class Node
{
    public $name;
    public $child;

    function __wakeup()
    {
        echo "$this->name\n";
    }
}
unserialize('O:4:"Node":2:{s:4:"name";s:1:"a";s:5:"child";O:4:"Node":2:{s:4:"name";s:1:"b";s:5:"child";O:4:"Node":2:{s:4:"name";s:1:"c";s:5:"child";N;}}}');
?>
--EXPECT--
c
b
a
