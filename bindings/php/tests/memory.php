<?php
// Reads and writes near memory_limit. The outcome must be a value, an exception or PHP's own error, and
// never a signal. The process may take no more memory than the limit and a fixed allowance.
//
//   php -d extension=icecore.so memory.php --extension FILE [--seed N] [--count N] [--show N]
//
// Each attempt is a process of its own: a random job, a size, and a limit from far too little to
// enough.

declare(strict_types=1);

$options = getopt('', ['extension:', 'seed:', 'count:', 'show:', 'job:', 'size:', 'limit:']);

/** What the process may take in addition to the limit, in KiB: tables of names, memory kept between calls. */
const ALLOWANCE = 16 << 10;

function list_text(int $size): string
{
    return 'a:' . $size . ':{' . implode('', array_map(fn ($i) => "i:$i;i:7;", range(0, $size - 1))) . '}';
}

function objects_text(int $size): string
{
    return 'a:' . $size . ':{'
        . implode('', array_map(fn ($i) => "i:$i;O:8:\"stdClass\":1:{s:1:\"a\";i:$i;}", range(0, $size - 1))) . '}';
}

function arrays_text(int $size): string
{
    return 'a:' . $size . ':{' . implode('', array_map(fn ($i) => "i:$i;a:1:{i:0;s:2:\"ab\";}", range(0, $size - 1)))
        . '}';
}

function rows(int $size): array
{
    return array_map(fn ($i) => ['id' => $i, 'name' => "n$i", 'price' => $i / 7], range(0, $size - 1));
}

/** Returns a text whose hook reads a text, whose hook reads another one, and so on. */
function nested_text(int $size): string
{
    $text = list_text($size);
    for ($i = 0; $i < 6; $i++) {
        $text = 'O:6:"Reader":1:{i:0;s:' . strlen($text) . ':"' . $text . '";}';
    }
    return $text;
}

function deep(int $size): array
{
    for ($value = []; $size > 0; $size--) {
        $value = [$value];
    }
    return $value;
}

/**
 * @return array<string, array{Closure, Closure}> the jobs: the first function makes an input of the given
 * size, before the limit is set; the second one works on the input within the limit
 */
