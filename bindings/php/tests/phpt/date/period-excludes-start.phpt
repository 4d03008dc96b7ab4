--TEST--
A DatePeriod keeps its end and the exclusion of its start
--FILE--
<?php
$p = new DatePeriod(new DateTime('2020-01-01'), new DateInterval('P1D'), new DateTime('2020-01-04'), DatePeriod::EXCLUDE_START_DATE);
$b = unserialize(serialize($p));
var_dump($b->include_start_date);
foreach ($b as $day) {
    echo $day->format('Y-m-d'), "\n";
}
?>
--EXPECT--
bool(false)
2020-01-02
2020-01-03
