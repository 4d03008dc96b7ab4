--TEST--
A function of the namespace takes precedence over the global one
--FILE--
<?php
namespace App;
function serialize($value)
{
    return 'mine ' . \serialize($value);
}
echo serialize(1), "\n";
?>
--EXPECT--
mine i:1;
