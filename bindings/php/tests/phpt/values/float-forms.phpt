--TEST--
unserialize accepts several forms of a float
--FILE--
<?php
foreach (['1', '1.', '.5', '-.5', '1e3', '1E3', '1e+3', '1e-3', '+1.5', '1.5e2', '00.5'] as $text) {
    echo $text, ' ';
    var_dump(unserialize("d:$text;"));
}
?>
--EXPECT--
1 float(1)
1. float(1)
.5 float(0.5)
-.5 float(-0.5)
1e3 float(1000)
1E3 float(1000)
1e+3 float(1000)
1e-3 float(0.001)
+1.5 float(1.5)
1.5e2 float(150)
00.5 float(0.5)
