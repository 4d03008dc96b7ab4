--TEST--
A class decides what a malformed payload means
--FILE--
<?php
abstract class Base implements Serializable
{
    public $value;

    function serialize() { return 'x'; }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
class Keeps extends Base
{
    function unserialize($text) { $this->value = unserialize($text); }
}
class Throws extends Base
{
    function unserialize($text)
    {
        if (unserialize($text) === false) {
            throw new DomainException($text);
        }
    }
}
class Encoded extends Base
{
    function unserialize($text) { $this->value = unserialize(base64_decode($text)); }
}
class Wakes
{
    function __wakeup() { echo "wakeup\n"; }
}
foreach (['a:1:{i:0;', 'i:5', 'O:5:"Wakes":0:{}', 'a:2:{i:0;O:5:"Wakes":0:{}i:1;x}', 's:9:"a";', 'C:5:"Keeps":9:{i:5;}', 'r:1;',
    'O:4:"No:e":0:{}', 'O:5:"Keeps":1:{s:1:"a";i:1;}'] as $payload) {
    foreach (['Keeps', 'Throws', 'Encoded'] as $class) {
        $sent = $class === 'Encoded' ? base64_encode($payload) : $payload;
        $text = 'a:2:{i:0;C:' . strlen($class) . ":\"$class\":" . strlen($sent) . ":{{$sent}}i:1;r:2;}";
        try {
            echo "$class $payload: ", json_encode(unserialize($text)), "\n";
        } catch (Exception $error) {
            echo "$class $payload: ", get_class($error), ' ', $error->getMessage(), "\n";
        }
    }
}
?>
--EXPECTF--
Keeps a:1:{i:0;: 
%s: unserialize(): Error at offset 9 of 9 bytes in %s on line %d
[{"value":false},{"value":false}]
Throws a:1:{i:0;: 
%s: unserialize(): Error at offset 9 of 9 bytes in %s on line %d
Throws a:1:{i:0;: DomainException a:1:{i:0;
Encoded a:1:{i:0;: 
%s: unserialize(): Error at offset 9 of 9 bytes in %s on line %d
[{"value":false},{"value":false}]
Keeps i:5: 
%s: unserialize(): Error at offset 0 of 3 bytes in %s on line %d
[{"value":false},{"value":false}]
Throws i:5: 
%s: unserialize(): Error at offset 0 of 3 bytes in %s on line %d
Throws i:5: DomainException i:5
Encoded i:5: 
%s: unserialize(): Error at offset 0 of 3 bytes in %s on line %d
[{"value":false},{"value":false}]
Keeps O:5:"Wakes":0:{}: wakeup
[{"value":{}},{"value":{}}]
Throws O:5:"Wakes":0:{}: wakeup
[{"value":null},{"value":null}]
Encoded O:5:"Wakes":0:{}: wakeup
[{"value":{}},{"value":{}}]
Keeps a:2:{i:0;O:5:"Wakes":0:{}i:1;x}: 
%s: unserialize(): Error at offset 29 of 31 bytes in %s on line %d
wakeup
[{"value":false},{"value":false}]
Throws a:2:{i:0;O:5:"Wakes":0:{}i:1;x}: 
%s: unserialize(): Error at offset 29 of 31 bytes in %s on line %d
Throws a:2:{i:0;O:5:"Wakes":0:{}i:1;x}: DomainException a:2:{i:0;O:5:"Wakes":0:{}i:1;x}
Encoded a:2:{i:0;O:5:"Wakes":0:{}i:1;x}: 
%s: unserialize(): Error at offset 29 of 31 bytes in %s on line %d
wakeup
[{"value":false},{"value":false}]
Keeps s:9:"a";: 
%s: unserialize(): Error at offset 2 of 8 bytes in %s on line %d
[{"value":false},{"value":false}]
Throws s:9:"a";: 
%s: unserialize(): Error at offset 2 of 8 bytes in %s on line %d
Throws s:9:"a";: DomainException s:9:"a";
Encoded s:9:"a";: 
%s: unserialize(): Error at offset 2 of 8 bytes in %s on line %d
[{"value":false},{"value":false}]
Keeps C:5:"Keeps":9:{i:5;}: 
Warning: Insufficient data for unserializing - 9 required, 5 present in %s on line %d

%s: unserialize(): Error at offset 15 of 20 bytes in %s on line %d
[{"value":false},{"value":false}]
Throws C:5:"Keeps":9:{i:5;}: 
Warning: Insufficient data for unserializing - 9 required, 5 present in %s on line %d

%s: unserialize(): Error at offset 15 of 20 bytes in %s on line %d
Throws C:5:"Keeps":9:{i:5;}: DomainException C:5:"Keeps":9:{i:5;}
Encoded C:5:"Keeps":9:{i:5;}: 
Warning: Insufficient data for unserializing - 9 required, 5 present in %s on line %d

%s: unserialize(): Error at offset 15 of 20 bytes in %s on line %d
[{"value":false},{"value":false}]
Keeps r:1;: 
%s: unserialize(): Error at offset 4 of 4 bytes in %s on line %d
[{"value":false},{"value":false}]
Throws r:1;: 
%s: unserialize(): Error at offset 4 of 4 bytes in %s on line %d
Throws r:1;: DomainException r:1;
Encoded r:1;: 
%s: unserialize(): Error at offset 4 of 4 bytes in %s on line %d
[{"value":false},{"value":false}]
Keeps O:4:"No:e":0:{}: 
%s: unserialize(): Error at offset 0 of 15 bytes in %s on line %d
[{"value":false},{"value":false}]
Throws O:4:"No:e":0:{}: 
%s: unserialize(): Error at offset 0 of 15 bytes in %s on line %d
Throws O:4:"No:e":0:{}: DomainException O:4:"No:e":0:{}
Encoded O:4:"No:e":0:{}: 
%s: unserialize(): Error at offset 0 of 15 bytes in %s on line %d
[{"value":false},{"value":false}]
Keeps O:5:"Keeps":1:{s:1:"a";i:1;}: [{"value":{"value":null}},{"value":{"value":null}}]
Throws O:5:"Keeps":1:{s:1:"a";i:1;}: [{"value":null},{"value":null}]
Encoded O:5:"Keeps":1:{s:1:"a";i:1;}: [{"value":{"value":null}},{"value":{"value":null}}]
