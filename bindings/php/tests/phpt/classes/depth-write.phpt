--TEST--
serialize writes more levels than unserialize reads by default
--FILE--
<?php
$a = 1;
for ($i = 0; $i < 5000; $i++) {
    $a = [$a];
}
$s = serialize($a);
var_dump(strlen($s), @unserialize($s), is_array(unserialize($s, ['max_depth' => 5000])));
?>
--EXPECT--
int(50004)
bool(false)
bool(true)
