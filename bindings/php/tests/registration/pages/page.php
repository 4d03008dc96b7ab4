<?php
// The page that fpm.php requests: page.php?do=ACTION
require getenv('TEST_FOLDER') . '/classes.php';
header('Content-Type: application/json');
header('Cache-Control: no-store');

class FatalInWakeup
{
    public $a = 1;

    public function __wakeup(): void
    {
        trigger_error('stop', E_USER_ERROR);
    }
}

class FatalInSerialize
{
    public function __serialize(): array
    {
        trigger_error('stop', E_USER_ERROR);
        return [];
    }
}

class MemoryInUnserialize
{
    public function __serialize(): array
    {
        return [];
    }

    public function __unserialize(array $data): void
    {
        str_repeat('x', 1 << 40);
    }
}

class ExitInWakeup
{
    public function __wakeup(): void
    {
        exit('gone');
    }
}

class TimeInWakeup
{
    public function __wakeup(): void
    {
        set_time_limit(1);
        for (;;) {
        }
    }
}

/** Returns the resident memory of the worker in bytes. */
function resident_bytes(): int
{
    return (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
}

/** Sets memory_limit to this many bytes more than are in use. */
function limit_memory(int $bytes): void
{
    gc_mem_caches();
    if (ini_set('memory_limit', (string) (memory_get_usage(true) + $bytes)) === false) {
        answer(['limit' => 'not set']);
    }
}

/** Prints the answer as JSON and ends the request. */
function answer(array $answer): never
{
    echo json_encode($answer
        + ['pid' => getmypid(), 'memory' => memory_get_usage(), 'resident' => resident_bytes()], JSON_THROW_ON_ERROR);
    exit;
}

/** Returns the value of a call as text, or its exception. */
function attempt(callable $call): array
{
    try {
        return ['read' => base64_encode(serialize($call()))];
    } catch (Throwable $thrown) {
        return ['thrown' => $thrown::class, 'message' => $thrown->getMessage()];
    }
}

$handler = $_GET['handler'] ?? 'icecore';
switch ($_GET['do']) {
    case 'hello':
        answer(['ini' => ini_get('icecore.classes'), 'set' => ini_set('icecore.classes', 'Point') === false]);

    case 'session write':
        ini_set('session.serialize_handler', $handler);
        session_start();
        foreach (session_cases()[$_GET['case']] as $key => &$value) {
            $_SESSION[$key] = &$value;
        }
        unset($value);
        session_write_close();
        answer(['id' => session_id()]);

    case 'session read':
        ini_set('session.serialize_handler', $handler);
        session_start();
        ob_start();
        var_dump($_SESSION);
        $dump = preg_replace('/#\d+/', '#', ob_get_clean());
        // Changing the values shows which of them are references.
        foreach ($_SESSION as &$value) {
            if (is_int($value)) {
                $value += 100;
            }
        }
        unset($value);
        ob_start();
        var_dump($_SESSION);
        $changed = preg_replace('/#\d+/', '#', ob_get_clean());
        session_abort();
        answer(['dump' => base64_encode($dump), 'changed' => base64_encode($changed)]);

    case 'count':
        ini_set('session.serialize_handler', $handler);
        session_start();
        $_SESSION['count'] = ($_SESSION['count'] ?? 0) + 1;
        $_SESSION['point'] ??= new Point(1, 2);
        answer(['count' => $_SESSION['count'], 'point' => [$_SESSION['point']->x, $_SESSION['point']->y]]);

    case 'work':
        $value = [new Point(1, 2), new Hooked([1]), new Slept(), [1, 'two', 3.0], Suit::Hearts];
        Icecore\allow('Point', 'Hooked', 'Slept', 'Suit');
        $text = Icecore\serialize($value);
        $read = Icecore\unserialize($text);
        answer(['same' => $text === serialize($value) && serialize($read) === serialize(unserialize($text))]);

    // Each of the following actions ends the request within a call of Icecore.
    case 'fatal in wakeup':
        Icecore\unserialize('a:3:{i:0;O:8:"stdClass":0:{}i:1;O:13:"FatalInWakeup":1:{s:1:"a";i:1;}i:2;a:1:{i:0;s:3:"abc";}}', ['allowed_classes' => true]);
        answer(['not' => 'reached']);
    case 'fatal in serialize':
        Icecore\serialize([new Point(1, 2), [1, 2, 3], new FatalInSerialize(), 'text']);
        answer(['not' => 'reached']);
    case 'memory in unserialize hook':
        Icecore\unserialize(serialize([new Point(1, 2), new MemoryInUnserialize(), new Point(3, 4)]),
            ['allowed_classes' => true]);
        answer(['not' => 'reached']);
    case 'exit in wakeup':
        Icecore\unserialize('a:2:{i:0;O:12:"ExitInWakeup":0:{}i:1;O:12:"ExitInWakeup":0:{}}',
            ['allowed_classes' => true]);
        answer(['not' => 'reached']);
    case 'time in wakeup':
        Icecore\unserialize('O:12:"TimeInWakeup":0:{}', ['allowed_classes' => true]);
        answer(['not' => 'reached']);
    case 'fatal in session':
        ini_set('session.serialize_handler', $handler);
        session_start();
        $_SESSION['fatal'] = new FatalInSerialize();
        session_write_close();
        answer(['not' => 'reached']);
    case 'memory limit':
        $text = 'a:200000:{';
        for ($i = 0; $i < 200_000; $i++) {
            $text .= "i:$i;a:2:{s:2:\"id\";i:$i;s:4:\"name\";s:5:\"Alice\";}";
        }
        $text .= '}';
        limit_memory(8 << 20);
        Icecore\unserialize($text);
        answer(['not' => 'reached']);
    case 'memory limit, objects':
        $text = 'a:100000:{';
        for ($i = 0; $i < 100_000; $i++) {
            $text .= "i:$i;O:5:\"Point\":2:{s:1:\"x\";i:$i;s:1:\"y\";i:2;}";
        }
        $text .= '}';
        limit_memory(4 << 20);
        Icecore\unserialize($text, ['allowed_classes' => ['Point']]);
        answer(['not' => 'reached']);
    case 'memory limit, writing':
        $text = [];
        for ($i = 0; $i < 1000; $i++) {
            $text[] = str_repeat('x', 10);
        }
        $text = array_fill(0, 20_000, $text);
        limit_memory(4 << 20);
        Icecore\serialize($text);
        answer(['not' => 'reached']);

    case 'allow':
        Icecore\allow('Point');
        answer(attempt(fn () => Icecore\unserialize('O:5:"Point":2:{s:1:"x";i:1;s:1:"y";i:2;}')));
    case 'point':
        answer(attempt(fn () => Icecore\unserialize('O:5:"Point":2:{s:1:"x";i:1;s:1:"y";i:2;}')));
    case 'account':
        answer(attempt(fn () => Icecore\unserialize('O:7:"Account":0:{}')));

    case 'store':
        answer(['stored' => apcu_store($_GET['case'], session_cases()[$_GET['case']]),
            'serializer' => ini_get('apc.serializer')]);
    case 'fetch':
        $read = apcu_fetch($_GET['case'], $is_read);
        answer(['read' => base64_encode(serialize($read)), 'is_read' => $is_read,
            'expected' => base64_encode(serialize(session_cases()[$_GET['case']]))]);
}
