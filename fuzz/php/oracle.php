<?php
// Reports how the real PHP reads serialized data: each line of Base64 is
// answered with
//
//   ok BASE64 WARNING     it is read, and written again as this
//   kept MESSAGE          it is read, and can't be written
//   refused MESSAGE       it is not read
//
// With the argument `igbinary` the extension is used. `classes` lists the built-in
// classes of PHP. Input that takes too long or too much memory ends the process;
// the caller starts another one.

ini_set('memory_limit', '200M');

/** Returns a text that fits on a line of the answer. */
function line(string $text): string
{
    return preg_replace('/[^ -~]/', '?', substr($text, 0, 200));
}

/** Returns the value, the message of PHP, and whether the blob was refused. */
function php(string $blob): array
{
    error_clear_last();
    $value = @unserialize($blob, ['allowed_classes' => false, 'max_depth' => 0]);
    $message = error_get_last()['message'] ?? '';
    return [$value, $message, str_contains($message, 'Error at offset')];
}

/** Returns the same for igbinary. */
function igbinary(string $blob): array
{
    $message = '';
    set_error_handler(function (int $level, string $text) use (&$message): bool {
        $message = $message === '' ? $text : $message;
        return true;
    });
    try {
        $value = igbinary_unserialize($blob);
    } finally {
        restore_error_handler();
    }
    return [$value, $message, $message !== ''];
}

/** Returns the answer for a blob. */
function answer(string $blob, callable $read, callable $write): string
{
    try {
        [$value, $message, $failed] = $read($blob);
    } catch (Throwable $error) {
        return 'refused ' . line(get_class($error) . ': ' . $error->getMessage());
    }
    if ($failed) {
        return 'refused ' . line($message);
    }
    try {
        return 'ok ' . base64_encode(@$write($value)) . ' ' . line($message);
    } catch (Throwable $error) {
        return 'kept ' . line(get_class($error) . ': ' . $error->getMessage());
    }
}

if (($argv[1] ?? '') === 'classes') {
    echo implode("\n", array_merge(get_declared_classes(), get_declared_interfaces(), get_declared_traits())), "\n";
    exit;
}
[$read, $write] = ($argv[1] ?? '') === 'igbinary' ? ['igbinary', 'igbinary_serialize'] : ['php', 'serialize'];
while (($line = fgets(STDIN)) !== false) {
    echo answer(base64_decode($line), $read, $write), "\n";
}
