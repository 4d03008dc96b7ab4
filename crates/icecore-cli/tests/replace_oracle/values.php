<?php
// Nested frozen values, each with the expected result of replacing text in its live strings.
// Every maker returns a pair: [before, after]. Seeded by mt_srand.

final class Values
{
    public bool $keys = false;      // replace in keys too
    public bool $classes = false;   // replace in names of classes too
    public bool $base64 = false;    // look into Base64 too
    public bool $json = true;       // NEW can stand in JSON
    public ?string $only = null;    // only this kind of frozen value
    public bool $plainEscapes = false; // escape PHP and JSON only
    private Closure $f;
    private array $old;

    public function __construct(public array $pairs)
    {
        $this->old = array_map('strval', array_keys($pairs));
        $this->f = static fn (string $s): string => $s === '' ? '' : strtr($s, $pairs);
        foreach ($pairs as $old => $new) {
            $this->json = $this->json && preg_match('//u', (string) $old) && preg_match('//u', $new);
        }
    }

    public function one(array $of)
    {
        return $of[mt_rand(0, count($of) - 1)];
    }

    /** Texts of a cell that seem to contain serialized data; the bits of $stay say which of them stay unchanged. */
    public array $unclear = [];
    public int $stay = 0;

    public function plain(string $s): array
    {
        $new = ($this->f)($s);
        if ($new !== $s && preg_match('/[sSOCE]:\d+:["\\\\]/', $s)) {
            $this->unclear[] = $s;
            if ($this->stay >> count($this->unclear) - 1 & 1) {
                return [$s, $s];
            }
        }
        return [$s, $new];
    }

    /** A text that is frozen in no way; with $utf8 always valid. */
    public function text(bool $utf8): array
    {
        $parts = ['x', 'lorem ', ' ', '"', "'", '\\', "\n", "\r\n", "\t", '/', "\u{1F600}", 'é', '";', 's:5:"', '{', '}', ';', ':', '1', 'old', 'a', '<b>', '%2F', '\\"', "\\'", '$1', '&amp;',];
        if (!$utf8) {
            array_push($parts, "\0", "\x1a", "\xff\xfe", "\xc3", "\x80");
        }
        $s = $this->one(['t ', 'w ', 'z']);
        for ($i = mt_rand(0, 7); $i > 0; $i--) {
            $part = mt_rand(0, 2) ? $this->one($parts) : $this->one($this->old);
            $s .= $utf8 && !preg_match('//u', $part) ? '?' : $part;
        }
        return $this->plain($s . $this->one(['', ' e', '.']));
    }

    /** A text that looks frozen and is not: text all the same. */
    public function fake(bool $utf8): array
    {
        $old = $this->one($this->old);
        if ($utf8 && !preg_match('//u', $old)) {
            $old = '?';
        }
        $n = strlen($old);
        return $this->plain($this->one([
            's:' . ($n + 2) . ":\"$old\";", "s:$n:\"$old\"", "a:1:{s:$n:\"$old\";}", "a:2:{i:0;s:$n:\"$old\";}", "{\"$old\":}", "{'k':'$old'}",
            "[\"$old\",]", "O:3:\"Foo\":1:{s:1:\"a\";s:" . ($n + 1) . ":\"$old\";}", "a:1:{i:0;s:99999999999999999999:\"$old\";}", "a:-1:{$old}",
            "{\"a\":\"$old\"", "k|s:" . ($n + 3) . ":\"$old\";", "a|b|$old", "array ( 0 => '$old'", "a:1:{i:0;S:$n:\"$old\\\";}", "i:x$old;", "b:2;$old",
            "a:1:{i:0;s:+$n:\"$old\";}", "a:1:{i:0;s:-$n:\"$old\";}", "a:1:{d:1;s:$n:\"$old\";}", "\u{FEFF}{\"a\":\"$old\"}x", "[1,2,\"$old\"]]", '{"a":"' . $old . "\n\"}", "\"a\":\"$old\"",
        ]));
    }

