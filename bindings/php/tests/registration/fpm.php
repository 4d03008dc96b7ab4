<?php
// Tests the extension in php-fpm behind nginx: one worker, many requests.
//
//   php fpm.php EXTENSION_SO
//
// The servers have a folder of their own and a free port, and end with this program.
require __DIR__ . '/lib.php';
require __DIR__ . '/classes.php';

/** Returns the path of the newest program that matches, or null. */
function find_program(string $pattern): ?string
{
    $found = [];
    foreach (array_merge(explode(':', (string) getenv('PATH')),
        ['/usr/sbin', '/usr/local/sbin', '/sbin']) as $folder) {
        array_push($found, ...(glob("$folder/$pattern") ?: []));
    }
    natsort($found);
    return end($found) ?: null;
}

$module = realpath($argv[1] ?? dirname(__DIR__, 2) . '/modules/icecore.so');
$fpm = find_program('php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION) ?? find_program('php-fpm');
$nginx = find_program('nginx');
if (!$fpm || !$nginx || !$module) {
    echo 'left out: sessions over HTTP: ', !$fpm ? 'php-fpm is missing (php-fpm)'
        : (!$nginx ? 'nginx is missing (nginx-light)' : 'no extension'), "\n";
    finish();
}

// -- The servers ---------------------------------------------------------------

$folder = sys_get_temp_dir() . '/icecore-registration-' . bin2hex(random_bytes(6));
$root = "$folder/pages";
foreach ([$root, "$root/points", "$root/any", "$folder/sessions"] as $path) {
    mkdir($path, 0700, true);
}
foreach (['', '/points', '/any'] as $folder_path) {
    copy(__DIR__ . '/pages/page.php', "$root$folder_path/page.php");
}
file_put_contents("$root/points/.user.ini", "icecore.classes = \"Point, Nothing\\*\"\n");
file_put_contents("$root/any/.user.ini", "icecore.classes = any\n");

$servers = [];
/** Removes a file or a folder. */
function remove(string $path): void
{
    if (is_dir($path) && !is_link($path)) {
        foreach (array_diff(scandir($path), ['.', '..']) as $name) {
            remove("$path/$name");
        }
        rmdir($path);
    } else {
        unlink($path);
    }
}
register_shutdown_function(function () use (&$servers, $folder) {
    foreach (array_reverse($servers) as $server) {
        proc_terminate($server);
        proc_close($server);
    }
    remove($folder);
});

$setpriv = find_program('setpriv');
/** Starts a server. */
function start_server(array $command): void
{
    global $servers, $folder, $setpriv;
    // With setpriv, the server ends even if this program is killed.
    $command = $setpriv ? [$setpriv, '--pdeathsig', 'TERM', '--', ...$command] : $command;
    $log = ['file', "$folder/servers.log", 'a'];
    $servers[] = proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes, null,
        ['TEST_FOLDER' => __DIR__, 'PATH' => getenv('PATH')]);
}

$is_root = posix_getuid() === 0;
$user = $is_root ? "user = root\ngroup = root\n" : '';
file_put_contents("$folder/fpm.conf",
    "[global]\ndaemonize = no\nerror_log = \"$folder/fpm.log\"\n[one]\n{$user}listen = \"$folder/fpm.sock\"\n"
    . "pm = static\npm.max_children = 1\nclear_env = no\ncatch_workers_output = yes\n");
