--TEST--
Names of cases may have non-ASCII letters
--FILE--
<?php
enum Größe
{
    case Klein;
    case größer;
}
echo $s = serialize([Größe::größer, Größe::Klein]), "\n";
var_dump(unserialize($s) === [Größe::größer, Größe::Klein]);
?>
--EXPECT--
a:2:{i:0;E:16:"Größe:größer";i:1;E:13:"Größe:Klein";}
bool(true)
