--TEST--
A string that occurs twice is written twice
--FILE--
<?php
$text = 'long enough to share';
echo serialize([$text, $text, 'k' => $text, $text => 1]), "\n";
?>
--EXPECT--
a:4:{i:0;s:20:"long enough to share";i:1;s:20:"long enough to share";s:1:"k";s:20:"long enough to share";s:20:"long enough to share";i:1;}
