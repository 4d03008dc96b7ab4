--TEST--
Class names may have non-ASCII letters, whose case matters
--FILE--
<?php
class Größe
{
    public $wert = 1;
}
echo $s = serialize(new Größe), "\n";
var_dump(unserialize($s)->wert, get_class(unserialize($s, ['allowed_classes' => ['GrößE']])));
?>
--EXPECT--
O:7:"Größe":1:{s:4:"wert";i:1;}
int(1)
string(7) "Größe"
