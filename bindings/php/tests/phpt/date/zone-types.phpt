--TEST--
Dates keep zones given by a name, an offset and an abbreviation
--FILE--
<?php
foreach (['Asia/Tokyo', '+05:30', 'EST'] as $zone) {
    $d = new DateTimeImmutable('2020-06-01 12:00', new DateTimeZone($zone));
    echo $s = serialize($d), "\n", unserialize($s)->format('c T'), "\n";
}
?>
--EXPECT--
O:17:"DateTimeImmutable":3:{s:4:"date";s:26:"2020-06-01 12:00:00.000000";s:13:"timezone_type";i:3;s:8:"timezone";s:10:"Asia/Tokyo";}
2020-06-01T12:00:00+09:00 JST
O:17:"DateTimeImmutable":3:{s:4:"date";s:26:"2020-06-01 12:00:00.000000";s:13:"timezone_type";i:1;s:8:"timezone";s:6:"+05:30";}
2020-06-01T12:00:00+05:30 GMT+0530
O:17:"DateTimeImmutable":3:{s:4:"date";s:26:"2020-06-01 12:00:00.000000";s:13:"timezone_type";i:2;s:8:"timezone";s:3:"EST";}
2020-06-01T12:00:00-05:00 EST
