--TEST--
Years before 1 and after 9999
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
