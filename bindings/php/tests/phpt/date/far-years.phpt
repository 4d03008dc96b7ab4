--TEST--
Dates before year 1 and after year 9999 survive a round trip
--FILE--
<?php
foreach (['-0044-03-15', '+12345-06-07'] as $text) {
    $d = new DateTimeImmutable("$text 00:00:00 UTC");
    var_dump(unserialize(serialize($d)) == $d);
}
?>
--EXPECT--
bool(true)
bool(true)
