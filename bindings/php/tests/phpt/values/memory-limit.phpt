--TEST--
Reading a large value ends when memory_limit is reached
--INI--
memory_limit=16M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') die('skip needs the allocator of PHP');
?>
--FILE--
<?php
register_shutdown_function(function () {
    echo str_contains(error_get_last()['message'] ?? '', 'Allowed memory size of 16777216 bytes exhausted') ? "limit\n" : "none\n";
});
ini_set('display_errors', '0');
$text = 'a:400000:{';
for ($i = 0; $i < 400000; $i++) {
    $text .= "i:$i;a:0:{}";
}
$text .= '}';
$value = unserialize($text);
$all = [$value, array_map(fn ($x) => [1], $value)];
echo "not reached\n";
?>
--EXPECT--
limit
