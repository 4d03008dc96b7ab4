--TEST--
A property that was private in the text and is protected now
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
