--TEST--
Temporary objects of __serialize are different objects each time
--FILE--
<?php
class Makes
{
    function __serialize(): array { return [new stdClass]; }
}
echo serialize([new Makes, new Makes, new Makes]), "\n";
?>
--EXPECT--
a:3:{i:0;O:5:"Makes":1:{i:0;O:8:"stdClass":0:{}}i:1;O:5:"Makes":1:{i:0;O:8:"stdClass":0:{}}i:2;O:5:"Makes":1:{i:0;O:8:"stdClass":0:{}}}
