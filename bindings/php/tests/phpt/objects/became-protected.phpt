--TEST--
A value of a private property goes to the property that is protected now
--FILE--
<?php
class Changed
{
    protected $a = 'default';

    function a() { return $this->a; }
}
$o = unserialize("O:7:\"Changed\":1:{s:10:\"\0Changed\0a\";i:1;}");
var_dump($o->a());
?>
--EXPECT--
int(1)
