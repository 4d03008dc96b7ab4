<?php
// Runs the code of a case with two implementations, each with classes of its own: the code's `Q_A`
// becomes a different class for each one, with a name of the same length.
//
// The code uses these variables: $s and $u are serialize and unserialize, $show records a value,
// $say records a text, and $try records the result of a call or its exception.

declare(strict_types=1);

final class Cases
{
    private static int $number = 0;

    public function __construct(private readonly Implementation $ours, private readonly Implementation $php)
    {
    }

    // Returns the outputs of both implementations.
    public function outputs(string $code): array
    {
        $number = ++self::$number;
        // One line calls both, because the trace of an exception has its line number.
        $prefixes = [sprintf('X%04d', $number), sprintf('P%04d', $number)];
        return array_map(fn ($implementation, $prefix) => $this->runOn($implementation, $code, $prefix),
            [$this->ours, $this->php], $prefixes);
    }

    // Runs the code, with this prefix instead of Q, and returns its output.
    private function runOn(Implementation $implementation, string $code, string $prefix): string
    {
        $code = preg_replace('/\bQ_/', "{$prefix}_", $code);
        $outcome = Outcome::of(fn () => $implementation->run(function (Implementation $implementation) use ($code) {
            $s = $implementation->serialize(...);
            $u = $implementation->unserialize(...);
            $show = fn (mixed $value) => Outcome::record(Shape::of($value));
            $say = fn (mixed $text) => Outcome::record((string) $text);
            $try = function (Closure $call) use ($show, $say) {
                try {
                    $show($call());
                } catch (Throwable $error) {
                    $say(Outcome::exception($error));
                }
            };
            eval($code);
            return null;
        }));
        // The original names are restored in messages and texts.
        return str_replace([$prefix, "'{$prefix}'"], ['Q', "'Q'"], $outcome->text());
    }
}
