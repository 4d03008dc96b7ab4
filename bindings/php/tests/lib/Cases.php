<?php
// Runs the code of a case on two sides, each with classes of its own: the code's `class A`
// becomes another class for each side, with a name of the same length.

declare(strict_types=1);

final class Cases
{
    private static int $number = 0;

    public function __construct(private readonly Side $ours, private readonly Side $php)
    {
    }

    public function both(string $code): array
    {
        $number = ++self::$number;
        return [$this->said($this->ours, $code, sprintf('X%04d', $number)), $this->said($this->php, $code, sprintf('P%04d', $number))];
    }

    // Names that begin with Q_ are the case's own, and every case has them anew.
    private function said(Side $side, string $code, string $prefix): string
    {
        $code = preg_replace('/\bQ_/', "{$prefix}_", $code);
        $outcome = Outcome::of(fn () => $side->during(function (Side $side) use ($code) {
            $s = $side->serialize(...);
            $u = $side->unserialize(...);
            $show = fn (mixed $value) => Outcome::note(Shape::of($value));
            $say = fn (mixed $text) => Outcome::note((string) $text);
            // What is refused with an exception, in one word.
            $try = function (Closure $call) use ($show, $say) {
                try {
                    $show($call());
                } catch (Throwable $error) {
                    $say($error::class . ': ' . $error->getMessage());
                }
            };
            eval($code);
            return null;
        }));
        // Names in messages and in texts are the same again.
        return str_replace([$prefix, "'{$prefix}'"], ['Q', "'Q'"], $outcome->text());
    }
}
