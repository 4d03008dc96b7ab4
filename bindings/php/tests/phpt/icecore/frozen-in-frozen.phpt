--TEST--
A payload of C: is checked with the list of its document
--SKIPIF--
<?php
if (!ini_get('icecore.replace')) die('skip icecore.replace=1 only');
?>
--FILE--
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
spl_autoload_register(function ($class) { echo "autoload of $class\n"; });
enum Suit
{
    case Hearts;
}
class Other
{
    function __wakeup() { echo "wakeup\n"; }
    function __destruct() { echo "destructor\n"; }
}
class Text implements Serializable
{
    public $in;
    function serialize() { return serialize($this->in); }
    function unserialize($text) { echo "text\n"; $this->in = unserialize($text); }
}
function frozen(string $payload): string
{
    return 'C:4:"Text":' . strlen($payload) . ':{' . $payload . '}';
}
$texts = [
    'a link after it, and an enum' => 'a:4:{i:0;C:8:"stdClass":0:{}i:1;i:1;i:2;R:3;i:3;E:0000000011:"Suit:Hearts";}',
    'an enum' => frozen('E:0000000011:"Suit:Hearts";'),
    'an object' => frozen('a:1:{i:0;O:5:"Other":0:{}}'),
    'one that nobody has' => frozen('O:0000000004:"None":0:{}'),
    'not at the start' => frozen(' O:5:"Other":0:{}'),
    'a link after it, and malformed' => 'a:4:{i:0;C:4:"Text":0:{}i:1;O:5:"Other":0:{}i:2;R:3;i:3;s:999:"',
];
foreach ($texts as $what => $text) {
    foreach ([['classes' => ['Text', 'stdClass']], ['allowed_classes' => false], ['classes' => 'record']] as $list) {
        echo $what, ', ', json_encode($list), ': ';
        try {
            $value = @unserialize($text, $list);
            echo $value === false ? 'false' : get_debug_type($value), "\n";
        } catch (Icecore\ClassException $e) {
            echo 'refused: ', implode(', ', array_keys($e->classes)), "\n";
        }
        unset($value);
    }
}
?>
--EXPECT--
a link after it, and an enum, {"classes":["Text","stdClass"]}: refused: Suit
a link after it, and an enum, {"allowed_classes":false}: refused: Suit
a link after it, and an enum, {"classes":"record"}: false
an enum, {"classes":["Text","stdClass"]}: refused: Suit
an enum, {"allowed_classes":false}: refused: Suit
an enum, {"classes":"record"}: Icecore\Record
an object, {"classes":["Text","stdClass"]}: refused: Other
an object, {"allowed_classes":false}: __PHP_Incomplete_Class
an object, {"classes":"record"}: Icecore\Record
one that nobody has, {"classes":["Text","stdClass"]}: refused: None
one that nobody has, {"allowed_classes":false}: __PHP_Incomplete_Class
one that nobody has, {"classes":"record"}: Icecore\Record
not at the start, {"classes":["Text","stdClass"]}: refused: Other
not at the start, {"allowed_classes":false}: __PHP_Incomplete_Class
not at the start, {"classes":"record"}: Icecore\Record
a link after it, and malformed, {"classes":["Text","stdClass"]}: false
a link after it, and malformed, {"allowed_classes":false}: false
a link after it, and malformed, {"classes":"record"}: false
