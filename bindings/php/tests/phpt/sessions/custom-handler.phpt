--TEST--
A user-defined session handler receives and returns the text
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
class Memory implements SessionHandlerInterface
{
    public static $data = 'count|i:5;';

    function open($path, $name): bool { return true; }
    function close(): bool { return true; }
    function read($id): string|false { return self::$data; }
    function write($id, $data): bool { self::$data = $data; return true; }
    function destroy($id): bool { return true; }
    function gc($max): int|false { return 0; }
}
session_set_save_handler(new Memory, true);
session_start();
$_SESSION['count']++;
$_SESSION['o'] = new ArrayObject([1]);
session_write_close();
echo Memory::$data, "\n";
?>
--EXPECT--
count|i:6;o|O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{i:0;i:1;}i:2;a:0:{}i:3;N;}
