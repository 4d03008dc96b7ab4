--TEST--
After a fatal error in a hook the functions still work
--FILE--
<?php
class Fatal
{
    function __serialize(): array { eval('class Fatal {}'); return []; }
}
ini_set('display_errors', '0');
register_shutdown_function(function () {
    echo serialize([1, new stdClass]), "\n";
    var_dump(unserialize('i:7;'));
});
serialize([[1, 2], new Fatal]);
?>
--EXPECT--
a:2:{i:0;i:1;i:1;O:8:"stdClass":0:{}}
int(7)
