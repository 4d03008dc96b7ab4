--TEST--
The colon after the type letter is required
--FILE--
<?php
foreach (['i1;', 'b1;', 's1:"a";', 'a0:{}', 'd1;', 'O8:"stdClass":0:{}'] as $text) {
    var_dump(@unserialize($text));
}
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
