--TEST--
The case expression is evaluated when it is first read
--FILE--
<?php
class Lazy
{
    const V = 'from a constant';
}
enum Text: string
{
    case One = Lazy::V;
}
var_dump(unserialize('E:8:"Text:One";')->value);
?>
--EXPECT--
string(15) "from a constant"
