--TEST--
When __unserialize is called, the properties have their defaults
--FILE--
<?php
class Defaults
{
    public $a = 'default';
    public int $typed;

    function __unserialize(array $data): void
    {
        var_dump($this->a, isset($this->typed), $data);
    }
}
unserialize('O:8:"Defaults":1:{s:1:"a";i:1;}');
?>
--EXPECT--
string(7) "default"
bool(false)
array(1) {
  ["a"]=>
  int(1)
}
