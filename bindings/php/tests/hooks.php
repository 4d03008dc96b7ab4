<?php
// Reads serialized data of all formats that was changed at random, with lists of allowed classes.
// Every class here records the calls of its hooks, and the autoloader records the requested names. No
// code of an unlisted class may run, and no object of it may be built. For malformed data no code at
// all may run.
//
//   php -d extension=icecore.so hooks.php [--seed N] [--count N] [--from N] [--show N] [--more EXTENSION]
//
// A round makes one value, and reads about 60 changed texts of it. With `-d icecore.classes=LIST`
// sessions are read, and with `-d icecore.replace=1` PHP's own functions are Icecore's: `--more
// EXTENSION` also runs such processes.

declare(strict_types=1);

error_reporting(0);
// Refused classes are not logged.
ini_set('log_errors', '0');
$options = getopt('', ['seed:', 'count:', 'from:', 'show:', 'more:']);
$seed = (int) ($options['seed'] ?? 1);
$count = (int) ($options['count'] ?? 60);
$from = (int) ($options['from'] ?? 0);
$show = (int) ($options['show'] ?? 10);

require __DIR__ . '/lib/Hooks/Calls.php';
require __DIR__ . '/lib/Hooks/kinds.php';
require __DIR__ . '/lib/Hooks/Values.php';
require __DIR__ . '/lib/Hooks/Changes.php';
require __DIR__ . '/lib/Hooks/Reader.php';

use Hooks\Calls;
use Hooks\Changes;
use Hooks\Reader;
use Hooks\Values;

register_shutdown_function(function () {
    if (!isset($GLOBALS['is_done']) && $error = error_get_last()) {
        echo "# the last error: $error[message] in $error[file]:$error[line]\n";
    }
});
spl_autoload_register(Calls::autoload(...));

/** Collects the classes of all objects in a value, without calling their methods. */
function classes_in(mixed $value, array &$found, int &$steps, int $depth = 0): void
{
    // Arrays may be recursive.
    if ($depth > 40 || ++$steps > 3000) {
        return;
    }
    if (is_object($value)) {
        $id = spl_object_id($value);
        if (isset($found[$id])) {
            return;
        }
        $found[$id] = get_class($value);
        if ($value instanceof SplObjectStorage) {
            foreach ($value as $object) {
                classes_in($object, $found, $steps, $depth + 1);
            }
        }
        try {
            $value = (array) $value;
        } catch (Error) {
            return; // PHP's own reader makes an object of any class for `C:`, even of those that need more
        }
    }
    if (is_array($value)) {
        foreach ($value as $item) {
            classes_in($item, $found, $steps, $depth + 1);
        }
    }
}

$passed = $failed = 0;
$outcomes = ['read' => 0, 'refused' => 0, 'malformed' => 0, 'calls' => 0];
for ($round = $from; $round < $from + $count; $round++) {
    mt_srand($seed * 1000003 + $round);
    $value = Values::make(4);
    // Frees cycles of the previous value.
    gc_collect_cycles();
    foreach (Reader::all() as $name => $reader) {
        Calls::reset();
        try {
            $bytes = $reader->write($value);
        } catch (Throwable) {
            continue; // a format that can't express the value
        }
        for ($change = 0; $change < 4; $change++) {
            $changed = Changes::apply($bytes, $reader->isText);
            $is_malformed = $reader->isMalformed($changed);
            [$list, $allowed] = Reader::anyList($reader);
            Reader::clean();
            Calls::start($allowed);
            $result = null;
            $found = [];
            try {
                $result = $reader->read($changed, $list);
                $outcomes['read'] += $result !== false && $result !== null;
            } catch (Icecore\ClassException) {
                $outcomes['refused']++;
            } catch (Throwable) {
            }
            Calls::pause();
            $steps = 0;
            classes_in($result, $found, $steps);
            Calls::resume();
            unset($result);
            gc_collect_cycles();
            $calls = Calls::stop();
            $outcomes['calls'] += count($calls);
            $outcomes['malformed'] += $is_malformed;
            $wrong = $is_malformed ? $calls : Calls::ofUnlistedClasses();
            if ($reader->isRefusedByPhp($changed)) {
                // Well-formed data that can't be built: only destructors may run, as in PHP.
                $wrong = [...$wrong, ...preg_grep('/::__destruct$|::autoload$/', $calls, PREG_GREP_INVERT)];
            }
            foreach (array_unique($found) as $class) {
                if (!Calls::mayBeBuilt($class)) {
                    $wrong[] = "an object of $class was built";
                }
            }
            if ($wrong === []) {
                $passed++;
            } elseif ($failed++ < $show) {
                echo "not ok - seed $seed, round $round, change $change, $name",
                    $is_malformed ? ' (malformed)' : '', ', ', json_encode($list), ': ',
                    implode(', ', array_unique($wrong)), "\n    ", addcslashes($changed, "\0..\37\177..\377\\"), "\n";
            }
        }
    }
}
echo '# ', implode(', ', array_map(fn ($what, $number) => "$what $number", array_keys($outcomes), $outcomes)), "\n";
if ($count >= 40) {
    foreach ($outcomes as $what => $number) {
        if ($number < $passed / 500) {
            echo "not ok - too few outcomes of this kind to trust the test: $what $number\n";
            $failed++;
        }
    }
}
if (isset($options['more'])) {
    foreach ([['icecore.classes=' . implode(',', Calls::LISTED)], ['icecore.replace=1']] as $settings) {
        $command = [PHP_BINARY, '-d', "extension=$options[more]"];
        foreach ([...$settings, 'session.use_cookies=0', 'session.cache_limiter='] as $setting) {
            array_push($command, '-d', $setting);
        }
        array_push($command, __FILE__, '--seed', (string) $seed, '--count', (string) $count, '--from', (string) $from,
            '--show', (string) $show);
        $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
        $output = stream_get_contents($pipes[1]);
        $code = proc_close($process);
        echo preg_replace('/^\d+ passed.*\n/m', '', $output);
        if (preg_match('/^(\d+) passed, (\d+) failed$/m', $output, $counts)) {
            $passed += (int) $counts[1];
            $failed += (int) $counts[2];
        } else {
            echo "not ok - $settings[0]: exit code $code\n";
            $failed++;
        }
    }
}
$is_done = true;
echo "$passed passed, $failed failed\n";
exit($failed === 0 ? 0 : 1);
