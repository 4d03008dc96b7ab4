<?php
// Runs a line of the behaviour list (bindings/common/behaviour) in PHP.
//
//   foreach (Behaviour::lines($file) as $line) {
//       [$verdict, $why] = Behaviour::run($line);    // passed, failed, skipped, open, other host
//   }

declare(strict_types=1);

require __DIR__ . '/Behaviour/Part.php';
require __DIR__ . '/Behaviour/Bytes.php';
require __DIR__ . '/Behaviour/Builder.php';
require __DIR__ . '/Behaviour/Checker.php';
require __DIR__ . '/Behaviour/Classes.php';
require __DIR__ . '/Behaviour/Own.php';

class Behaviour
{
    private const HOST = 'php';
    private const HAS = ['alias', 'bool', 'code', 'freeze-hooks', 'thaw-hooks', 'destructors'];

    private array $values = [];
    private string $written = '';

    final private function __construct(private readonly ?Own $own)
    {
    }

    // The lines of a file, with the changes for this host.
    public static function lines(string $file): iterable
    {
        foreach (file($file, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) as $text) {
            $line = json_decode($text, true, 100_000, JSON_THROW_ON_ERROR);
            $here = $line[self::HOST] ?? [];
            unset($line[self::HOST]);
            yield $here + $line;
        }
    }

    public static function run(array $line): array
    {
        if (isset($line['hosts']) && !in_array(self::HOST, $line['hosts'], true)) {
            return ['other host', ''];
        }
        $has = [...self::HAS, ...(is_readable('/proc/self/statm') ? ['memory'] : [])];
        if ($lacks = array_diff($line['needs'] ?? [], $has)) {
            return ['skipped', 'PHP lacks ' . implode(' ', $lacks)];
        }
        if (isset($line['open'])) {
            return ['open', $line['open']];
        }
        $steps = isset($line['do']) ? [$line] : $line['steps'];
        $isOwn = str_contains(json_encode($steps), '"format":"own"');
        foreach ($isOwn ? Own::all() : [null] as $own) {
            $run = new static($own);
            Classes::$log = [];
            Classes::$nested = fn () => $run->nested();
            try {
                $run->steps($steps);
            } catch (Part $part) {
                return ['failed', ($own ? "$own->name: " : '') . $part->getMessage()];
            } catch (Throwable $error) {
                return ['failed', ($own ? "$own->name: " : '') . $error::class . ': ' . $error->getMessage() . ' at ' . basename($error->getFile()) . ':' . $error->getLine()];
            } finally {
                $run->values = [];
            }
        }
        return ['passed', ''];
    }

    private function steps(array $steps): void
    {
        foreach ($steps as $n => $step) {
            $verb = 'do' . ucfirst($step['do']);
            if (!method_exists($this, $verb)) {
                throw new Part("there is no step $step[do]");
            }
            try {
                $this->$verb($step);
            } catch (Part $part) {
                throw count($steps) > 1 ? new Part("step $n, $step[do]: " . $part->getMessage()) : $part;
            }
        }
    }

    // The action of the hooks of Reenters: another document, while one is being made or read.
    private function nested(): void
    {
        $own = $this->own ?? Own::all()[0];
        if ($own->read($own->write([1, ['a' => 2]]), []) !== [1, ['a' => 2]]) {
            throw new Part('a nested document was not read');
        }
    }

    // Calls code that may be refused, and compares the error with the one that the step expects.
    protected function guarded(array $step, Closure $call): mixed
    {
        $logged = count(Classes::$log);
        try {
            $result = $call();
        } catch (Icecore\Exception | HookSaysNo | Exception $error) {
            if ($error::class === Exception::class && !preg_match("/^Serialization of '.*' is not allowed$/", $error->getMessage())) {
                throw $error;
            }
            $this->holdError($step, $error, array_slice(Classes::$log, $logged));
            return null;
        }
        if (isset($step['error'])) {
            throw new Part('it was not refused, but gave ' . Checker::shown($result));
        }
        return $result;
    }

