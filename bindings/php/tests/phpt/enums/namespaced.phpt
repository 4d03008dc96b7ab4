--TEST--
An enum in a namespace survives a round trip
--FILE--
<?php
namespace App;
enum Kind: string
{
    case A = 'a';
}
echo $s = serialize(Kind::A), "\n";
var_dump(unserialize($s) === Kind::A);
?>
--EXPECT--
E:10:"App\Kind:A";
bool(true)
