--TEST--
An error handler may write while __sleep is warned about
--FILE--
<?php
class Missing
{
    function __sleep() { return ['none']; }
}
set_error_handler(function ($level, $message) {
    echo serialize([new stdClass, 1]), "\n";
    return true;
});
$o = new stdClass;
echo serialize([$o, new Missing, $o]), "\n";
?>
--EXPECT--
a:2:{i:0;O:8:"stdClass":0:{}i:1;i:1;}
a:3:{i:0;O:8:"stdClass":0:{}i:1;O:7:"Missing":0:{}i:2;r:2;}