$socket = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($socket, false);
fclose($socket);
$temporary = array_map(fn ($kind) => "{$kind}_temp_path \"$folder/nginx-$kind\";\n",
    ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']);
$temporary = implode('', $temporary);
file_put_contents("$folder/nginx.conf", ($is_root ? "user root;\n" : '')
    . "daemon off;\nworker_processes 1;\npid \"$folder/nginx.pid\";\n"
    . "events { worker_connections 64; }\nhttp {\naccess_log off;\n$temporary"
    . "server {\nlisten $address;\nlocation ~ ^(/[a-z]+)*/page\\.php$ {\nfastcgi_param SCRIPT_FILENAME \"$root\$fastcgi_script_name\";\n"
    . "fastcgi_param DOCUMENT_ROOT \"$root\";\nfastcgi_param REQUEST_METHOD \$request_method;\nfastcgi_param QUERY_STRING \$query_string;\n"
    . "fastcgi_pass \"unix:$folder/fpm.sock\";\n}\n}\n}\n");
// Newer PHPs end a process at twice the memory limit; here the limit itself is tested.
$settings = ['memory_hard_limit_percent=10000', "extension=$module", 'apc.serializer=icecore', 'display_errors=0',
    'log_errors=1', "error_log=$folder/php.log",
    "session.save_path=$folder/sessions", 'session.use_strict_mode=0', 'user_ini.cache_ttl=0',
    'session.gc_probability=0'];
start_server([$fpm, '-F', '-y', "$folder/fpm.conf", ...($is_root ? ['-R'] : []),
    ...array_merge(...array_map(fn ($setting) => ['-d', $setting], $settings))]);
start_server([$nginx, '-p', $folder, '-e', "$folder/nginx.log", '-c', "$folder/nginx.conf"]);

/** Requests the page: an action with parameters, in a folder. Returns the status, the body and the cookie. */
function get(string $action, array $parameters = [], string $folder_path = '', string $cookie = ''): array
{
    global $address;
    $query = http_build_query(['do' => $action] + $parameters);
    $context = stream_context_create(['http' =>
        ['ignore_errors' => true, 'timeout' => 60, 'header' => $cookie ? "Cookie: $cookie\r\n" : '']]);
    $body = @file_get_contents("http://$address$folder_path/page.php?$query", false, $context);
    $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
    $set = preg_grep('/^Set-Cookie: /i', $http_response_header ?? []);
    return ['status' => $status, 'body' => $body, 'json' => json_decode((string) $body, true),
        'cookie' => $set ? explode(';', explode(': ', reset($set), 2)[1])[0] : null];
}

for ($tries = 0; get('hello')['status'] !== 200; $tries++) {
    if ($tries > 600) {
        check('the servers answer', false, log: file_get_contents("$folder/servers.log")
            . @file_get_contents("$folder/nginx.log"));
        finish();
    }
    usleep(50_000);
}
$pid = get('hello')['json']['pid'];

// -- Sessions ------------------------------------------------------------------

const HANDLERS = ['php', 'icecore'];
foreach (session_cases() as $name => $variables) {
    $files = [];
    foreach (HANDLERS as $handler) {
        $reply = get('session write', ['case' => $name, 'handler' => $handler]);
        same("$name: the handler $handler writes the session", 200, $reply['status']);
        $file = "$folder/sessions/sess_" . ($reply['json']['id'] ?? 'none');
        $files[$handler] = is_file($file) ? file_get_contents($file) : null;
        $cookies[$handler] = $reply['cookie'];
    }
    same("$name: both handlers write the same file", $files['php'], $files['icecore']);
    $read = [];
    foreach (HANDLERS as $writer) {
        foreach (HANDLERS as $reader) {
            $reply = get('session read', ['handler' => $reader], '', $cookies[$writer] ?? '')['json'];
            $read["written by $writer, read by $reader"] = [base64_decode($reply['dump'] ?? 'bm8='),
                base64_decode($reply['changed'] ?? 'bm8=')];
        }
    }
    foreach ($read as $how => $values) {
        same("$name, $how: the variables are the same", $read['written by php, read by php'], $values);
    }
}
$cookie = '';
foreach ([...HANDLERS, ...HANDLERS, 'icecore', 'php'] as $index => $handler) {
    $reply = get('count', ['handler' => $handler], '', $cookie);
    $cookie = $reply['cookie'] ?? $cookie;
    same("a session continues with the handler $handler", [$index + 1, [1, 2]],
        [$reply['json']['count'] ?? null, $reply['json']['point'] ?? null]);
}

// -- Requests that are aborted ---------------------------------------------------

$check_worker = fn (string $action) =>
    check("after $action the worker answers correctly", get('work')['json']['same'] ?? false);
$check_worker('the start');
foreach (['fatal in wakeup' => 500, 'fatal in serialize' => 500, 'memory in unserialize hook' => 500,
    'exit in wakeup' => 200, 'fatal in session' => 500,
    'memory limit' => 500, 'memory limit, objects' => 500, 'memory limit, writing' => 500,
    'time in wakeup' => 500] as $action => $status) {
    $reply = get($action);
    same("$action: the request has the status", $status, $reply['status']);
    check("$action: the request ends within Icecore's call", !str_contains((string) $reply['body'], 'reached'),
        body: $reply['body']);
    for ($i = 0; $i < 3; $i++) {
        $check_worker($action);
    }
}
same('one worker answered all aborted requests', $pid, get('hello')['json']['pid'] ?? null);

// -- Memory --------------------------------------------------------------------

/** Returns the growth of the worker in bytes while it answers this many requests. */
function growth(int $times, array $actions): int
{
    $resident = function (int $times) use ($actions): int {
        for ($i = 0; $i < $times; $i++) {
            get($actions[$i % count($actions)]);
        }
        return get('hello')['json']['resident'];
    };
    // Allocators keep memory. After the second round the size is stable.
    $resident(max(20, intdiv($times, 3)));
    $before = $resident(max(20, intdiv($times, 3)));
    return $resident($times) - $before;
}
$bytes = growth(400, ['work', 'count', 'point', 'allow']);
check('the worker does not grow by normal requests', $bytes < 1 << 20, growth: $bytes);
$bytes = growth(120,
    ['fatal in wakeup', 'fatal in serialize', 'memory in unserialize hook', 'exit in wakeup', 'fatal in session']);
check('the worker does not grow by requests that a hook ends', $bytes < 1 << 20, growth: $bytes);
$bytes = growth(45, ['memory limit', 'memory limit, objects', 'memory limit, writing']);
check('the worker does not grow by requests that memory_limit ends', $bytes < 4 << 20, growth: $bytes);
same('the worker is still the same', $pid, get('hello')['json']['pid'] ?? null);

// -- Allowed classes -------------------------------------------------------------

$refused = 'Icecore\ClassException';
same('without rules no class is allowed', $refused, get('point')['json']['thrown'] ?? null);
check('Icecore\allow allows a class', isset(get('allow')['json']['read']));
same('Icecore\allow ends with the request', $refused, get('point')['json']['thrown'] ?? null);
check('icecore.classes of a folder allows its classes', isset(get('point', [], '/points')['json']['read']));
same('icecore.classes of a folder refuses other classes', $refused,
    get('account', [], '/points')['json']['thrown'] ?? null);
same('icecore.classes of a folder does not apply to the next request elsewhere', $refused,
    get('point')['json']['thrown'] ?? null);
check('icecore.classes=any in another folder allows all classes', isset(get('account', [], '/any')['json']['read']));
same('icecore.classes=any does not apply elsewhere', $refused, get('account')['json']['thrown'] ?? null);
same('icecore.classes=any does not apply in the first folder', $refused,
    get('account', [], '/points')['json']['thrown'] ?? null);
check('a program can\'t set icecore.classes', get('hello', [], '/points')['json']['set'] ?? false);

// Sessions check icecore.classes too, if it is set.
$cookie = get('session write', ['case' => 'objects', 'handler' => 'php'])['cookie'];
same('a session with a class that the folder refuses can\'t be read', 500,
    get('session read', [], '/points', $cookie)['status']);
same('the same session can be read in a folder that allows all classes', 200,
    get('session read', [], '/any', $cookie)['status']);

// -- APCu ----------------------------------------------------------------------

if (extension_loaded('apcu')) {
    foreach (session_cases() as $name => $value) {
        $stored = get('store', ['case' => $name])['json'];
        same("APCu, $name: the value is stored by the serializer icecore", [true, 'icecore'],
            [$stored['stored'] ?? null, $stored['serializer'] ?? null]);
        $read = get('fetch', ['case' => $name])['json'];
        check("APCu, $name: the fetched value equals the stored one", ($read['is_read'] ?? false)
            && $read['read'] === $read['expected'],
            found: base64_decode($read['read'] ?? ''), expected: base64_decode($read['expected'] ?? ''));
    }
} else {
    echo "left out: APCu over php-fpm: APCu is missing (php-apcu)\n";
}
finish();
