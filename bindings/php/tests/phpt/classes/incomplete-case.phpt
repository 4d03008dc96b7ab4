--TEST--
The name of an incomplete object keeps its case
--FILE--
<?php
echo serialize(unserialize('a:2:{i:0;O:4:"nOnE":0:{}i:1;O:4:"NONE":0:{}}')), "\n";
?>
--EXPECT--
a:2:{i:0;O:4:"nOnE":0:{}i:1;O:4:"NONE":0:{}}
