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

function line(string $text): string
{
    return preg_replace('/[^ -~]/', '?', substr($text, 0, 200));
}

function php(string $blob): array
{
    error_clear_last();
    $value = @unserialize($blob, ['allowed_classes' => false, 'max_depth' => 0]);
    $said = error_get_last()['message'] ?? '';
    return [$value, $said, str_contains($said, 'Error at offset')];
}

function igbinary(string $blob): array
{
    $said = '';
    set_error_handler(function (int $level, string $message) use (&$said): bool {
        $said = $said === '' ? $message : $said;
        return true;
    });
    try {
        $value = igbinary_unserialize($blob);
    } finally {
        restore_error_handler();
    }
    return [$value, $said, $said !== ''];
}

function answer(string $blob, callable $read, callable $write): string
{
    try {
        [$value, $said, $failed] = $read($blob);
    } catch (Throwable $error) {
        return 'refused ' . line(get_class($error) . ': ' . $error->getMessage());
    }
    if ($failed) {
        return 'refused ' . line($said);
    }
    try {
        return 'ok ' . base64_encode(@$write($value)) . ' ' . line($said);
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
