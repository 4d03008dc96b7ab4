--TEST--
A DatePeriod survives a round trip
--FILE--
<?php
$p = new DatePeriod(new DateTimeImmutable('2020-01-01'), new DateInterval('P1D'), 2);
foreach (unserialize(serialize($p)) as $day) {
    echo $day->format('Y-m-d'), "\n";
}
?>
--EXPECT--
2020-01-01
2020-01-02
2020-01-03