    private function holdError(array $step, Throwable $error, array $ran): void
    {
        $found = ['says' => $error->getMessage(), 'kind' => 'hook', 'offset' => null, 'path' => null];
        // Errors of PHP itself about writing have no path.
        if ($error::class === Exception::class) {
            $found['kind'] = 'value';
        }
        if ($error instanceof Icecore\Exception) {
            $found = ['kind' => $error->kind ?? '', 'offset' => $error->offset ?? null, 'path' => $error->path ?? ''] + $found;
            if (($found['kind'] === 'class') !== $error instanceof Icecore\ClassException) {
                throw new Part("the kind $found[kind] in " . $error::class);
            }
        }
        if (!isset($step['error'])) {
            throw new Part("refused: $found[kind], $found[says]");
        }
        // A refused call has built nothing, and run nothing.
        if ($ran && $found['kind'] !== 'hook') {
            throw new Part('ran: ' . implode(', ', $ran));
        }
        foreach ($step['error'] as $fact => $want) {
            $got = $found[$fact];
            $isSo = match (true) {
                is_array($want) => in_array($got, $want, true),
                $fact === 'says' => str_contains($got, $want),
                default => $got === $want,
            };
            if (!$isSo) {
                throw new Part("the error has $fact " . ($got ?? 'nothing') . ', not ' . implode(' ', (array) $want) . ": $found[kind] at offset " . ($found['offset'] ?? 'none') . ", $found[says]");
            }
        }
    }

    private function bytes(mixed $said): string
    {
        return isset($said['written']) && is_array($said) ? $this->written : Bytes::of($said);
    }

    // Returns all functions that read a format: bytes and options to a value.
    private function readers(array $step): array
    {
        $format = $step['format'];
        if ($format === 'own') {
            return [$this->own->read(...)];
        }
        $readers = [fn ($bytes, $options) => Icecore\decode($bytes, $format, $options + Own::DEPTH)];
        // PHP's own functions ignore bytes after a document, and so do ours with these names.
        $isTrailing = in_array('trailing', (array) ($step['error']['kind'] ?? []), true);
        if (($own = Own::of($format)) && !$isTrailing) {
            $readers[] = $own->read(...);
        }
        if ($format === 'var-export') {
            $readers[] = fn ($bytes, $options) => Icecore\var_import($bytes, $options + Own::DEPTH);
        }
        return $readers;
    }

    private function writers(array $step): array
    {
        $format = $step['format'];
        if ($format === 'own') {
            return [$this->own->write(...)];
        }
        $writers = [fn ($value) => Icecore\encode($value, $format)];
        if ($own = Own::of($format)) {
            $writers[] = $own->write(...);
        }
        return $writers;
    }

    protected function doRead(array $step): void
    {
        $bytes = $this->bytes($step['bytes']);
        $options = array_key_exists('classes', $step) ? ['classes' => $step['classes']] : [];
        $name = $step['as'] ?? 'it';
        foreach ($this->readers($step) as $read) {
            // The previous value is freed first, and its destructor appears in the log.
            unset($this->values[$name]);
            $value = $this->guarded($step, fn () => $read($bytes, $options));
            if (isset($step['error'])) {
                continue;
            }
            $this->values[$name] = $value;
            unset($value);
            if (array_key_exists('value', $step)) {
                (new Checker(!str_ends_with($step['format'], 'json')))->check($step['value'], $this->values[$name]);
            }
        }
    }

    protected function doWrite(array $step): void
    {
        $value = array_key_exists('value', $step) ? (new Builder)->build($step['value']) : $this->values[$step['of'] ?? 'it'];
        foreach ($this->writers($step) as $write) {
            $bytes = $this->guarded($step, fn () => $write($value));
            if (isset($step['error'])) {
                continue;
            }
            $out = isset($step['out']) ? $this->bytes($step['out']) : $bytes;
            $this->written = $bytes;
            if ($bytes !== $out) {
                throw new Part('wrote ' . Checker::shown($bytes) . ', not ' . Checker::shown($out));
            }
        }
    }

