--TEST--
Every text that is cut short is malformed
--FILE--
<?php
$text = serialize(['a' => 1, 'b' => [true, null, 1.5], 'c' => [['d' => 'e']]]);
set_error_handler(function ($level, $message) {
    echo $message, "\n";
    return true;
});
for ($i = 0; $i < strlen($text); $i++) {
    if (unserialize(substr($text, 0, $i)) !== false) {
        echo "accepted at $i\n";
    }
}
?>
--EXPECT--
unserialize(): Error at offset 0 of 1 bytes
unserialize(): Error at offset 0 of 2 bytes
unserialize(): Error at offset 0 of 3 bytes
unserialize(): Error at offset 0 of 4 bytes
unserialize(): Error at offset 5 of 5 bytes
unserialize(): Error at offset 5 of 6 bytes
unserialize(): Error at offset 5 of 7 bytes
unserialize(): Error at offset 5 of 8 bytes
unserialize(): Error at offset 5 of 9 bytes
unserialize(): Error at offset 5 of 10 bytes
unserialize(): Error at offset 11 of 11 bytes
unserialize(): Error at offset 12 of 12 bytes
unserialize(): Error at offset 13 of 13 bytes
unserialize(): Error at offset 13 of 14 bytes
unserialize(): Error at offset 13 of 15 bytes
unserialize(): Error at offset 13 of 16 bytes
unserialize(): Error at offset 17 of 17 bytes
unserialize(): Error at offset 17 of 18 bytes
unserialize(): Error at offset 17 of 19 bytes
unserialize(): Error at offset 17 of 20 bytes
unserialize(): Error at offset 17 of 21 bytes
unserialize(): Error at offset 19 of 22 bytes
unserialize(): Error at offset 23 of 23 bytes
unserialize(): Error at offset 24 of 24 bytes
unserialize(): Error at offset 25 of 25 bytes
unserialize(): Error at offset 25 of 26 bytes
unserialize(): Error at offset 25 of 27 bytes
unserialize(): Error at offset 25 of 28 bytes
unserialize(): Error at offset 25 of 29 bytes
unserialize(): Error at offset 30 of 30 bytes
unserialize(): Error at offset 30 of 31 bytes
unserialize(): Error at offset 30 of 32 bytes
unserialize(): Error at offset 30 of 33 bytes
unserialize(): Error at offset 30 of 34 bytes
unserialize(): Error at offset 30 of 35 bytes
unserialize(): Error at offset 34 of 36 bytes
unserialize(): Error at offset 34 of 37 bytes
unserialize(): Error at offset 38 of 38 bytes
unserialize(): Error at offset 38 of 39 bytes
unserialize(): Error at offset 38 of 40 bytes
unserialize(): Error at offset 38 of 41 bytes
unserialize(): Error at offset 42 of 42 bytes
unserialize(): Error at offset 42 of 43 bytes
unserialize(): Error at offset 44 of 44 bytes
unserialize(): Error at offset 44 of 45 bytes
unserialize(): Error at offset 44 of 46 bytes
unserialize(): Error at offset 44 of 47 bytes
unserialize(): Error at offset 48 of 48 bytes
unserialize(): Error at offset 48 of 49 bytes
unserialize(): Error at offset 48 of 50 bytes
unserialize(): Error at offset 48 of 51 bytes
unserialize(): Error at offset 48 of 52 bytes
unserialize(): Error at offset 48 of 53 bytes
unserialize(): Error at offset 54 of 54 bytes
unserialize(): Error at offset 55 of 55 bytes
unserialize(): Error at offset 55 of 56 bytes
unserialize(): Error at offset 55 of 57 bytes
unserialize(): Error at offset 55 of 58 bytes
unserialize(): Error at offset 55 of 59 bytes
unserialize(): Error at offset 57 of 60 bytes
unserialize(): Error at offset 61 of 61 bytes
unserialize(): Error at offset 62 of 62 bytes
unserialize(): Error at offset 63 of 63 bytes
unserialize(): Error at offset 63 of 64 bytes
unserialize(): Error at offset 63 of 65 bytes
unserialize(): Error at offset 63 of 66 bytes
unserialize(): Error at offset 63 of 67 bytes
unserialize(): Error at offset 68 of 68 bytes
unserialize(): Error at offset 68 of 69 bytes
unserialize(): Error at offset 68 of 70 bytes
unserialize(): Error at offset 68 of 71 bytes
unserialize(): Error at offset 72 of 72 bytes
unserialize(): Error at offset 72 of 73 bytes
unserialize(): Error at offset 72 of 74 bytes
unserialize(): Error at offset 72 of 75 bytes
unserialize(): Error at offset 72 of 76 bytes
unserialize(): Error at offset 77 of 77 bytes
unserialize(): Error at offset 77 of 78 bytes
unserialize(): Error at offset 77 of 79 bytes
unserialize(): Error at offset 77 of 80 bytes
unserialize(): Error at offset 77 of 81 bytes
unserialize(): Error at offset 79 of 82 bytes
unserialize(): Error at offset 83 of 83 bytes
unserialize(): Error at offset 84 of 84 bytes
unserialize(): Error at offset 85 of 85 bytes
unserialize(): Error at offset 85 of 86 bytes
unserialize(): Error at offset 85 of 87 bytes
unserialize(): Error at offset 85 of 88 bytes
unserialize(): Error at offset 85 of 89 bytes
unserialize(): Error at offset 87 of 90 bytes
unserialize(): Error at offset 91 of 91 bytes
unserialize(): Error at offset 92 of 92 bytes
unserialize(): Error at offset 93 of 93 bytes
unserialize(): Error at offset 94 of 94 bytes
unserialize(): Error at offset 95 of 95 bytes
