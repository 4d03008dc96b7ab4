<?php
// The outcome of a call: its result, as text that shows identity and references, or its exception;
// its warnings; the calls of hooks; and the destructors that ran when the result was freed.

declare(strict_types=1);

require_once __DIR__ . '/Shape.php';

final class Outcome
{
    private static array $events = [];

    private function __construct(
        public readonly string $result,
        public readonly array $warnings,
        public readonly array $log,
        public readonly array $destructors,
        public readonly mixed $stringResult,      // the result, if it is a string or false
    ) {
    }

    public static function record(string $event): void
    {
        self::$events[] = $event;
    }

    // Removes the name of the function from a message. It differs between the implementations.
    public static function withoutFunctionName(string $message): string
    {
        return preg_replace('/^(?:Icecore\\\\)?(?:serialize|unserialize|var_export|var_import|igbinary_serialize|igbinary_unserialize)\(\): /', '', $message);
    }

    public static function of(Closure $call): self
    {
        // Collects garbage of earlier calls, so that it is not collected during this one.
        gc_collect_cycles();
        self::$events = [];
        $warnings = [];
        $names = [E_WARNING => 'Warning', E_NOTICE => 'Notice', E_DEPRECATED => 'Deprecated',
            E_RECOVERABLE_ERROR => 'Recoverable'];
        set_error_handler(function (int $level, string $message) use (&$warnings, $names) {
            $warnings[] = ($names[$level] ?? "level $level") . ': ' . self::withoutFunctionName($message);
            return true;
        });
        $value = null;
        $stringResult = null;
        try {
            $value = $call();
            $log = self::$events;
            $stringResult = is_string($value) || $value === false ? $value : null;
            $text = 'value ' . Shape::of($value);
        } catch (Throwable $error) {
            $log = self::$events;
            $text = 'exception ' . self::exception($error);
            // The exception would keep objects alive, because its trace has arguments.
            $error = null;
        } finally {
            restore_error_handler();
        }
        self::$events = [];
        $value = null;
        gc_collect_cycles();
        // The order of objects that are freed together is not guaranteed.
        $destructors = self::$events;
        sort($destructors);
        return new self($text, $warnings, $log, $destructors, $stringResult);
    }

    public static function exception(Throwable $error): string
    {
        $text = $error::class . '(' . $error->getCode() . '): ' . self::withoutFunctionName($error->getMessage());
        return $text . ($error->getPrevious() ? ' <- ' . self::exception($error->getPrevious()) : '');
    }

    public function equals(self $other): bool
    {
        return $this->text() === $other->text();
    }

    public function text(): string
    {
        return implode("\n", [
            $this->result,
            ...array_map(fn ($warning) => "  warning: $warning", $this->warnings),
            ...array_map(fn ($event) => "  event: $event", $this->log),
            ...array_map(fn ($event) => "  when freed: $event", $this->destructors),
        ]);
    }

    // Like text(), but without repeated calls of the autoloader.
    public function textWithoutRepeats(): string
    {
        $log = [];
        foreach ($this->log as $event) {
            if (!str_starts_with($event, 'autoload ') || !in_array($event, $log, true)) {
                $log[] = $event;
            }
        }
        return implode("\n", [$this->result, ...$this->warnings, '', ...$log, '', ...$this->destructors]);
    }

    public function isFailure(): bool
    {
        return $this->stringResult === false || str_starts_with($this->result, 'exception');
    }
}
