--TEST--
The global functions can be called in a namespace without a backslash
--FILE--
<?php
namespace App;
echo serialize([1]), "\n";
var_dump(unserialize('i:2;'));
?>
--EXPECT--
a:1:{i:0;i:1;}
int(2)
