--TEST--
Classes in a namespace are written with their full name
--FILE--
<?php
namespace App\Model;
class User
{
    protected $name = 'x';
    private $id = 1;
}
echo strtr($s = serialize(new User), "\0", '~'), "\n";
var_dump(unserialize($s) instanceof User);
?>
--EXPECT--
O:14:"App\Model\User":2:{s:7:"~*~name";s:1:"x";s:18:"~App\Model\User~id";i:1;}
bool(true)
