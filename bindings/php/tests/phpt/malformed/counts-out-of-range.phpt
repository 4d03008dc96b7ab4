--TEST--
Counts and lengths beyond 64 bits are malformed, with PHP's messages
--FILE--
<?php
class Custom implements Serializable
{
    function serialize() { return 'x'; }
    function unserialize($text) { echo "read $text\n"; }
    function __serialize(): array { return []; }
    function __unserialize(array $data): void { }
}
set_error_handler(function ($level, $message) { echo "  $message\n"; return true; });
$big = '99999999999999999999';
foreach (["a:$big:{}", "a:-$big:{}", "O:8:\"stdClass\":-$big:{}", "C:6:\"Custom\":$big:{x}", "C:6:\"Custom\":-$big:{x}",
    "s:$big:\"\";", "a:1:{i:0;R:$big;}", "a:1:{i:$big;O:8:\"stdClass\":$big:{}}", 'a:1:{i:0;O:8:"stdClass":', 'C:6:"Custom":',
    'C:6:"Custom":1:{x', 'C:6:"Custom":2:{x}', 'a:1:{C:6:"Custom":9:{x}}'] as $text) {
    echo "$text\n";
    unserialize($text);
}
?>
--EXPECT--
a:99999999999999999999:{}
  unserialize(): Numerical result out of range
  unserialize(): Error at offset 24 of 25 bytes
a:-99999999999999999999:{}
  unserialize(): Error at offset 0 of 26 bytes
O:8:"stdClass":-99999999999999999999:{}
  unserialize(): Numerical result out of range
  unserialize(): Error at offset 36 of 39 bytes
C:6:"Custom":99999999999999999999:{x}
  unserialize(): Numerical result out of range
  Insufficient data for unserializing - 9223372036854775807 required, 2 present
  unserialize(): Error at offset 35 of 37 bytes
C:6:"Custom":-99999999999999999999:{x}
  unserialize(): Numerical result out of range
  Insufficient data for unserializing - -9223372036854775808 required, 2 present
  unserialize(): Error at offset 36 of 38 bytes
s:99999999999999999999:"";
  unserialize(): Error at offset 2 of 26 bytes
a:1:{i:0;R:99999999999999999999;}
  unserialize(): Error at offset 32 of 33 bytes
a:1:{i:99999999999999999999;O:8:"stdClass":99999999999999999999:{}}
  unserialize(): Numerical result out of range
  unserialize(): Numerical result out of range
  unserialize(): Error at offset 63 of 67 bytes
a:1:{i:0;O:8:"stdClass":
  Bad unserialize data
  unserialize(): Error at offset 22 of 24 bytes
C:6:"Custom":
  unserialize(): Error at offset 13 of 13 bytes
C:6:"Custom":1:{x
  Insufficient data for unserializing - 1 required, 1 present
  unserialize(): Error at offset 16 of 17 bytes
C:6:"Custom":2:{x}
  Insufficient data for unserializing - 2 required, 2 present
  unserialize(): Error at offset 16 of 18 bytes
a:1:{C:6:"Custom":9:{x}}
  unserialize(): Error at offset 5 of 24 bytes