    public function string(int $depth, bool $utf8): array
    {
        $kind = mt_rand(0, 9);
        if ($depth <= 0 || $kind < 5) {
            return $kind == 4 ? $this->fake($utf8) : $this->text($utf8);
        }
        $only = $this->only;
        if ($kind == 9 && $this->plainEscapes) {
            $this->only = $this->one(['php', 'json']);
        }
        $pair = $this->frozen($depth - 1, $utf8);
        $this->only = $only;
        if ($kind == 9) {
            $pair = array_map('addslashes', $pair);
            return mt_rand(0, 3) ? $pair : array_map('addslashes', $pair);
        }
        return $pair;
    }

    public function frozen(int $depth, bool $utf8): array
    {
        $kind = $this->only ?? $this->one(['php', 'php', 'php', 'json', 'json', 'session', 'export', 'base64']);
        if ($kind == 'json' && $this->json) {
            return $this->json($depth);
        }
        if ($kind == 'session') {
            return $this->session($depth, $utf8);
        }
        if ($kind == 'export' && !($this->keys && in_array('', $this->pairs)) && !str_contains(implode('', $this->pairs), "\0")) {
            return $this->export($depth, $utf8);
        }
        if ($kind == 'base64' && $this->base64) {
            return array_map('base64_encode', $this->php($depth, $utf8));
        }
        return $this->php($depth, $utf8);
    }

    /** A serialized array, object or string. */
    public function php(int $depth, bool $utf8): array
    {
        return match (mt_rand(0, 7)) {
            0 => self::s($this->string($depth, $utf8)),
            1, 2 => $this->object($depth, $utf8),
            default => $this->array($depth, $utf8),
        };
    }

    private static function s(array $pair): array
    {
        return ['s:' . strlen($pair[0]) . ":\"$pair[0]\";", 's:' . strlen($pair[1]) . ":\"$pair[1]\";"];
    }

    private function value(int $depth, bool $utf8): array
    {
        $kind = mt_rand(0, 19);
        if ($kind < 9) {
            return self::s($this->string($depth, $utf8));
        }
        if ($kind < 12 && $depth > 0) {
            return $this->array($depth - 1, $utf8);
        }
        if ($kind < 14 && $depth > 0) {
            return $this->object($depth - 1, $utf8);
        }
        if ($kind == 14) { // nobody knows how the body of a C: is written
            $body = $this->one(['EUR;', '{', 'old,']) . $this->one($this->old);
            if ($utf8 && !preg_match('//u', $body)) {
                $body = 'old';
            }
            return $this->named('C', 'Money', ':' . strlen($body) . ':{' . $body . '}');
        }
        if ($kind == 15) {
            $new = ($this->classes ? ($this->f)('Suit') : 'Suit') . ':Hearts'; // the case is not a class
            return ['E:11:"Suit:Hearts";', 'E:' . strlen($new) . ":\"$new\";"];
        }
        $same = $this->one(['d:0.1;', 'd:1.0E+100;', 'd:1e100;', 'd:-0;', 'd:INF;', 'd:-INF;', 'd:NAN;', 'd:0.10000000000000001;', 'd:1;', 'd:1.0;', 'd:.5;', 'i:1;', 'i:-5;', 'i:007;', 'i:+3;', 'N;', 'b:0;', 'b:1;', 'R:1;', 'i:9223372036854775807;', 'd:1.5E-7;']);
        return [$same, $same];
    }

    private function named(string $letter, string $class, string $rest): array
    {
        $new = $this->classes ? ($this->f)($class) : $class;
        return [$letter . ':' . strlen($class) . ":\"$class\"$rest", $letter . ':' . strlen($new) . ":\"$new\"$rest"];
    }

    private function key(string $key): array
    {
        return self::s([$key, $this->keys ? ($this->f)($key) : $key]);
    }

