--TEST--
Union and intersection types are checked
--FILE--
<?php
interface I
{
}
interface J
{
}
class Both implements I, J
{
}
class One implements I
{
}
class Holder
{
    public I&J $both;
    public int|Both|null $some;
}
var_dump(unserialize('O:6:"Holder":2:{s:4:"both";O:4:"Both":0:{}s:4:"some";N;}')->some);
foreach (['s:4:"both";O:3:"One":0:{}', 's:4:"some";d:1.5;'] as $property) {
    try {
        unserialize("O:6:\"Holder\":1:{{$property}}");
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
NULL
Cannot assign One to property Holder::$both of type I&J
Cannot assign float to property Holder::$some of type Both|int|null