function jobs(): array
{
    return [
        'unserialize a list' => [list_text(...), Icecore\unserialize(...)],
        'unserialize arrays' => [arrays_text(...), Icecore\unserialize(...)],
        'unserialize objects' => [objects_text(...), Icecore\unserialize(...)],
        'unserialize keys' =>
            [fn ($size) => serialize(array_fill_keys(array_map(fn ($i) => "key $i", range(0, $size)), 1)),
            Icecore\unserialize(...)],
        'unserialize strings' =>
            [fn ($size) => serialize(array_map(fn ($i) => str_repeat('x', 99) . $i, range(0, intdiv($size, 8)))),
            Icecore\unserialize(...)],
        'unserialize a string' => [fn ($size) => serialize(str_repeat('x', 10 * $size)), Icecore\unserialize(...)],
        'unserialize again and again' =>
            [list_text(...),
            fn ($text) => array_map(fn () => strlen(serialize(Icecore\unserialize($text))), range(0, 4))],
        'unserialize and keep' =>
            [fn ($size) => list_text(intdiv($size, 4)),
            fn ($text) => array_map(fn () => Icecore\unserialize($text), range(0, 9))],
        'unserialize in hooks' =>
            [fn ($size) => nested_text(intdiv($size, 4)),
            fn ($text) => Icecore\unserialize($text, ['classes' => ['Reader']])],
        'unserialize a payload' =>
            [fn ($size) => serialize([new Payload(rows(intdiv($size, 8))), 1]),
            fn ($text) => Icecore\unserialize($text, ['classes' => ['Payload']])],
        'decode compressed data' =>
            [fn ($size) => gzencode(list_text($size)), fn ($bytes) => Icecore\decode($bytes, 'gzip/php')],
        'decode a compressed string' =>
            [fn ($size) => gzencode(serialize(str_repeat('x', 10 * $size))),
            fn ($bytes) => Icecore\decode($bytes, 'gzip/php')],
        'decode JSON' =>
            [fn ($size) => '[' . str_repeat('1,', $size) . '1]', fn ($text) => Icecore\decode($text, 'json')],
        'decode Sereal' =>
            [fn ($size) => Icecore\convert(list_text($size), 'php', 'sereal:compress=zlib'),
            fn ($bytes) => Icecore\decode($bytes, 'sereal')],
        'decode Marshal' =>
            [fn ($size) => Icecore\convert(arrays_text($size), 'php', 'marshal'),
            fn ($bytes) => Icecore\decode($bytes, 'marshal')],
        'igbinary_unserialize' =>
            [fn ($size) => Icecore\igbinary_serialize(rows(intdiv($size, 4))), Icecore\igbinary_unserialize(...)],
        'igbinary_serialize' => [fn ($size) => rows(intdiv($size, 4)), Icecore\igbinary_serialize(...)],
        'var_import' => [fn ($size) => var_export(rows(intdiv($size, 4)), true), Icecore\var_import(...)],
        'var_export' => [fn ($size) => rows(intdiv($size, 4)), fn ($value) => Icecore\var_export($value, true)],
        'serialize rows' => [fn ($size) => rows(intdiv($size, 4)), Icecore\serialize(...)],
        'serialize objects' =>
            [fn ($size) => array_map(fn ($row) => (object) $row, rows(intdiv($size, 4))), Icecore\serialize(...)],
        'serialize a string' => [fn ($size) => str_repeat('x', 10 * $size), Icecore\serialize(...)],
        'serialize deep' => [fn ($size) => deep(min($size, 20000)), Icecore\serialize(...)],
        'convert to JSON' => [objects_text(...), fn ($text) => Icecore\convert($text, 'php', 'json')],
        'convert to itself' => [list_text(...), fn ($text) => Icecore\convert($text, 'php', 'php')],
        'convert compressed data' =>
            [fn ($size) => gzencode(arrays_text($size)),
            fn ($bytes) => Icecore\convert($bytes, 'gzip/php', 'storable')],
        'classes' => [objects_text(...), fn ($text) => Icecore\classes($text, 'php')],
        'replace' => [fn ($size) => serialize(array_fill(0, intdiv($size, 4), str_repeat('-', 30) . 'x')),
            fn ($text) => Icecore\replace('x', 'yy', $text)],
        'replace short strings' =>
            [fn ($size) => serialize(array_fill(0, intdiv($size, 4), 'x')),
            fn ($text) => Icecore\replace('x', 'y', $text)],
        'replace much' =>
            [fn ($size) => serialize(str_repeat('x', $size)), fn ($text) => Icecore\replace('x', 'yyyyyyyy', $text)],
        'encode' => [fn ($size) => rows(intdiv($size, 4)), fn ($value) => Icecore\encode($value, 'marshal')],
        'read a session' =>
            [fn ($size) => 'v|' . serialize(rows(intdiv($size, 4))),
            fn ($text) => session_start() && session_decode($text)],
        'write a session' =>
            [fn ($size) => rows(intdiv($size, 4)),
            fn ($value) => session_start() && ($_SESSION['v'] = $value) && session_encode()],
    ];
}

class Reader
{
    public $in;

    public function __serialize(): array { return []; }
    public function __unserialize(array $data): void
    {
        $this->in = Icecore\unserialize($data[0], ['classes' => ['Reader']]);
    }
}

class Payload implements Serializable
{
    public function __construct(public $in = null) {}
    public function serialize() { return serialize($this->in); }
    public function unserialize($text) { $this->in = Icecore\unserialize($text); }
}

/** Returns a line of the process status, in KiB: VmRSS is the current, VmHWM the peak memory. */
function process_memory(string $name): int
{
    preg_match("/$name:\s+(\d+)/", file_get_contents('/proc/self/status'), $found);
    return (int) $found[1];
}

if (isset($options['job'])) {
    error_reporting(E_ALL & ~E_DEPRECATED);
    ini_set('display_errors', '0');
    [$prepare, $run] = jobs()[$options['job']];
    $input = $prepare((int) $options['size']);
    gc_collect_cycles();
    gc_mem_caches();
    // Resets the peak.
    file_put_contents('/proc/self/clear_refs', '5');
    $before = process_memory('VmRSS');
    register_shutdown_function(function () {
        $error = error_get_last();
        $growth = process_memory('VmHWM') - $GLOBALS['before'];
        ini_set('memory_limit', '-1');
        // `value` is only the word of the outcome; it is null if the job did not end.
        echo json_encode(['error' => $error['message'] ?? null, 'fatal' => ($error['type'] ?? 0) === E_ERROR,
            'growth' => $growth, 'value' => $GLOBALS['outcome'] ?? null]), "\n";
    });
    if ($options['limit'] !== '-1') {
        ini_set('memory_limit', (string) (memory_get_usage(true) + (int) $options['limit']));
    }
    try {
        $result = $run($input);
        $outcome = $result === false || $result === null ? 'nothing' : 'value';
    } catch (Icecore\Exception $e) {
        $outcome = 'exception: ' . $e->getMessage();
    }
    exit(0);
}

