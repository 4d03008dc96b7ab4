<?php
// What the runners of PHP share: the line protocol (../../README.md) around two expressions.
//
//     require getenv('LAB_LIB') . '/lab.php';
//     lab(['name' => 'igbinary', 'extension' => 'igbinary',
//         'write' => 'igbinary_serialize($value)', 'read' => 'igbinary_unserialize($bytes)']);
//
// `write` and `read` are text of PHP: a loop that they are compiled into costs some 6 ns a turn,
// and one that calls closures three times as much. They see:
//
//     $value   what is frozen
//     $bytes   the bytes that were written; if the medium is a file, they are read from
//              that file instead
//     $path    the file that was written
//     $own     what `prepare` gave
//
// The other keys, all optional but the name:
//
//     version     of what is measured; that of the extension, or of PHP, if it is left out
//     extension   what has to be there, `package` in which Debian has it, or `install`: what installs it
//     variant     how the classes of a scenario are written: LAB_VARIANT for its code
//     scenarios   the only ones where it takes part
//     operations  those that it has
//     role        'floor' for what only builds values
//     reads_file  true if reading starts from a file whatever the medium is, as with require
//     prepare     fn (mixed $value): mixed, called before the sample is written; may throw Cannot
//     note        fn (string $path): ?string, asked after the first reading of a check
//
// The garbage collector and everything else that no flag of a runner's first line sets are
// as PHP has them by default.

declare(strict_types=1);

require __DIR__ . '/values.php';
require __DIR__ . '/resident.php';

/** What a runner throws if it can't carry the data. */
final class Cannot extends Exception
{
}

/** Answers the lab until it says that it is enough. */
function lab(array $runner): void
{
    ini_set('display_errors', 'stderr');
    set_error_handler(static function (int $level, string $message): never {
        throw new ErrorException($message, 0, $level);
    });
    $session = new Session($runner);
    while (($line = fgets(STDIN)) !== false) {
        try {
            $asked = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
            if ($asked['do'] === 'quit') {
                return;
            }
            $answer = $session->answer($asked);
        } catch (Cannot $error) {
            $answer = ['cannot' => $error->getMessage()];
        } catch (Throwable $error) {
            $answer = ['error' => $error->getMessage()];
        }
        $flags = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE;
        fwrite(STDOUT, json_encode($answer, $flags | JSON_THROW_ON_ERROR) . "\n");
    }
}

/** One runner at work on one value. */
final class Session
{
    private mixed $value = null;
    private mixed $own = null;
    private string $bytes = '';
    /** Where the written value stands, and what else belongs to the medium. */
    private string $path = '';
    private bool $on_file = false;
    private ?string $code = null;
    private array $steps = [];
    /** The compiled loops, by operation. */
    private array $loops = [];

    public function __construct(private readonly array $runner)
    {
    }

    public function answer(array $asked): array
    {
        return match ($asked['do']) {
            'hello' => $this->hello(),
            'load' => $this->load($asked),
            'check' => $this->check($asked['answer'], $asked['bytes']),
            'time' => ['ns' => $this->time($asked['operation'], $asked['times'])],
            'memory' => $this->memory(),
            default => ['error' => "what is {$asked['do']}?"],
        };
    }

    private function hello(): array
    {
        $extension = $this->runner['extension'] ?? null;
        if ($extension !== null && !extension_loaded($extension)) {
            $debian = $this->runner['package'] ?? $extension;
            return [
                'missing' => "the extension $extension of PHP",
                'install' => $this->runner['install'] ?? 'apt-get install php' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION . "-$debian",
            ];
        }
        $version = $extension === null ? PHP_VERSION : phpversion($extension);
        return [
            'protocol' => 1,
            'name' => $this->runner['name'],
            'version' => $this->runner['version'] ?? $version,
            'runtime' => PHP_VERSION,
            'reference' => 'php',
            'operations' => $this->runner['operations'] ?? ['write', 'read', 'round-trip', 'to-json'],
        ] + array_intersect_key($this->runner, ['role' => 0, 'scenarios' => 0]);
    }

    private function load(array $asked): array
    {
        $this->on_file = $asked['medium'] === 'file';
        $this->path = $asked['folder'] . '/frozen' . ($this->reads_file() ? '.php' : '');
        $this->code = $asked['code'];
        if (isset($this->runner['variant'])) {
            define('LAB_VARIANT', $this->runner['variant']);
        }
        if ($this->code !== null) {
            require $this->code;
        }
        $this->step('start');
        $this->value = thaw_reference(file_get_contents($asked['file']));
        $this->step('data');
        $this->prepare();
        $this->write_sample();
        $this->step('written');
        return ['ok' => true];
    }

