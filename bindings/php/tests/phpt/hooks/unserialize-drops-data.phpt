--TEST--
An object in the data of __unserialize is destroyed if nothing keeps it
--FILE--
<?php
class Part
{
    function __destruct() { echo "part destroyed\n"; }
}
class Drops
{
    function __unserialize(array $data): void { echo "taken\n"; }
}
$o = unserialize('O:5:"Drops":1:{i:0;O:4:"Part":0:{}}');
echo "read\n";
?>
--EXPECT--
taken
part destroyed
read
