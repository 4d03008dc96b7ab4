--TEST--
Text is replaced in serialized data, and lengths are corrected
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
$data = serialize(['home' => 'https://old.example/', 'widget' => serialize(['link' => 'https://old.example/a'])]);
$data = Icecore\replace('old.example', 'new-site.example', $data, [], $report);
print_r(unserialize($data));
echo unserialize(unserialize($data)['widget'])['link'], "\n";
echo "$report[occurrences] in $report[strings] strings\n";
?>
--EXPECT--
Array
(
    [home] => https://new-site.example/
    [widget] => a:1:{s:4:"link";s:26:"https://new-site.example/a";}
)
https://new-site.example/a
2 in 2 strings
