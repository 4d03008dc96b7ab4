--TEST--
unserialize within __unserialize has links of its own
--FILE--
<?php
class Reads
{
    public $value;

    function __serialize(): array { return [serialize($this->value)]; }
    function __unserialize(array $data): void { $this->value = unserialize($data[0]); }
}
$o = new Reads;
$o->value = new Reads;
$o->value->value = [1, 2];
echo $s = serialize([$o, $o]), "\n";
var_dump(unserialize($s)[1]->value->value);
?>
--EXPECT--
a:2:{i:0;O:5:"Reads":1:{i:0;s:50:"O:5:"Reads":1:{i:0;s:22:"a:2:{i:0;i:1;i:1;i:2;}";}";}i:1;r:2;}
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}
