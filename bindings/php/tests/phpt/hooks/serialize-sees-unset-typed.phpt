--TEST--
__serialize with get_object_vars sees only initialised properties
--FILE--
<?php
class Typed
{
    public int $a = 1;
    private ?string $b;

    function __serialize(): array { return get_object_vars($this); }
    function __unserialize(array $data): void { foreach ($data as $name => $value) $this->$name = $value; }
}
echo $s = serialize(new Typed), "\n";
var_dump(unserialize($s) == new Typed);
?>
--EXPECT--
O:5:"Typed":1:{s:1:"a";i:1;}
bool(true)
