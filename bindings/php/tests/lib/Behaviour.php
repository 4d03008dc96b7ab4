<?php
// Runs a line of the behaviour list (bindings/common/behaviour) in PHP.
//
//   foreach (Behaviour::lines($file) as $line) {
//       [$verdict, $why] = Behaviour::run($line);    // passed, failed, skipped, open, other host
//   }

declare(strict_types=1);

require __DIR__ . '/Behaviour/Mismatch.php';
require __DIR__ . '/Behaviour/Bytes.php';
require __DIR__ . '/Behaviour/Builder.php';
require __DIR__ . '/Behaviour/Checker.php';
require __DIR__ . '/Behaviour/Classes.php';
require __DIR__ . '/Behaviour/FunctionPair.php';

class Behaviour
{
    private const HOST = 'php';
    private const FEATURES = ['alias', 'bool', 'code', 'freeze-hooks', 'thaw-hooks', 'destructors'];

    private array $values = [];
    private string $written = '';

    final private function __construct(private readonly ?FunctionPair $pair)
    {
    }

    // Returns the lines of a file, with their changes for this host.
    public static function lines(string $file): iterable
    {
        foreach (file($file, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) as $text) {
            $line = json_decode($text, true, 100_000, JSON_THROW_ON_ERROR);
            $changes = $line[self::HOST] ?? [];
            unset($line[self::HOST]);
            yield $changes + $line;
        }
    }

    // Runs a line. Returns a verdict and its reason.
    public static function run(array $line): array
    {
        if (isset($line['hosts']) && !in_array(self::HOST, $line['hosts'], true)) {
            return ['other host', ''];
        }
        $features = [...self::FEATURES, ...(is_readable('/proc/self/statm') ? ['memory'] : [])];
        if ($missing = array_diff($line['needs'] ?? [], $features)) {
            return ['skipped', 'PHP lacks ' . implode(' ', $missing)];
        }
        if (isset($line['open'])) {
            return ['open', $line['open']];
        }
        $steps = isset($line['do']) ? [$line] : $line['steps'];
        $usesPairs = str_contains(json_encode($steps), '"format":"own"');
        foreach ($usesPairs ? FunctionPair::all() : [null] as $pair) {
            $run = new static($pair);
            Classes::$log = [];
            Classes::$nested = fn () => $run->readNested();
            try {
                $run->runSteps($steps);
            } catch (Mismatch $mismatch) {
                return ['failed', ($pair ? "$pair->name: " : '') . $mismatch->getMessage()];
            } catch (Throwable $error) {
                return ['failed', ($pair ? "$pair->name: " : '') . $error::class . ': ' . $error->getMessage()
                    . ' at ' . basename($error->getFile()) . ':' . $error->getLine()];
            } finally {
                $run->values = [];
            }
        }
        return ['passed', ''];
    }

    private function runSteps(array $steps): void
    {
        foreach ($steps as $index => $step) {
            $method = 'do' . ucfirst($step['do']);
            if (!method_exists($this, $method)) {
                throw new Mismatch("there is no step $step[do]");
            }
            try {
                $this->$method($step);
            } catch (Mismatch $mismatch) {
                throw count($steps) > 1
                    ? new Mismatch("step $index, $step[do]: " . $mismatch->getMessage()) : $mismatch;
            }
        }
    }

    // The action of the hooks of Reenters: writes and reads another document, while one is being
    // written or read.
    private function readNested(): void
    {
        $pair = $this->pair ?? FunctionPair::all()[0];
        if ($pair->read($pair->write([1, ['a' => 2]]), []) !== [1, ['a' => 2]]) {
            throw new Mismatch('a nested document was not read');
        }
    }

