--TEST--
PHP tags in strings are exported unchanged
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
