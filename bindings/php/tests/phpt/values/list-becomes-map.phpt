--TEST--
An array that begins as a list keeps its keys and their order
--FILE--
<?php
foreach (['a:3:{i:0;i:1;i:1;i:2;s:1:"x";i:3;}', 'a:3:{i:0;i:1;i:2;i:2;i:1;i:3;}', 'a:3:{i:2;i:1;i:1;i:2;i:0;i:3;}', 'a:2:{i:0;i:1;i:1000000;i:2;}'] as $text) {
    echo serialize(unserialize($text)), "\n";
}
?>
--EXPECT--
a:3:{i:0;i:1;i:1;i:2;s:1:"x";i:3;}
a:3:{i:0;i:1;i:2;i:2;i:1;i:3;}
a:3:{i:2;i:1;i:1;i:2;i:0;i:3;}
a:2:{i:0;i:1;i:1000000;i:2;}
