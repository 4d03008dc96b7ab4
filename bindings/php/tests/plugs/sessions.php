<?php
// Session texts, without a server: the results of session_encode and session_decode with each
// handler.
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

/** Returns the text, or false, and PHP's messages. */
function encoded(string $handler, array $variables): array
{
    $said = [];
    set_error_handler(function (int $level, string $message) use (&$said) {
        $said[] = "$level: $message";
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
    return [$text, $said];
}

function decoded(string $handler, string $text): array
{
    $said = [];
    set_error_handler(function (int $level, string $message) use (&$said) {
        $said[] = "$level: $message";
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
    return [$is_read, $thrown ? get_class($thrown) . ': ' . $thrown->getMessage() : null, $dump, $said];
}

foreach (session_cases() as $name => $variables) {
    [$wanted, $said] = encoded('php', $variables);
    [$got, $ours] = encoded('icecore', $variables);
    same("$name: written", $wanted, $got);
    same("$name: written, what is said", $said, $ours);
    if (is_string($wanted)) {
        same("$name: read", decoded('php', $wanted), decoded('icecore', $wanted));
    }
}

// -- Malformed texts -----------------------------------------------------------

$text = encoded('php', session_cases()['arrays'])[0];
for ($end = 0; $end <= strlen($text); $end++) {
    // PHP keeps the variables before the damage, and so does Icecore: both give the same result.
    [$is_read, $thrown, $dump] = decoded('php', substr($text, 0, $end));
    [$ours_read, $ours_thrown, $ours_dump] = decoded('icecore', substr($text, 0, $end));
    same("cut at $end: whether it is read", $is_read, $ours_read);
    same("cut at $end: what it throws", $thrown, $ours_thrown);
    same("cut at $end: what is there", $dump, $ours_dump);
}
foreach (['nothing|', '|', 'a', 'a|i:1', 'a|i:1;b', 'a|i:1;b|', 'a|x;', '!a|b|i:1;', 'a|N;|N;', 'a|O:7:"Missing":0:{}', 'a|i:1;a|i:2;',
    'a|a:1:{i:0;i:1;}b|R:1;', 'a|i:1;b|R:1;', 'a|a:1:{i:0;i:1;}b|R:2;', 'a|O:8:"stdClass":0:{}b|r:1;', 'GLOBALS|i:1;', '_SESSION|i:1;'] as $bad) {
    same("`$bad`", decoded('php', $bad), decoded('icecore', $bad));
}
finish();
