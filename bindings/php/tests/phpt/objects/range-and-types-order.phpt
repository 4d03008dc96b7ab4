--TEST--
Integers out of range are warned about in the order of the text
--FILE--
<?php
#[AllowDynamicProperties]
class Typed
{
    public ?int $i = 0;
    public string $s = '';
}
spl_autoload_register(function ($name) { echo "load $name\n"; });
set_error_handler(function ($level, $message) { echo "$message\n"; return true; });
$big = 'i:99999999999999999999;';
unserialize("a:4:{{$big}{$big}i:1;O:4:\"None\":1:{s:1:\"a\";$big}i:2;O:5:\"Other\":0:{}i:3;{$big}}");
try {
    unserialize("a:3:{i:0;{$big}i:1;O:5:\"Typed\":2:{s:1:\"i\";{$big}s:1:\"s\";a:1:{i:0;$big}}i:2;{$big}}");
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
var_dump(unserialize("a:3:{i:0;{$big}i:1;E:4:\"No:A\";i:2;$big}"));
?>
--EXPECT--
unserialize(): Numerical result out of range
unserialize(): Numerical result out of range
load None
unserialize(): Numerical result out of range
load Other
unserialize(): Numerical result out of range
unserialize(): Numerical result out of range
unserialize(): Numerical result out of range
unserialize(): Numerical result out of range
Cannot assign array to property Typed::$s of type string
unserialize(): Numerical result out of range
load No
unserialize(): Class 'No' not found
unserialize(): Error at offset 36 of 75 bytes
bool(false)
