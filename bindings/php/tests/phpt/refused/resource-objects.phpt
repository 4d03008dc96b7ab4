--TEST--
Objects that replace resources are refused
--EXTENSIONS--
zlib
--FILE--
<?php
foreach (['deflate_init' => [ZLIB_ENCODING_RAW], 'inflate_init' => [ZLIB_ENCODING_RAW]] as $function => $arguments) {
    try {
        if (function_exists($function)) {
            serialize($function(...$arguments));
        }
    } catch (Exception $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Serialization of 'DeflateContext' is not allowed
Serialization of 'InflateContext' is not allowed