    protected function doMake(array $step): void
    {
        $this->values[$step['as'] ?? 'it'] = (new Builder)->build($step['value']);
    }

    protected function doMatch(array $step): void
    {
        (new Checker)->check($step['value'], $this->values[$step['of'] ?? 'it']);
    }

    protected function doForget(array $step): void
    {
        $this->values = [];
    }

    // Returns the variable at a path: keys of arrays, members of objects.
    private function &place(array $step): mixed
    {
        $slot = &$this->values[$step['of'] ?? 'it'];
        foreach ($step['path'] as $part) {
            if (is_object($slot)) {
                $slot = &$slot->$part;
            } else {
                $slot = &$slot[$part];
            }
        }
        return $slot;
    }

    protected function doSet(array $step): void
    {
        $slot = &$this->place($step);
        $slot = (new Builder)->build($step['value']);
    }

    protected function doGet(array $step): void
    {
        (new Checker)->check($step['value'], $this->place($step));
    }

    protected function doLog(array $step): void
    {
        $log = implode(', ', Classes::$log);
        Classes::$log = [];
        if (isset($step['log']) && $log !== implode(', ', $step['log'])) {
            throw new Part("the log has ($log), not (" . implode(', ', $step['log']) . ')');
        }
    }

    protected function doClasses(array $step): void
    {
        $found = array_map(fn ($one) => "$one[class] $one[count] $one[path]", Icecore\classes($this->bytes($step['bytes']), $step['format']));
        $want = array_map(fn ($one) => Bytes::string($one[0]) . " $one[1] $one[2]", $step['list']);
        if ($found !== $want) {
            throw new Part('the classes are (' . implode(', ', $found) . '), not (' . implode(', ', $want) . ')');
        }
    }

    protected function doTimes(array $step): void
    {
        for ($n = 0; $n < $step['times']; $n++) {
            $this->steps($step['steps']);
        }
    }

    // Cuts the bytes everywhere; all must be refused.
    protected function doCut(array $step): void
    {
        $bytes = $this->bytes($step['bytes']);
        for ($length = $step['from'] ?? 0; $length < strlen($bytes); $length++) {
            try {
                $this->doRead(['bytes' => ['hex' => bin2hex(substr($bytes, 0, $length))], 'error' => ['kind' => $step['kinds'] ?? ['truncated']]] + $step);
            } catch (Part $part) {
                throw new Part("$length bytes: " . $part->getMessage());
            }
        }
    }

    // Changes each byte: it is refused with an error, or read as some value.
    protected function doChange(array $step): void
    {
        $bytes = $this->bytes($step['bytes']);
        $options = ['classes' => $step['classes'] ?? []];
        foreach ($this->readers($step) as $read) {
            for ($at = 0; $at < strlen($bytes); $at++) {
                foreach ([1, 0x20, 0x80, 0xff] as $xor) {
                    $changed = $bytes;
                    $changed[$at] = chr(ord($changed[$at]) ^ $xor);
                    try {
                        $read($changed, $options);
                    } catch (Icecore\Exception $error) {
                        if (!isset($error->kind) || $error->kind === '') {
                            throw new Part("byte $at changed by $xor: " . $error->getMessage());
                        }
                    }
                }
            }
        }
    }

    private static function resident(): int
    {
        return 4096 * (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
    }

    protected function doMemory(array $step): void
    {
        $this->doTimes(['times' => intdiv($step['times'], 4)] + $step);
        $before = self::resident();
        $this->doTimes($step);
        $grown = self::resident() - $before;
        // A sanitizer keeps freed memory for a while.
        if ($grown > $step['most'] + (getenv('SKIP_ASAN') ? 64 << 20 : 0)) {
            throw new Part("grew by $grown bytes");
        }
    }
}
