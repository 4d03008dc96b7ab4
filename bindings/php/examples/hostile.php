<?php
// Reads bytes from an attacker who wants to run code. With PHP's own unserialize, the hooks would write
// files. Here they write none.

use function Icecore\unserialize;

$folder = sys_get_temp_dir() . '/icecore-hostile-' . bin2hex(random_bytes(6));
mkdir($folder);

function leave_trace(string $hook): void
{
    file_put_contents("{$GLOBALS['folder']}/$hook", 'was here');
}

class Wakes
{
    public function __wakeup(): void
    {
        leave_trace('__wakeup');
    }
}

class Unserializes
{
    public function __unserialize(array $data): void
    {
        leave_trace('__unserialize');
    }
}

class Dies
{
    public function __destruct()
    {
        leave_trace('__destruct');
    }
}

class Speaks
{
    public function __toString(): string
    {
        leave_trace('__toString');
        return '';
    }
}

spl_autoload_register(function (string $class): void {
    leave_trace("autoload of $class");
});

$payloads = [
    '__wakeup' => 'O:5:"Wakes":0:{}',
    '__unserialize' => 'O:12:"Unserializes":0:{}',
    '__destruct' => 'O:4:"Dies":0:{}',
    '__toString, as a key' => 'a:1:{O:6:"Speaks":0:{}i:1;}',
    '__toString, in an Exception' => 'O:9:"Exception":1:{s:10:"' . "\0*\0message" . '";O:6:"Speaks":0:{}}',
    'an autoloader' => 'a:1:{i:0;O:11:"NotThereYet":0:{}}',
    'damage after the object' => 'a:2:{i:0;O:4:"Dies":0:{}i:1;',
    'an enum' => 'E:12:"Secret:Value";',
];
foreach ($payloads as $name => $payload) {
    try {
        $value = @unserialize($payload);
        echo "$name: ", $value === false ? 'false' : 'built', "\n";
    } catch (Icecore\ClassException $e) {
        echo "$name: refused, ", implode(', ', array_keys($e->classes) ?: ['?']), " at $e->path\n";
    }
    unset($value, $e);
}

// A chain of gadgets from loaded classes. Each is harmless, but together they write a file.
class Logger
{
    public $handlers;

    public function __destruct()
    {
        foreach ($this->handlers ?? [] as $handler) {
            $handler->close();
        }
    }
}

class Buffer
{
    public $file;
    public $lines;

    public function close(): void
    {
        file_put_contents($this->file, implode("\n", $this->lines));
    }
}

class Session
{
    public $user;
    public $bag;
}

$chain = 'O:7:"Session":2:{s:4:"user";s:5:"alice";s:3:"bag";a:1:{s:5:"flash";O:6:"Logger":1:{s:8:"handlers";a:1:{i:0;O:6:"Buffer":2:'
    . '{s:4:"file";s:' . strlen("$folder/shell.php")
    . ":\"$folder/shell.php\";s:5:\"lines\";a:1:{i:0;s:5:\"<?php\";}}}}}}";
echo "\nthe chain, with a list of classes:\n";
try {
    unserialize($chain, ['classes' => ['Session']]);
    echo "built\n";
} catch (Icecore\ClassException $e) {
    echo "refused at $e->path\n";
    echo $e->getMessage(), "\n";
}
unset($e);

echo "\nits classes, without building anything:\n";
foreach (Icecore\classes($chain) as $class) {
    echo "$class[class], $class[count] time, at $class[path]\n";
}
$record = unserialize($chain, ['classes' => 'record']);
echo 'as a record: ', $record->class, ', user ', $record->properties['user'], '; written back: ',
    Icecore\serialize($record) === $chain ? 'the same bytes' : 'other bytes', "\n";
unset($record);

// allowed_classes has PHP's meaning: unlisted classes become incomplete objects.
$session = unserialize($chain, ['allowed_classes' => ['Session']]);
echo 'with allowed_classes: ', get_class($session), ' and ', get_class($session->bag['flash']), "\n";
unset($session);

$written = array_values(array_diff(scandir($folder), ['.', '..']));
echo "\nfiles that were written: ", $written ? implode(', ', $written) : 'none', "\n";
array_map(fn ($name) => unlink("$folder/$name"), $written);
rmdir($folder);
