<?php
// The outcome of a call: its result as text that shows identity and references, or its exception;
// the warnings; the hooks that ran; and the destructors when the result was freed.

declare(strict_types=1);

require_once __DIR__ . '/Shape.php';

final class Outcome
{
    private static array $events = [];

    private function __construct(
        public readonly string $result,
        public readonly array $warnings,
        public readonly array $log,
        public readonly array $dropped,
        public readonly mixed $plain,      // the result, if it is a string or false
    ) {
    }

    public static function note(string $event): void
    {
        self::$events[] = $event;
    }

    // The names of functions differ between two sides; the rest of the message must not.
    public static function unnamed(string $message): string
    {
        return preg_replace('/^(?:Icecore\\\\)?(?:serialize|unserialize|var_export|var_import|igbinary_serialize|igbinary_unserialize)\(\): /', '', $message);
    }

    public static function of(Closure $call): self
    {
        // Garbage of earlier calls is collected now, and not during this one.
        gc_collect_cycles();
        self::$events = [];
        $warnings = [];
        $names = [E_WARNING => 'Warning', E_NOTICE => 'Notice', E_DEPRECATED => 'Deprecated', E_RECOVERABLE_ERROR => 'Recoverable'];
        set_error_handler(function (int $level, string $message) use (&$warnings, $names) {
            $warnings[] = ($names[$level] ?? "level $level") . ': ' . self::unnamed($message);
            return true;
        });
        $value = null;
        $plain = null;
        try {
            $value = $call();
            $log = self::$events;
            $plain = is_string($value) || $value === false ? $value : null;
            $text = 'value ' . Shape::of($value);
        } catch (Throwable $error) {
            $log = self::$events;
            $text = 'exception ' . self::exception($error);
            // The trace contains arguments, and so objects.
            $error = null;
        } finally {
            restore_error_handler();
        }
        self::$events = [];
        $value = null;
        gc_collect_cycles();
        // Objects that are freed together have no guaranteed order.
        $dropped = self::$events;
        sort($dropped);
        return new self($text, $warnings, $log, $dropped, $plain);
    }

    public static function exception(Throwable $error): string
    {
        $text = $error::class . '(' . $error->getCode() . '): ' . self::unnamed($error->getMessage());
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
            ...array_map(fn ($one) => "  said $one", $this->warnings),
            ...array_map(fn ($one) => "  ran $one", $this->log),
            ...array_map(fn ($one) => "  at its end $one", $this->dropped),
        ]);
    }

    // Like text(), but each request of the autoloader appears once.
    public function textWithoutRepeats(): string
    {
        $log = [];
        foreach ($this->log as $event) {
            if (!str_starts_with($event, 'autoload ') || !in_array($event, $log, true)) {
                $log[] = $event;
            }
        }
        return implode("\n", [$this->result, ...$this->warnings, '', ...$log, '', ...$this->dropped]);
    }

    public function isFailure(): bool
    {
        return $this->plain === false || str_starts_with($this->result, 'exception');
    }
}
