<?php
// apc.serializer=icecore, in one process.
require __DIR__ . '/lib.php';
require __DIR__ . '/classes.php';

same('the serializer', 'icecore', ini_get('apc.serializer'));
check('APCu is on', apcu_enabled());

foreach (session_cases() as $name => $value) {
    check("$name: stored", apcu_store($name, $value));
    $read = apcu_fetch($name, $is_read);
    check("$name: fetched", $is_read);
    // For references between elements, PHP's text shows what was kept.
    same("$name: the same", serialize($value), serialize($read));
}
foreach ([null, true, 5, 1.5, 'text', '', [], Suit::Hearts, new Point(3, 4), (object) []] as $value) {
    apcu_store('one', $value);
    $read = apcu_fetch('one');
    same('one value: ' . get_debug_type($value), serialize($value), serialize($read));
}
$object = new Account();
apcu_store('cycle', $object);
$object->any = 'changed';
same('what is stored is a copy', null, apcu_fetch('cycle')->any);
check('apcu_entry', apcu_entry('entry', fn () => new Point(5, 6)) == new Point(5, 6) && apcu_entry('entry', fn () => null) == new Point(5, 6));
apcu_store(['many 1' => new Point(1, 1), 'many 2' => [new Point(2, 2)]]);
check('many', apcu_fetch(['many 1', 'many 2']) == ['many 1' => new Point(1, 1), 'many 2' => [new Point(2, 2)]]);
check('what cannot be stored', thrown(fn () => apcu_store('closure', fn () => 1)) instanceof Exception);
check('and the next one can', apcu_store('after', [new Point(1, 2)]) && apcu_fetch('after') == [new Point(1, 2)]);
class Throws
{
    public function __wakeup(): void
    {
        throw new LogicException('awake');
    }
}
apcu_store('throws', [new Throws()]);
check('a hook that throws', thrown(fn () => apcu_fetch('throws')) instanceof LogicException);
check('and the next one is read', apcu_fetch('after') == [new Point(1, 2)]);
$iterated = [];
foreach (new APCUIterator('/^many/') as $key => $item) {
    $iterated[$key] = $item['value'];
}
ksort($iterated);
check('an iterator', $iterated == ['many 1' => new Point(1, 1), 'many 2' => [new Point(2, 2)]]);
$before = 0;
for ($i = 0; $i < 30_000; $i++) {
    apcu_store('loop', [new Point($i, $i), 'text', [$object]]);
    apcu_fetch('loop');
    if ($i === 5_000) {
        $before = memory_get_usage();
    }
}
check('memory does not grow', memory_get_usage() - $before < 4096, growth: memory_get_usage() - $before);
// Icecore is the reader: with a list of classes for the process the others are refused.
$command = [PHP_BINARY, '-d', 'apc.enable_cli=1', '-d', 'apc.serializer=icecore', '-d', 'icecore.classes=Account'];
if (is_file($module = getenv('ICECORE_SO') ?: '')) {
    array_push($command, '-d', "extension=$module");
}
array_push($command, '-r', 'require "classes.php"; apcu_store("a", [new Account]); apcu_store("p", [new Point(1, 2)]);
    echo apcu_fetch("a")[0]::class; try { apcu_fetch("p"); echo " taken"; } catch (Icecore\ClassException $e) { echo " refused ", $e->path; }');
$process = proc_open($command, [1 => ['pipe', 'w']], $pipes, __DIR__);
same('icecore.classes', 'Account refused $[0]', stream_get_contents($pipes[1]));
proc_close($process);
finish();
