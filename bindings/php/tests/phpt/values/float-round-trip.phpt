--TEST--
Two thousand floats keep their bits
--FILE--
<?php
mt_srand(7);
$wrong = 0;
for ($i = 0; $i < 2000; $i++) {
    $f = unpack('d', pack('V2', mt_rand(), mt_rand()))[1];
    if (is_finite($f) && unserialize(serialize($f)) !== $f) {
        $wrong++;
    }
}
var_dump($wrong);
?>
--EXPECT--
int(0)
