--TEST--
Objects that were read are destroyed like others
--FILE--
<?php
class Noisy
{
    public $name;

    function __destruct()
    {
        echo "destroyed $this->name\n";
    }
}
$v = unserialize('a:2:{i:0;O:5:"Noisy":1:{s:4:"name";s:1:"a";}i:1;O:5:"Noisy":1:{s:4:"name";s:1:"b";}}');
echo "read\n";
unset($v[0]);
echo "one is gone\n";
unset($v);
echo "end\n";
?>
--EXPECT--
read
destroyed a
one is gone
destroyed b
end
