--TEST--
A subclass catches the exception of ArrayObject::unserialize
--FILE--
<?php
class Mine extends ArrayObject
{
    public $error;

    function unserialize($text): void
    {
        try {
            parent::unserialize($text);
        } catch (UnexpectedValueException $error) {
            $this->error = $error->getMessage();
        }
    }
}
foreach (['x:i:0;a:1:{i:0;i:5;};m:a:0:{}', 'x:i:0;a:1:{i:0;i:5;}', 'x:i:0;a:1:{i:0;i:5;};m:a:1:{s:1:"z";'] as $payload) {
    $value = unserialize('C:4:"Mine":' . strlen($payload) . ":{{$payload}}");
    var_dump($value->error, $value->getArrayCopy());
}
?>
--EXPECT--
NULL
array(1) {
  [0]=>
  int(5)
}
string(30) "Error at offset 20 of 20 bytes"
array(1) {
  [0]=>
  int(5)
}
string(30) "Error at offset 36 of 36 bytes"
array(1) {
  [0]=>
  int(5)
}
