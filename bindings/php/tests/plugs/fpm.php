<?php
// The extension in php-fpm behind nginx: one worker, many requests.
//
//   php fpm.php EXTENSION_SO
//
// Everything is below a folder of its own and on a free port of this machine; the servers end with
// this program.
require __DIR__ . '/lib.php';
require __DIR__ . '/classes.php';

function program(string $pattern): ?string
{
    $found = [];
    foreach (array_merge(explode(':', (string) getenv('PATH')), ['/usr/sbin', '/usr/local/sbin', '/sbin']) as $folder) {
        array_push($found, ...(glob("$folder/$pattern") ?: []));
    }
    natsort($found);
    return end($found) ?: null;
}

$module = realpath($argv[1] ?? dirname(__DIR__, 2) . '/modules/icecore.so');
$fpm = program('php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION) ?? program('php-fpm');
$nginx = program('nginx');
if (!$fpm || !$nginx || !$module) {
    echo 'left out: sessions over HTTP: ', !$fpm ? 'php-fpm is missing (php-fpm)' : (!$nginx ? 'nginx is missing (nginx-light)' : 'no extension'), "\n";
    finish();
}

// -- The servers ---------------------------------------------------------------

$folder = sys_get_temp_dir() . '/icecore-plugs-' . bin2hex(random_bytes(6));
$root = "$folder/pages";
foreach ([$root, "$root/points", "$root/any", "$folder/sessions"] as $made) {
    mkdir($made, 0700, true);
}
foreach (['', '/points', '/any'] as $under) {
    copy(__DIR__ . '/pages/page.php', "$root$under/page.php");
}
file_put_contents("$root/points/.user.ini", "icecore.classes = \"Point, Nothing\\*\"\n");
file_put_contents("$root/any/.user.ini", "icecore.classes = any\n");

$servers = [];
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

$with_setpriv = program('setpriv');
function start(array $command): void
{
    global $servers, $folder, $with_setpriv;
    // They end even if this program is killed, if the system supports that.
    $command = $with_setpriv ? [$with_setpriv, '--pdeathsig', 'TERM', '--', ...$command] : $command;
    $log = ['file', "$folder/servers.log", 'a'];
    $servers[] = proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes, null, ['PLUGS' => __DIR__, 'PATH' => getenv('PATH')]);
}

$is_root = posix_getuid() === 0;
$user = $is_root ? "user = root\ngroup = root\n" : '';
file_put_contents("$folder/fpm.conf", "[global]\ndaemonize = no\nerror_log = \"$folder/fpm.log\"\n[one]\n{$user}listen = \"$folder/fpm.sock\"\n"
    . "pm = static\npm.max_children = 1\nclear_env = no\ncatch_workers_output = yes\n");
$socket = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($socket, false);
fclose($socket);
$temporary = implode('', array_map(fn ($kind) => "{$kind}_temp_path \"$folder/nginx-$kind\";\n", ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']));
file_put_contents("$folder/nginx.conf", ($is_root ? "user root;\n" : '') . "daemon off;\nworker_processes 1;\npid \"$folder/nginx.pid\";\n"
    . "events { worker_connections 64; }\nhttp {\naccess_log off;\n$temporary"
    . "server {\nlisten $address;\nlocation ~ ^(/[a-z]+)*/page\\.php$ {\nfastcgi_param SCRIPT_FILENAME \"$root\$fastcgi_script_name\";\n"
    . "fastcgi_param DOCUMENT_ROOT \"$root\";\nfastcgi_param REQUEST_METHOD \$request_method;\nfastcgi_param QUERY_STRING \$query_string;\n"
    . "fastcgi_pass \"unix:$folder/fpm.sock\";\n}\n}\n}\n");
// Newer PHPs end a process at twice the memory limit; here the limit itself is tested.
$settings = ['memory_hard_limit_percent=10000', "extension=$module", 'apc.serializer=icecore', 'display_errors=0', 'log_errors=1', "error_log=$folder/php.log",
    "session.save_path=$folder/sessions", 'session.use_strict_mode=0', 'user_ini.cache_ttl=0', 'session.gc_probability=0'];
start([$fpm, '-F', '-y', "$folder/fpm.conf", ...($is_root ? ['-R'] : []), ...array_merge(...array_map(fn ($setting) => ['-d', $setting], $settings))]);
start([$nginx, '-p', $folder, '-e', "$folder/nginx.log", '-c', "$folder/nginx.conf"]);

/** Returns the status and the body of a page. */
function get(string $do, array $more = [], string $under = '', string $cookie = ''): array
{
    global $address;
    $query = http_build_query(['do' => $do] + $more);
    $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 60, 'header' => $cookie ? "Cookie: $cookie\r\n" : '']]);
    $body = @file_get_contents("http://$address$under/page.php?$query", false, $context);
    $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
    $set = preg_grep('/^Set-Cookie: /i', $http_response_header ?? []);
    return ['status' => $status, 'body' => $body, 'json' => json_decode((string) $body, true),
        'cookie' => $set ? explode(';', explode(': ', reset($set), 2)[1])[0] : null];
}

