--TEST--
An error handler may empty the object whose __sleep is warned about
--FILE--
<?php
class Missing
{
    public $n = 1;

    function __sleep() { return ['none', 'n']; }
}
$o = new stdClass;
$o->m = new Missing;
$o->z = 'z';
set_error_handler(function () use ($o) {
    unset($o->m->n);
    $o->m = null;
    return true;
});
echo serialize($o), "\n";
?>
--EXPECT--
O:8:"stdClass":2:{s:1:"m";O:7:"Missing":0:{}s:1:"z";s:1:"z";}
