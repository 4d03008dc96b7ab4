--TEST--
A hook may remove siblings from the object that is being written
--FILE--
<?php
class Hook
{
    public $f;

    function __construct($f) { $this->f = $f; }
    function __serialize(): array { ($this->f)(); return []; }
}
$o = new stdClass;
$o->hook = new Hook(function () use ($o) {
    $o->after = null;
    unset($o->last);
    for ($i = 0; $i < 100; $i++) {
        $o->{"new$i"} = $i;
    }
});
$o->after = ['long', 'list'];
$o->last = 'x';
echo serialize($o), "\n";
?>
--EXPECT--
O:8:"stdClass":3:{s:4:"hook";O:4:"Hook":0:{}s:5:"after";a:2:{i:0;s:4:"long";i:1;s:4:"list";}s:4:"last";s:1:"x";}
