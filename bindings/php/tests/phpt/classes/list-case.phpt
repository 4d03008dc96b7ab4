--TEST--
Names in allowed_classes match without regard to case
--FILE--
<?php
class MixedCase
{
}
var_dump(get_class(unserialize('O:9:"MixedCase":0:{}', ['allowed_classes' => ['mixedCASE']])));
var_dump(get_class(unserialize('O:9:"mIXEDcASE":0:{}', ['allowed_classes' => ['MixedCase']])));
?>
--EXPECT--
string(9) "MixedCase"
string(9) "MixedCase"