if (getenv('USE_ZEND_ALLOC') === '0' || !is_writable('/proc/self/clear_refs')) {
    echo "# memory: skipped, as it can't be measured here\n0 passed, 0 failed\n";
    exit(0);
}
$seed = (int) ($options['seed'] ?? 1);
$count = (int) ($options['count'] ?? 40);
$show = (int) ($options['show'] ?? 10);
mt_srand($seed);
$names = array_keys(jobs());
$passed = $failed = 0;
$outcomes = ['value' => 0, 'limit' => 0];
$max_excess = [];
for ($number = 0; $number < $count; $number++) {
    $job = $names[$number < count($names) ? $number : mt_rand(0, count($names) - 1)];
    // The memory in addition to the input, from far too little to enough.
    $limit = [1, 2, 4, 8, 16, 32, 64][mt_rand(0, 6)] << 20;
    $size = (int) (2 ** mt_rand(10, 19) * (1 + mt_rand(0, 100) / 100));
    $has_no_limit = mt_rand(0, 11) === 0;
    $command = [PHP_BINARY, '-d', "extension=$options[extension]", '-d', 'memory_limit=-1', '-d',
        'session.use_cookies=0', '-d', 'session.cache_limiter=',
        '-d', 'session.serialize_handler=icecore', '-d', 'session.save_path=' . sys_get_temp_dir(),
        '-d', 'opcache.enable_cli=0', __FILE__,
        '--job', $job, '--size', (string) $size, '--limit', $has_no_limit ? '-1' : (string) $limit];
    $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    $answer = json_decode((string) stream_get_contents($pipes[1]), true);
    $errors = stream_get_contents($pipes[2]);
    $status = proc_close($process);
    $is_limit = $answer !== null && $answer['fatal']
        && preg_match('/^Allowed memory size of \d+ bytes exhausted( at \S+)? \(tried to allocate \d+ bytes\)/',
        (string) $answer['error']);
    $problem = null;
    if ($answer === null) {
        $problem = "the process ended with $status: $errors";
    } elseif ($answer['value'] === null && !$is_limit
        && !str_contains((string) $answer['error'], 'Failed to decode session object')) {
        // A session that ends with PHP's error is destroyed, and PHP reports that afterwards.
        $problem = "an error that is not PHP's own: $answer[error]";
    } elseif ($answer['value'] !== null && $answer['value'] !== 'value') {
        $problem = "$answer[value]: $answer[error]";
    } elseif (!$has_no_limit && $answer['growth'] > ($limit >> 10) + ALLOWANCE) {
        $problem = "it grew by $answer[growth] KiB";
    }
    if ($answer !== null) {
        $outcomes[$is_limit ? 'limit' : 'value']++;
        $excess = $has_no_limit ? -PHP_INT_MAX : $answer['growth'] - ($limit >> 10);
        $max_excess[$job] = max($max_excess[$job] ?? -PHP_INT_MAX, $excess);
    }
    if ($problem === null) {
        $passed++;
    } elseif ($failed++ < $show) {
        echo "not ok - $job, size $size, $limit bytes in addition to the input",
            $has_no_limit ? ' (no limit)' : '', ": $problem\n";
    }
}
foreach ($outcomes as $outcome_name => $number) {
    if ($count >= 40 && $number < $count / 10) {
        echo "not ok - too few processes end with: $outcome_name\n";
        $failed++;
    }
}
echo '# value ', $outcomes['value'], ', limit ', $outcomes['limit'], '; beyond the limit at most ', max($max_excess),
    " KiB\n";
if ($show > 50) {
    arsort($max_excess);
    print_r($max_excess);
}
echo "$passed passed, $failed failed\n";
exit($failed === 0 ? 0 : 1);
