--TEST--
Objects that precede a value of a wrong type are destroyed
--FILE--
<?php
class Typed
{
    public int $i = 0;
}
class Noisy
{
    function __destruct() { echo "destroyed\n"; }
}
try {
    unserialize('a:2:{i:0;O:5:"Noisy":0:{}i:1;O:5:"Typed":1:{s:1:"i";N;}}');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
echo "end\n";
?>
--EXPECT--
destroyed
Cannot assign null to property Typed::$i of type int
end
