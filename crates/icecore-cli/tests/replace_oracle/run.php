<?php
// php run.php FROM TO [CELLS] — for each seed from FROM to TO, changes a dump with the program that ICECORE
// names, and compares it with the expected one. Texts that may contain serialized data may stay unchanged
// if they are counted. Exits with 1 if anything differs, and prints the first cells that differ.
require __DIR__ . '/values.php';
require __DIR__ . '/dump.php';

const PAIRS = [
    ['old' => 'newer and longer'], ['old' => 'n'], ['old' => 'new'], ['old' => ''], ['old' => 'older old'], ['lorem' => 'old', 'old' => 'lorem'],
    ['old' => 'a"b'], ['old' => "it's"], ['old' => 'a\\b'], ['old' => "a\nb"], ['old' => 'née'], ['old' => "\u{1F600}"], ['old' => 'a/b'], ['old' => '$1&\\1'],
    ['old' => "\0\x1a"], ['old' => "\xff"], ['s:' => 'string:'], ['"' => '""'], ['"' => ''], ['1' => '22'], ['a:1' => 'b:2'], ['k1' => 'K'], ['Foo' => 'Quux'],
    ['stdClass' => 'Std'], ['\\' => '/'], ['\\' => '\\\\'], ["'" => "\\'"], ['/' => '\\'], ['é' => 'e'], ["\u{1F600}" => ':)'], ['o' => 'oo', 'ol' => 'lo', 'old' => 'O'],
    ['.*' => 'x'], ['x' => 'old'], ["\n" => '\\n'], ["\r\n" => "\n"], ['";' => '";s:1:"'], ['{' => '}'], ['t ' => 'T  '], ['i:0;' => 'i:1;'], ["\0" => '0'], [':' => ';'], [';' => ''], ['u' => 'U'], ['n' => 'm'], ['00e9' => 'x'],
];

$icecore = getenv('ICECORE') ?: 'icecore';
$folder = sys_get_temp_dir() . '/replace-oracle-' . getmypid();
@mkdir($folder);
[$cellsRun, $wrong, $spelled, $shown, $left] = [0, 0, 0, 0, 0];
for ($seed = (int) $argv[1]; $seed < (int) $argv[2]; $seed++) {
    mt_srand($seed);
    $pairs = PAIRS[mt_rand(0, count(PAIRS) - 1)];
    $values = new Values($pairs);
    $dialect = getenv('DIALECT') ?: $values->one(Dump::DIALECTS);
    $values->plainEscapes = (bool) getenv('PLAIN_ESCAPES');
    $values->only = getenv('ONLY') ?: null;
    $utf8 = Dump::utf8($dialect);
    if ($utf8 && !($values->json && !str_contains(implode('', $pairs), "\0"))) {
        continue; // such a text can't be in that database
    }
    $args = $dialect == 'copy' ? ['--column', 'v'] : [];
    foreach ($pairs as $old => $new) {
        array_push($args, '-e', (string) $old, $new);
    }
    if (!mt_rand(0, 3)) {
        $values->keys = true;
        $args[] = '--keys';
    }
    if (!mt_rand(0, 5)) {
        $values->classes = true;
        $args[] = '--classes';
    }
    if (!mt_rand(0, 3)) {
        $values->base64 = true;
        $args[] = '--base64';
    }
    $before = $after = $styles = $seeds = [];
    for ($i = 0, $n = (int) ($argv[3] ?? 100); $i < $n; $i++) {
        $styles[] = mt_rand(0, 9);
        $seeds[] = mt_rand();
    }
    // The cell with this number, if texts stay in it that may have something serialized in them.
    $cell = static function (int $i, int $stay) use ($values, $seeds, $utf8): array {
        mt_srand($seeds[$i]);
        [$values->stay, $values->unclear] = [$stay, []];
        return $values->cell(mt_rand(0, 4), $utf8);
    };
    foreach (array_keys($seeds) as $i) {
        [$before[], $after[]] = $cell($i, 0);
        $unclear[$i] = min(count($values->unclear), 8);
    }
    mt_srand($seed);
    if (implode('', $args) !== str_replace("\0", '', implode('', $args))) { // no argument has a NUL
        file_put_contents("$folder/pairs.json", json_encode($pairs));
        $args = array_merge(['--pairs', "$folder/pairs.json"], array_filter($args, static fn ($a) => in_array($a, ['--keys', '--classes', '--base64'], true)));
    }
    $rows = $values->one([1, 3, 1000]);
    file_put_contents("$folder/in.sql", Dump::make($before, $dialect, $styles, $rows));
    $command = implode(' ', array_map(static fn (string $a) => "'" . str_replace("'", "'\\''", $a) . "'", array_merge([$icecore, 'replace', '-q', '--force', '-o', "$folder/out.sql", '--summary', "$folder/report.json"], $args, ["$folder/in.sql"])));
    exec("$command 2>&1", $said, $code);
    $expected = Dump::make($after, $dialect, $styles, $rows);
    $got = $code ? '' : file_get_contents("$folder/out.sql");
    $cellsRun += count($before);
    if ($code) {
        echo "seed $seed ($dialect): ended with $code: ", implode(' / ', $said), "\n";
        $wrong++;
    }
    $said = [];
    if ($got === $expected || $code) {
        continue;
    }
    $cells = Dump::read($got, $dialect);
    [$bad, $stayed] = [0, 0];
    foreach ($after as $i => $cell_after) {
        for ($stay = 1; ($cells[$i] ?? null) !== $cell_after && $stay < 1 << $unclear[$i]; $stay++) {
            if ($cells[$i] === $cell($i, $stay)[1]) {
                $stayed++;
                continue 2;
            }
        }
        if (($cells[$i] ?? null) !== $cell_after) {
            $bad++;
            if ($shown++ < (int) (getenv('SHOW') ?: 20)) {
                echo "seed $seed cell $i ($dialect, style $styles[$i]), ", json_encode($args, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
                foreach (['before' => $before[$i], 'expected' => $cell_after, 'got' => $cells[$i] ?? '(none)'] as $k => $v) {
                    echo "  $k: ", addcslashes($v, "\0..\x1f\x7f..\xff"), "\n";
                }
            }
        }
    }
    preg_match_all('/"embedded": (\d+)/', file_get_contents("$folder/report.json"), $counts);
    if ($stayed > array_sum($counts[1])) {
        echo "seed $seed ($dialect): texts stayed in $stayed cells, and are not counted\n";
        $wrong++;
    }
    $left += $stayed;
    $wrong += $bad;
    if (!$bad && !$stayed) {
        $spelled++;
        if (getenv('SPELLING')) {
            for ($at = 0; ($got[$at] ?? '') === ($expected[$at] ?? ''); $at++);
            echo "seed $seed ($dialect): the same values, spelled differently, ", json_encode($args), "\n  expected: …", substr($expected, max(0, $at - 60), 100), "\n  got:      …", substr($got, max(0, $at - 60), 100), "\n";
        }
    }
}
array_map('unlink', glob("$folder/*"));
rmdir($folder);
echo "$cellsRun cells, $wrong wrong; $left with texts that stay, as something serialized may be in them; $spelled dumps with the right values in another spelling\n";
exit($wrong ? 1 : 0);
