<?php
// Random values, as programs store them.

// Sessions must start before any output.
ob_start();

function word(): string
{
    $words = ['', 'alice', 'Zoë', 'a:b', "it's", '日本', "tab\there", 'App\Models\User', '{', '50%', 'x|y', '"'];
    return $words[mt_rand(0, count($words) - 1)] . (mt_rand(0, 5) ? '' : str_repeat(' alice', mt_rand(1, 400)));
}

function value(int $depth = 0)
{
    switch (mt_rand(0, $depth > 3 ? 4 : 7)) {
        case 0: return mt_rand(-1000, 1000);
        case 1: return mt_rand(-1000, 1000) / 8 + 0.0625;
        case 2: return (bool) mt_rand(0, 1);
        case 3: return null;
        case 4: return word();
        case 5:
            $list = [];
            for ($n = mt_rand(1, 6); $n > 0; $n--) {
                $list[] = value($depth + 1);
            }
            return $list;
        default: return map($depth);
    }
}

function map(int $depth = 0): array
{
    $map = [];
    for ($n = mt_rand(1, 6); $n > 0; $n--) {
        $map['k' . mt_rand(0, 20)] = value($depth + 1);
    }
    return $map;
}

// Reports a written value to the test: its key and its value.
function told(string $key, $value, ?string $program = null): void
{
    $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION;
    echo json_encode(['key' => $key, 'value' => $value, 'program' => $program], $flags), "\n";
}