    /** What goes wrong with the data until the sample is there means: it can't carry it. */
    private function prepare(): void
    {
        if (isset($this->runner['prepare'])) {
            $this->own = $this->runner['prepare']($this->value);
        }
    }

    private function write_sample(): void
    {
        try {
            $written = $this->run($this->runner['write'] ?? "''");
        } catch (Throwable $error) {
            throw new Cannot($error->getMessage());
        }
        if (!is_string($written)) {
            throw new Cannot('it gave no bytes');
        }
        if ($this->on_file || $this->reads_file()) {
            file_put_contents($this->path, $written);
        } else {
            $this->bytes = $written;
        }
    }

    private function check(string $answer, string $bytes): array
    {
        $this->write_sample();
        if ($this->bytes === '' && is_file($this->path)) {
            copy($this->path, $bytes);
        } else {
            file_put_contents($bytes, $this->bytes);
        }
        file_put_contents($answer, serialize($this->run($this->read())));
        clearstatcache();
        $found = ['size' => filesize($bytes)];
        $note = isset($this->runner['note']) ? $this->runner['note']($this->path) : null;
        return $note === null ? $found : $found + ['note' => $note];
    }

    private function time(string $operation, int $times): int
    {
        $loop = $this->loops[$operation] ??= $this->compile($this->body($operation));
        return $loop($this->value, $this->bytes, $this->path, $this->own, $times);
    }

    /** What one turn of a loop does. */
    private function body(string $operation): string
    {
        $write = $this->runner['write'] ?? "''";
        $read = "\$made = {$this->read()}; unset(\$made);";
        $keep = $this->on_file || $this->reads_file() ? "file_put_contents(\$path, $write);" : "\$bytes = $write;";
        return match ($operation) {
            'write' => $this->on_file ? $keep : "\$made = $write; unset(\$made);",
            'read' => $read,
            'round-trip' => "$keep $read",
            'to-json' => $this->json_command(),
            default => throw new Exception("no operation $operation"),
        };
    }

    /** A process of its own, from the file of the value to a file of JSON. */
    private function json_command(): string
    {
        if (!is_file($this->path)) {
            file_put_contents($this->path, $this->bytes);
        }
        $program = 'ini_set("memory_limit", "-1"); ini_set("unserialize_max_depth", "0");';
        $variant = $this->runner['variant'] ?? null;
        $program .= $variant === null ? '' : 'define("LAB_VARIANT", ' . var_export($variant, true) . ');';
        $program .= $this->code === null ? '' : 'require ' . var_export($this->code, true) . ';';
        $program .= '$path = $argv[1];';
        $read = str_replace('$bytes', 'file_get_contents($path)', $this->runner['read']);
        $program .= "file_put_contents(\$argv[2], json_encode($read, JSON_THROW_ON_ERROR, 0x7fffffff));";
        $json = dirname($this->path) . '/json';
        $command = var_export([PHP_BINARY, '-r', $program, '--', $this->path, $json], true);
        return "lab_process($command);";
    }

    private function memory(): array
    {
        $this->value = null;
        $this->step('freed');
        $made = $this->run($this->read());
        $this->step('read');
        unset($made);
        return ['steps' => $this->steps];
    }

    private function step(string $name): void
    {
        $this->steps[] = ['step' => $name] + resident_memory();
    }

    private function reads_file(): bool
    {
        return $this->runner['reads_file'] ?? false;
    }

    private function read(): string
    {
        $read = $this->runner['read'];
        return $this->on_file ? str_replace('$bytes', 'file_get_contents($path)', $read) : $read;
    }

    /** The value of an expression. */
    private function run(string $expression): mixed
    {
        $once = eval("return static function (\$value, \$bytes, \$path, \$own) { return $expression; };");
        return $once($this->value, $this->bytes, $this->path, $this->own);
    }

    private function compile(string $body): Closure
    {
        return eval(<<<PHP
            return static function (\$value, \$bytes, \$path, \$own, \$times) {
                \$begin = hrtime(true);
                for (\$turn = 0; \$turn < \$times; ++\$turn) {
                    $body
                }
                return hrtime(true) - \$begin;
            };
            PHP);
    }
}

/** Runs a command to its end. */
function lab_process(array $command): void
{
    $process = proc_open($command, [1 => ['file', '/dev/null', 'w'], 2 => STDERR], $pipes);
    if ($process === false || proc_close($process) !== 0) {
        throw new Exception('a process of its own failed');
    }
}
