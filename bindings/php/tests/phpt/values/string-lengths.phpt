--TEST--
Strings survive a round trip at lengths with a new digit
--FILE--
<?php
foreach ([9, 10, 99, 100, 999, 1000, 9999, 10000, 65535, 65536] as $n) {
    $text = str_repeat('x', $n);
    if (unserialize(serialize([$text => $text])) !== [$text => $text]) {
        echo "wrong at $n\n";
    }
}
echo "done\n";
?>
--EXPECT--
done