    // Makes a call, and compares its error with the one that the step expects. Returns its result, or
    // null after an expected error.
    protected function callGuarded(array $step, Closure $call): mixed
    {
        $logLength = count(Classes::$log);
        try {
            $result = $call();
        } catch (Icecore\Exception | HookSaysNo | Exception $error) {
            if ($error::class === Exception::class
                && !preg_match("/^Serialization of '.*' is not allowed$/", $error->getMessage())) {
                throw $error;
            }
            $this->compareError($step, $error, array_slice(Classes::$log, $logLength));
            return null;
        }
        if (isset($step['error'])) {
            throw new Mismatch('it was not refused, but gave ' . Checker::shown($result));
        }
        return $result;
    }

    private function compareError(array $step, Throwable $error, array $calledHooks): void
    {
        $found = ['says' => $error->getMessage(), 'kind' => 'hook', 'offset' => null, 'path' => null];
        // Errors of PHP itself about writing have no path.
        if ($error::class === Exception::class) {
            $found['kind'] = 'value';
        }
        if ($error instanceof Icecore\Exception) {
            $found = ['kind' => $error->kind ?? '', 'offset' => $error->offset ?? null, 'path' => $error->path ?? '']
                + $found;
            if (($found['kind'] === 'class') !== $error instanceof Icecore\ClassException) {
                throw new Mismatch("the kind $found[kind] in " . $error::class);
            }
        }
        if (!isset($step['error'])) {
            throw new Mismatch("refused: $found[kind], $found[says]");
        }
        // A refused call has built nothing, and run nothing.
        if ($calledHooks && $found['kind'] !== 'hook') {
            throw new Mismatch('ran: ' . implode(', ', $calledHooks));
        }
        foreach ($step['error'] as $property => $expected) {
            $value = $found[$property];
            $isEqual = match (true) {
                is_array($expected) => in_array($value, $expected, true),
                $property === 'says' => str_contains($value, $expected),
                default => $value === $expected,
            };
            if (!$isEqual) {
                throw new Mismatch("the error has $property " . ($value ?? 'nothing') . ', not '
                    . implode(' ', (array) $expected) . ": $found[kind] at offset " . ($found['offset'] ?? 'none')
                    . ", $found[says]");
            }
        }
    }

    private function bytes(mixed $description): string
    {
        return isset($description['written']) && is_array($description) ? $this->written : Bytes::of($description);
    }

    // Returns all functions that read the step's format, with bytes and options as arguments.
    private function readers(array $step): array
    {
        $format = $step['format'];
        if ($format === 'own') {
            return [$this->pair->read(...)];
        }
        $readers = [fn ($bytes, $options) => Icecore\decode($bytes, $format, $options + FunctionPair::DEPTH_OPTION)];
        // PHP's own functions ignore bytes after a document, and so do Icecore's with the same names.
        $isTrailing = in_array('trailing', (array) ($step['error']['kind'] ?? []), true);
        if (($pair = FunctionPair::of($format)) && !$isTrailing) {
            $readers[] = $pair->read(...);
        }
        if ($format === 'var-export') {
            $readers[] = fn ($bytes, $options) => Icecore\var_import($bytes, $options + FunctionPair::DEPTH_OPTION);
        }
        return $readers;
    }

    // Returns all functions that write the step's format.
    private function writers(array $step): array
    {
        $format = $step['format'];
        if ($format === 'own') {
            return [$this->pair->write(...)];
        }
        $writers = [fn ($value) => Icecore\encode($value, $format)];
        if ($pair = FunctionPair::of($format)) {
            $writers[] = $pair->write(...);
        }
        return $writers;
    }

