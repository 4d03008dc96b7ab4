--TEST--
An array with a thousand levels is exported
--FILE--
<?php
$a = 1;
for ($i = 0; $i < 1000; $i++) {
    $a = [$a];
}
var_dump(strlen(var_export($a, true)));
?>
--EXPECT--
int(3016000)
