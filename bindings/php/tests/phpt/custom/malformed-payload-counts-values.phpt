--TEST--
The values of a malformed payload count for links after it, which find nothing
--FILE--
<?php
class Keeps implements Serializable
{
    public $value;

    function serialize() { return 'x'; }
    function unserialize($text) { $this->value = unserialize($text); }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
$payload = 'a:2:{i:0;O:8:"stdClass":0:{}i:1;x}';
for ($number = 2; $number < 8; $number++) {
    var_dump(unserialize('a:3:{i:0;C:5:"Keeps":' . strlen($payload) . ":{{$payload}}" . 'i:1;O:8:"stdClass":0:{}i:2;r:' . $number
        . ';}'));
}
?>
--EXPECTF--
%s: unserialize(): Error at offset 32 of 34 bytes in %s on line %d
array(3) {
  [0]=>
  object(Keeps)#%d (1) {
    ["value"]=>
    bool(false)
  }
  [1]=>
  object(stdClass)#%d (0) {
  }
  [2]=>
  object(Keeps)#%d (1) {
    ["value"]=>
    bool(false)
  }
}

%s: unserialize(): Error at offset 32 of 34 bytes in %s on line %d

%s: unserialize(): Error at offset 91 of 92 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 32 of 34 bytes in %s on line %d

%s: unserialize(): Error at offset 91 of 92 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 32 of 34 bytes in %s on line %d

%s: unserialize(): Error at offset 91 of 92 bytes in %s on line %d
bool(false)

%s: unserialize(): Error at offset 32 of 34 bytes in %s on line %d
array(3) {
  [0]=>
  object(Keeps)#%d (1) {
    ["value"]=>
    bool(false)
  }
  [1]=>
  object(stdClass)#%d (0) {
  }
  [2]=>
  object(stdClass)#%d (0) {
  }
}

%s: unserialize(): Error at offset 32 of 34 bytes in %s on line %d

%s: unserialize(): Error at offset 91 of 92 bytes in %s on line %d
bool(false)