    protected function doRead(array $step): void
    {
        $bytes = $this->bytes($step['bytes']);
        $options = array_key_exists('classes', $step) ? ['classes' => $step['classes']] : [];
        $name = $step['as'] ?? 'it';
        foreach ($this->readers($step) as $read) {
            // Frees the previous value, whose destructor appears in the log.
            unset($this->values[$name]);
            $value = $this->callGuarded($step, fn () => $read($bytes, $options));
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
        $value = array_key_exists('value', $step)
            ? (new Builder)->build($step['value']) : $this->values[$step['of'] ?? 'it'];
        foreach ($this->writers($step) as $write) {
            $bytes = $this->callGuarded($step, fn () => $write($value));
            if (isset($step['error'])) {
                continue;
            }
            $expected = isset($step['out']) ? $this->bytes($step['out']) : $bytes;
            $this->written = $bytes;
            if ($bytes !== $expected) {
                throw new Mismatch('wrote ' . Checker::shown($bytes) . ', not ' . Checker::shown($expected));
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

    // Returns the variable at a path of array keys and property names.
    private function &variableAt(array $step): mixed
    {
        $variable = &$this->values[$step['of'] ?? 'it'];
        foreach ($step['path'] as $key) {
            if (is_object($variable)) {
                $variable = &$variable->$key;
            } else {
                $variable = &$variable[$key];
            }
        }
        return $variable;
    }

    protected function doSet(array $step): void
    {
        $variable = &$this->variableAt($step);
        $variable = (new Builder)->build($step['value']);
    }

    protected function doGet(array $step): void
    {
        (new Checker)->check($step['value'], $this->variableAt($step));
    }

    protected function doLog(array $step): void
    {
        $log = implode(', ', Classes::$log);
        Classes::$log = [];
        if (isset($step['log']) && $log !== implode(', ', $step['log'])) {
            throw new Mismatch("the log has ($log), not (" . implode(', ', $step['log']) . ')');
        }
    }

    protected function doClasses(array $step): void
    {
        $found = array_map(fn ($class) => "$class[class] $class[count] $class[path]",
            Icecore\classes($this->bytes($step['bytes']), $step['format']));
        $expected = array_map(fn ($class) => Bytes::string($class[0]) . " $class[1] $class[2]", $step['list']);
        if ($found !== $expected) {
            throw new Mismatch('the classes are (' . implode(', ', $found) . '), not (' . implode(', ', $expected)
                . ')');
        }
    }

    protected function doTimes(array $step): void
    {
        for ($n = 0; $n < $step['times']; $n++) {
            $this->runSteps($step['steps']);
        }
    }

    // Cuts the bytes at each length. All cut bytes must be refused.
    protected function doCut(array $step): void
    {
        $bytes = $this->bytes($step['bytes']);
        for ($length = $step['from'] ?? 0; $length < strlen($bytes); $length++) {
            try {
                $this->doRead(['bytes' => ['hex' => bin2hex(substr($bytes, 0, $length))],
                    'error' => ['kind' => $step['kinds'] ?? ['truncated']]] + $step);
            } catch (Mismatch $mismatch) {
                throw new Mismatch("$length bytes: " . $mismatch->getMessage());
            }
        }
    }

    // Changes each byte. The changed bytes must be refused with an error, or read as some value.
    protected function doChange(array $step): void
    {
        $bytes = $this->bytes($step['bytes']);
        $options = ['classes' => $step['classes'] ?? []];
        foreach ($this->readers($step) as $read) {
            for ($offset = 0; $offset < strlen($bytes); $offset++) {
                foreach ([1, 0x20, 0x80, 0xff] as $mask) {
                    $changed = $bytes;
                    $changed[$offset] = chr(ord($changed[$offset]) ^ $mask);
                    try {
                        $read($changed, $options);
                    } catch (Icecore\Exception $error) {
                        if (!isset($error->kind) || $error->kind === '') {
                            throw new Mismatch("byte $offset changed by $mask: " . $error->getMessage());
                        }
                    }
                }
            }
        }
    }

    private static function residentBytes(): int
    {
        return 4096 * (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
    }

    protected function doMemory(array $step): void
    {
        $this->doTimes(['times' => intdiv($step['times'], 4)] + $step);
        $before = self::residentBytes();
        $this->doTimes($step);
        $grown = self::residentBytes() - $before;
        // A sanitizer keeps freed memory for a while.
        if ($grown > $step['most'] + (getenv('SKIP_ASAN') ? 64 << 20 : 0)) {
            throw new Mismatch("grew by $grown bytes");
        }
    }
}
