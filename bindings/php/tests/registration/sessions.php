<?php
// Compares session_encode and session_decode of PHP's handler and Icecore's, without a server.
require __DIR__ . '/lib.php';
require __DIR__ . '/classes.php';

if (!extension_loaded('session')) {
    echo "left out: sessions are missing\n";
    finish();
}
ini_set('session.save_path', sys_get_temp_dir());
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');
const HANDLERS = ['php', 'icecore'];

/** Returns the text, or false, or the message of an exception; and PHP's messages. */
function encode_session(string $handler, array $variables): array
{
    $messages = [];
    set_error_handler(function (int $level, string $message) use (&$messages) {
        $messages[] = "$level: $message";
        return true;
    });
    ini_set('session.serialize_handler', $handler);
    session_id('x' . bin2hex(random_bytes(8)));
    session_start();
    foreach ($variables as $key => &$value) {
        $_SESSION[$key] = &$value;
    }
    unset($value);
    $text = thrown(function () use (&$text) { $text = session_encode(); })?->getMessage() ?? $text;
    $_SESSION = [];
    session_abort();
    restore_error_handler();
    return [$text, $messages];
}

/** Returns the result, the exception, a dump of the variables, and PHP's messages. */
function decode_session(string $handler, string $text): array
{
    $messages = [];
    set_error_handler(function (int $level, string $message) use (&$messages) {
        $messages[] = "$level: $message";
        return true;
    });
    ini_set('session.serialize_handler', $handler);
    session_id('x' . bin2hex(random_bytes(8)));
    session_start();
    $is_read = null;
    $thrown = thrown(function () use ($text, &$is_read) { $is_read = session_decode($text); });
    $variables = $_SESSION ?? null;
    ob_start();
    var_dump($variables);
    $dump = preg_replace('/#\d+/', '#', ob_get_clean());
    if (session_status() === PHP_SESSION_ACTIVE) {
        session_abort();
    }
    $_SESSION = [];
    restore_error_handler();
    return [$is_read, $thrown ? get_class($thrown) . ': ' . $thrown->getMessage() : null, $dump, $messages];
}

foreach (session_cases() as $name => $variables) {
    [$php_text, $php_messages] = encode_session('php', $variables);
    [$text, $messages] = encode_session('icecore', $variables);
    same("$name: both handlers write the same text", $php_text, $text);
    same("$name: both handlers issue the same messages when writing", $php_messages, $messages);
    if (is_string($php_text)) {
        same("$name: both handlers read the same variables", decode_session('php', $php_text),
            decode_session('icecore', $php_text));
    }
}

// -- Malformed texts -----------------------------------------------------------

$text = encode_session('php', session_cases()['arrays'])[0];
for ($end = 0; $end <= strlen($text); $end++) {
    // Both handlers keep the variables before the damage.
    [$php_read, $php_thrown, $php_dump] = decode_session('php', substr($text, 0, $end));
    [$is_read, $thrown, $dump] = decode_session('icecore', substr($text, 0, $end));
    same("cut at $end: both handlers return the same", $php_read, $is_read);
    same("cut at $end: both handlers throw the same", $php_thrown, $thrown);
    same("cut at $end: both handlers set the same variables", $php_dump, $dump);
}
foreach (['nothing|', '|', 'a', 'a|i:1', 'a|i:1;b', 'a|i:1;b|', 'a|x;', '!a|b|i:1;', 'a|N;|N;',
    'a|O:7:"Missing":0:{}', 'a|i:1;a|i:2;',
    'a|a:1:{i:0;i:1;}b|R:1;', 'a|i:1;b|R:1;', 'a|a:1:{i:0;i:1;}b|R:2;', 'a|O:8:"stdClass":0:{}b|r:1;', 'GLOBALS|i:1;',
    '_SESSION|i:1;'] as $text) {
    same("both handlers read `$text` alike", decode_session('php', $text), decode_session('icecore', $text));
}
finish();
