--TEST--
var_export calls no hooks
--FILE--
<?php
class Hooked
{
    public $a = 1;

    function __sleep() { echo "sleep\n"; return []; }
    function __serialize(): array { echo "serialize\n"; return []; }
    function __get($name) { echo "get\n"; }
    function __debugInfo() { echo "debug\n"; return []; }
}
var_export(new Hooked);
?>
--EXPECT--
\Hooked::__set_state(array(
   'a' => 1,
))
