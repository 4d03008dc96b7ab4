--TEST--
Dates in summer and winter time keep their offset
--FILE--
<?php
foreach (['2021-07-01 12:00 Europe/Paris', '2021-12-01 12:00 Europe/Paris'] as $text) {
    $d = new DateTime($text);
    var_dump(unserialize(serialize($d))->format('c I') === $d->format('c I'));
}
?>
--EXPECT--
bool(true)
bool(true)
