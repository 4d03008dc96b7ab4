--TEST--
A string is written with its length in bytes
--FILE--
<?php
foreach (['', 'a', 'hello', "a'b\"c;d}", "line\nline", 'grüße', "\u{1F600}"] as $text) {
    echo $s = serialize($text), "\n";
    var_dump(unserialize($s) === $text);
}
?>
--EXPECT--
s:0:"";
bool(true)
s:1:"a";
bool(true)
s:5:"hello";
bool(true)
s:8:"a'b"c;d}";
bool(true)
s:9:"line
line";
bool(true)
s:7:"grüße";
bool(true)
s:4:"😀";
bool(true)
