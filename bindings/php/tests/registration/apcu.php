<?php
// Tests apc.serializer=icecore in one process.
require __DIR__ . '/lib.php';
require __DIR__ . '/classes.php';

same('the serializer is icecore', 'icecore', ini_get('apc.serializer'));
check('APCu is enabled', apcu_enabled());

foreach (session_cases() as $name => $value) {
    check("$name: the value is stored", apcu_store($name, $value));
    $read = apcu_fetch($name, $is_read);
    check("$name: the value is fetched", $is_read);
    // PHP's text also shows references between elements.
    same("$name: the fetched value equals the stored one", serialize($value), serialize($read));
}
foreach ([null, true, 5, 1.5, 'text', '', [], Suit::Hearts, new Point(3, 4), (object) []] as $value) {
    apcu_store('one', $value);
    $read = apcu_fetch('one');
    same('a single value survives: ' . get_debug_type($value), serialize($value), serialize($read));
}
$object = new Account();
apcu_store('cycle', $object);
$object->any = 'changed';
same('the stored value is a copy', null, apcu_fetch('cycle')->any);
check('apcu_entry returns the stored value', apcu_entry('entry', fn () => new Point(5, 6)) == new Point(5, 6)
    && apcu_entry('entry', fn () => null) == new Point(5, 6));
apcu_store(['many 1' => new Point(1, 1), 'many 2' => [new Point(2, 2)]]);
check('several values are stored and fetched at once',
    apcu_fetch(['many 1', 'many 2']) == ['many 1' => new Point(1, 1), 'many 2' => [new Point(2, 2)]]);
check('a closure can\'t be stored', thrown(fn () => apcu_store('closure', fn () => 1)) instanceof Exception);
check('after a refused value another one is stored', apcu_store('after', [new Point(1, 2)])
    && apcu_fetch('after') == [new Point(1, 2)]);
class Throws
{
    public function __wakeup(): void
    {
        throw new LogicException('awake');
    }
}
apcu_store('throws', [new Throws()]);
check('an exception of a hook is thrown by apcu_fetch',
    thrown(fn () => apcu_fetch('throws')) instanceof LogicException);
check('after an exception another value is fetched', apcu_fetch('after') == [new Point(1, 2)]);
$iterated = [];
foreach (new APCUIterator('/^many/') as $key => $item) {
    $iterated[$key] = $item['value'];
}
ksort($iterated);
check('APCUIterator returns the values', $iterated == ['many 1' => new Point(1, 1), 'many 2' => [new Point(2, 2)]]);
$before = 0;
for ($i = 0; $i < 30_000; $i++) {
    apcu_store('loop', [new Point($i, $i), 'text', [$object]]);
    apcu_fetch('loop');
    if ($i === 5_000) {
        $before = memory_get_usage();
    }
}
check('repeated storing does not grow the memory', memory_get_usage() - $before < 4096,
    growth: memory_get_usage() - $before);
// With icecore.classes, apcu_fetch refuses the other classes.
$command = [PHP_BINARY, '-d', 'apc.enable_cli=1', '-d', 'apc.serializer=icecore', '-d', 'icecore.classes=Account'];
if (is_file($module = getenv('ICECORE_SO') ?: '')) {
    array_push($command, '-d', "extension=$module");
}
array_push($command, '-r', 'require "classes.php"; apcu_store("a", [new Account]); apcu_store("p", [new Point(1, 2)]);
    echo apcu_fetch("a")[0]::class; try { apcu_fetch("p"); echo " built"; } catch (Icecore\ClassException $e) { echo " refused ", $e->path; }');
$process = proc_open($command, [1 => ['pipe', 'w']], $pipes, __DIR__);
same('icecore.classes restricts apcu_fetch', 'Account refused $[0]', stream_get_contents($pipes[1]));
proc_close($process);
finish();
