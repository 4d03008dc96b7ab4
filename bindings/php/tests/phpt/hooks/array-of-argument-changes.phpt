--TEST--
__serialize may change the array that is being written
--FILE--
<?php
class Changes
{
    function __serialize(): array
    {
        $GLOBALS['list'][] = 'late';
        return [];
    }
}
$list = [new Changes, 2];
echo serialize($list), "\n";
var_dump(count($list));
?>
--EXPECT--
a:2:{i:0;O:7:"Changes":0:{}i:1;i:2;}
int(3)
