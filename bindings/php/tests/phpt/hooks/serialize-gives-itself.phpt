--TEST--
__serialize may return the object itself
--FILE--
<?php
class Itself
{
    function __serialize(): array { return ['me' => $this]; }
    function __unserialize(array $data): void { var_dump($data['me'] === $this); }
}
$o = new Itself;
echo $s = serialize($o), "\n";
unserialize($s);
?>
--EXPECT--
O:6:"Itself":1:{s:2:"me";r:1;}
bool(true)
