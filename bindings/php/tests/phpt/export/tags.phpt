--TEST--
Tags in the strings of a program stay as var_export() writes them
--FILE--
<?php
foreach (['<?php hit(); ?>', ['<?=' => '<script language="php">']] as $value) {
    var_export($value);
    echo "\n";
}
?>
--EXPECT--
'<?php hit(); ?>'
array (
  '<?=' => '<script language="php">',
)
