--TEST--
The decimal sign does not depend on the locale
--FILE--
<?php
setlocale(LC_ALL, 'de_DE.UTF-8', 'de_DE', 'fr_FR.UTF-8', 'C');
echo serialize(1.5), "\n";
var_dump(unserialize('d:1.5;') === 1.5);
?>
--EXPECT--
d:1.5;
bool(true)