    private function array(int $depth, bool $utf8): array
    {
        $n = mt_rand(0, 4);
        $out = ["a:$n:{", "a:$n:{"];
        for ($i = 0; $i < $n; $i++) {
            $old = $this->one($this->old);
            $key = mt_rand(0, 1) ? ["i:$i;", "i:$i;"] : $this->key(($utf8 && !preg_match('//u', $old) ? '' : $old) . "k$i");
            $value = $this->value($depth, $utf8);
            $out = [$out[0] . $key[0] . $value[0], $out[1] . $key[1] . $value[1]];
        }
        return [$out[0] . '}', $out[1] . '}'];
    }

    private function object(int $depth, bool $utf8): array
    {
        $n = mt_rand(0, 3);
        $class = $this->one(['stdClass', 'Foo', 'Unknown\\Ünïcode_old', 'WP_Post']);
        $out = $this->named('O', $class, ":$n:{");
        for ($i = 0; $i < $n; $i++) {
            $name = mt_rand(0, 1) || $utf8 || in_array("\0", $this->old) ? "p$i" : ($this->keys || $this->classes ? "\0*\0q$i" : $this->one(["\0*\0old$i", "\0Foo\0old$i"]));
            $key = $this->key($name);
            $value = $this->value($depth, $utf8);
            $out = [$out[0] . $key[0] . $value[0], $out[1] . $key[1] . $value[1]];
        }
        return [$out[0] . '}', $out[1] . '}'];
    }

    public function session(int $depth, bool $utf8): array
    {
        $out = ['', ''];
        for ($n = mt_rand(1, 3), $i = 0; $i < $n; $i++) {
            $value = $this->php($depth, $utf8);
            $name = $this->one(['user', '__ci', 'old_', '_sf2.']) . $i . '|';
            $new = $this->keys ? ($this->f)($name) : $name;
            $out = [$out[0] . $name . $value[0], $out[1] . $new . $value[1]];
        }
        return $out;
    }

    /** JSON in one of the ways in which PHP writes it; says by a first member how it spells / and é. */
    public function json(int $depth): array
    {
        $flags = $this->one([0, 0, JSON_UNESCAPED_SLASHES, JSON_UNESCAPED_UNICODE, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS, JSON_PRETTY_PRINT, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES]);
        $live = $this->live($depth, mt_rand(0, 1));
        return [json_encode($live[0], $flags | JSON_THROW_ON_ERROR), json_encode($live[1], $flags | JSON_THROW_ON_ERROR)];
    }

    private function live(int $depth, int $map): array
    {
        $out = $map ? [['_' => '/é'], ['_' => ($this->f)('/é')]] : [['/é'], [($this->f)('/é')]];
        for ($n = mt_rand(0, 3), $i = 0; $i < $n; $i++) {
            $value = match (mt_rand(0, 7)) {
                0 => [1, 1], 1 => [null, null], 2 => [true, true], 3 => [[], []],
                4 => $depth > 0 ? $this->live($depth - 1, mt_rand(0, 1)) : [-2, -2],
                default => $this->string($depth, true),
            };
            $key = $map ? $this->one(['k', '1', 'old', "qu\"ote/$i"]) . $i : $i + 1;
            $new = $map && $this->keys ? ($this->f)($key) : $key;
            $out[0][$key] = $value[0];
            $out[1][$new] = $value[1];
        }
        return $out;
    }

    /** var_export of an array. */
    public function export(int $depth, bool $utf8): array
    {
        $live = [[], []];
        for ($n = mt_rand(1, 4), $i = 0; $i < $n; $i++) {
            $value = match (mt_rand(0, 5)) {
                0 => [1, 1], 1 => [null, null], 2 => [0.5, 0.5], 3 => [[false], [false]],
                default => $this->string($depth - 1, $utf8),
            };
            $key = mt_rand(0, 1) ? "old$i" : $i;
            $live[0][$key] = $value[0];
            $live[1][$this->keys && is_string($key) ? ($this->f)($key) : $key] = $value[1];
        }
        return [var_export($live[0], true), var_export($live[1], true)];
    }

    public function cell(int $depth, bool $utf8 = false): array
    {
        return match ($this->only == 'text' ? 0 : mt_rand(0, 9)) {
            0, 1 => $this->text($utf8), 2 => $this->fake($utf8), default => $this->frozen($depth, $utf8),
        };
    }
}
