--TEST--
Hooks are inherited
--FILE--
<?php
class Base
{
    protected $data = ['base'];

    function __serialize(): array { return $this->data; }
    function __unserialize(array $data): void { $this->data = $data; }
}
class Derived extends Base
{
    protected $data = ['derived'];
    public $more = 1;
}
echo $s = serialize(new Derived), "\n";
var_dump(unserialize($s));
?>
--EXPECTF--
O:7:"Derived":1:{i:0;s:7:"derived";}
object(Derived)#%d (2) {
  ["data":protected]=>
  array(1) {
    [0]=>
    string(7) "derived"
  }
  ["more"]=>
  int(1)
}