for ($tries = 0; get('hello')['status'] !== 200; $tries++) {
    if ($tries > 600) {
        check('the servers answer', false, log: file_get_contents("$folder/servers.log") . @file_get_contents("$folder/nginx.log"));
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
        same("$name: written by $handler", 200, $reply['status']);
        $file = "$folder/sessions/sess_" . ($reply['json']['id'] ?? 'none');
        $files[$handler] = is_file($file) ? file_get_contents($file) : null;
        $cookies[$handler] = $reply['cookie'];
    }
    same("$name: the same file", $files['php'], $files['icecore']);
    $read = [];
    foreach (HANDLERS as $writer) {
        foreach (HANDLERS as $reader) {
            $reply = get('session read', ['handler' => $reader], '', $cookies[$writer] ?? '')['json'];
            $read["written by $writer, read by $reader"] = [base64_decode($reply['dump'] ?? 'bm8='), base64_decode($reply['changed'] ?? 'bm8=')];
        }
    }
    foreach ($read as $how => $values) {
        same("$name: $how", $read['written by php, read by php'], $values);
    }
}
$cookie = '';
foreach ([...HANDLERS, ...HANDLERS, 'icecore', 'php'] as $at => $handler) {
    $reply = get('count', ['handler' => $handler], '', $cookie);
    $cookie = $reply['cookie'] ?? $cookie;
    same("one session, handler $handler", [$at + 1, [1, 2]], [$reply['json']['count'] ?? null, $reply['json']['point'] ?? null]);
}

// -- Requests that are aborted ---------------------------------------------------

$enough = fn (string $do) => check("after $do: a good request", get('work')['json']['same'] ?? false);
$enough('nothing');
foreach (['fatal in wakeup' => 500, 'fatal in serialize' => 500, 'memory in unserialize hook' => 500, 'exit in wakeup' => 200, 'fatal in session' => 500,
    'memory limit' => 500, 'memory limit, objects' => 500, 'memory limit, writing' => 500, 'time in wakeup' => 500] as $do => $status) {
    $reply = get($do);
    same("$do: the request ends", $status, $reply['status']);
    check("$do: it ended there", !str_contains((string) $reply['body'], 'reached'), body: $reply['body']);
    for ($i = 0; $i < 3; $i++) {
        $enough($do);
    }
}
same('all of that in one worker', $pid, get('hello')['json']['pid'] ?? null);

// -- Memory --------------------------------------------------------------------

/** Returns the growth of the worker in bytes while it answers this many requests. */
function growth(int $times, array $dos): int
{
    $resident = function (int $times) use ($dos): int {
        for ($i = 0; $i < $times; $i++) {
            get($dos[$i % count($dos)]);
        }
        return get('hello')['json']['resident'];
    };
    // Allocators keep memory; after the second round it is the same each time.
    $resident(max(20, intdiv($times, 3)));
    $before = $resident(max(20, intdiv($times, 3)));
    return $resident($times) - $before;
}
$bytes = growth(400, ['work', 'count', 'point', 'allow']);
check('good requests: no growth', $bytes < 1 << 20, growth: $bytes);
$bytes = growth(120, ['fatal in wakeup', 'fatal in serialize', 'memory in unserialize hook', 'exit in wakeup', 'fatal in session']);
check('requests that a hook ends: no growth', $bytes < 1 << 20, growth: $bytes);
$bytes = growth(45, ['memory limit', 'memory limit, objects', 'memory limit, writing']);
check('requests that the limit of memory ends: no growth', $bytes < 4 << 20, growth: $bytes);
same('still the same worker', $pid, get('hello')['json']['pid'] ?? null);

// -- Allowed classes -------------------------------------------------------------

$refused = 'Icecore\ClassException';
same('nothing is allowed', $refused, get('point')['json']['thrown'] ?? null);
check('Icecore\allow', isset(get('allow')['json']['read']));
same('it ends with the request', $refused, get('point')['json']['thrown'] ?? null);
check('icecore.classes of a folder', isset(get('point', [], '/points')['json']['read']));
same('icecore.classes of a folder: others', $refused, get('account', [], '/points')['json']['thrown'] ?? null);
same('the next request, elsewhere', $refused, get('point')['json']['thrown'] ?? null);
check('any, in another folder', isset(get('account', [], '/any')['json']['read']));
same('and elsewhere again', $refused, get('account')['json']['thrown'] ?? null);
same('and in the first folder', $refused, get('account', [], '/points')['json']['thrown'] ?? null);
check('a program cannot set it', get('hello', [], '/points')['json']['set'] ?? false);

// Sessions check the list too, if there is one.
$cookie = get('session write', ['case' => 'objects', 'handler' => 'php'])['cookie'];
same('a session with a class that the folder does not allow', 500, get('session read', [], '/points', $cookie)['status']);
same('the same session, elsewhere', 200, get('session read', [], '/any', $cookie)['status']);

// -- APCu ----------------------------------------------------------------------

if (extension_loaded('apcu')) {
    foreach (session_cases() as $name => $value) {
        $stored = get('store', ['case' => $name])['json'];
        same("APCu, $name: stored", [true, 'icecore'], [$stored['stored'] ?? null, $stored['serializer'] ?? null]);
        $read = get('fetch', ['case' => $name])['json'];
        check("APCu, $name: fetched", ($read['is_read'] ?? false) && $read['read'] === $read['wanted'],
            got: base64_decode($read['read'] ?? ''), wanted: base64_decode($read['wanted'] ?? ''));
    }
} else {
    echo "left out: APCu over php-fpm: APCu is missing (php-apcu)\n";
}
finish();
