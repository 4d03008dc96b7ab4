--TEST--
Arrays of sizes at which hash tables grow survive a round trip
--FILE--
<?php
foreach ([1, 7, 8, 9, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025] as $n) {
    $list = range(1, $n);
    $map = array_combine(array_map(fn ($i) => "k$i", $list), $list);
    if (unserialize(serialize([$list, $map])) !== [$list, $map]) {
        echo "wrong at $n\n";
    }
}
echo "done\n";
?>
--EXPECT--
done
