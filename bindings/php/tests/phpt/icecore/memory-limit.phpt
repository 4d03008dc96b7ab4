--TEST--
The engine's memory counts in memory_limit, also in hooks, and exceeding it is PHP's own error
--SKIPIF--
<?php
if (!function_exists('Icecore\decode')) die('skip needs Icecore');
if (getenv('USE_ZEND_ALLOC') === '0') die('skip needs the allocator of PHP');
?>
--FILE--
<?php
ini_set('display_errors', '0');
class Hook
{
    public function __unserialize(array $data): void
    {
        // The array takes some 8 MB, and the document of the call around this one 6.
        echo memory_get_usage(true) - $GLOBALS['before'] >= 13 << 20 ? "counted\n" : "not counted\n";
    }
}
$text = 'a:400001:{';
for ($i = 0; $i < 400000; $i++) {
    $text .= "i:$i;i:7;";
}
$text .= 'i:400000;O:4:"Hook":0:{}}';
$before = memory_get_usage(true);
$value = Icecore\unserialize($text, ['classes' => ['Hook']]);
echo count($value), "\n";
unset($value, $text);
$text = 'a:100000:{' . implode('', array_map(fn ($i) => "i:$i;a:1:{i:0;i:7;}", range(0, 99999))) . '}';
gc_mem_caches();
echo memory_get_usage(true) - $before < 1 << 23 ? "released\n" : "kept\n";
register_shutdown_function(function () {
    $error = error_get_last();
    echo preg_match('/^Allowed memory size of \d+ bytes exhausted.* \(tried to allocate \d+ bytes\)/', $error['message'] ?? '') ? "limit\n" : "none\n";
    echo $error['type'] === E_ERROR ? "fatal\n" : "other\n";
});
ini_set('memory_limit', (string) (memory_get_usage(true) + (6 << 20)));
Icecore\unserialize($text);
echo "not reached\n";
?>
--EXPECT--
counted
400001
released
limit
fatal
