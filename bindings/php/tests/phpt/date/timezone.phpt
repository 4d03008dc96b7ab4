--TEST--
A DateTimeZone keeps its type and name
--FILE--
<?php
foreach (['Europe/Lisbon', '-03:00', 'CET'] as $zone) {
    echo $s = serialize(new DateTimeZone($zone)), "\n", unserialize($s)->getName(), "\n";
}
?>
--EXPECT--
O:12:"DateTimeZone":2:{s:13:"timezone_type";i:3;s:8:"timezone";s:13:"Europe/Lisbon";}
Europe/Lisbon
O:12:"DateTimeZone":2:{s:13:"timezone_type";i:1;s:8:"timezone";s:6:"-03:00";}
-03:00
O:12:"DateTimeZone":2:{s:13:"timezone_type";i:2;s:8:"timezone";s:3:"CET";}
CET
