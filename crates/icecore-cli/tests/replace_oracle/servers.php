<?php
// scripts/servers.sh run php servers.php SEED… — writes cells to the real MariaDB, PostgreSQL and SQLite, dumps them with
// their own tools in all dump forms, changes the dumps with the program that ICECORE names, loads them again, and compares
// cell by cell.
require __DIR__ . '/values.php';

$icecore = getenv('ICECORE') ?: 'icecore';
$folder = sys_get_temp_dir() . '/replace-servers-' . getmypid();
mkdir($folder);
[$cells, $wrong] = [0, 0];

function sh(string $command, int ...$fine): string
{
    exec("$command 2>&1", $lines, $code);
    if ($code && !in_array($code, $fine)) {
        echo "ended with $code: ", substr($command, 0, 300), "\n  ", substr(implode("\n  ", $lines), 0, 800), "\n";
    }
    return implode("\n", $lines);
}

function compare(string $name, int $seed, array $before, array $after, array $got): void
{
    global $cells, $wrong;
    $shown = 0;
    foreach ($after as $i => $cell) {
        $cells++;
        if (($got[$i] ?? null) !== $cell) {
            $wrong++;
            if ($shown++ < 3) {
                echo "$name, seed $seed, cell $i\n  before:   ", addcslashes($before[$i], "\0..\x1f\x7f..\xff"), "\n  expected: ", addcslashes($cell, "\0..\x1f\x7f..\xff"), "\n  got:      ", addcslashes($got[$i] ?? '(none)', "\0..\x1f\x7f..\xff"), "\n";
            }
        }
    }
}

/** Parses lines `id TAB hex` as cells. */
function cells(string $lines): array
{
    $out = [];
    foreach (explode("\n", $lines) as $line) {
        if (preg_match('/^(\d+)[\t|]([0-9A-Fa-f]*)$/', $line, $m)) {
            $out[(int) $m[1]] = hex2bin($m[2]);
        }
    }
    return $out;
}

$my = parse_url((string) getenv('ICECORE_TEST_MYSQL'));
$pg = (string) getenv('ICECORE_TEST_POSTGRES');
$at = $my && isset($my['host']) ? '-h' . $my['host'] . ' -P' . ($my['port'] ?? 3306) . ' -u' . ($my['user'] ?? 'root') . (isset($my['pass']) ? ' -p' . $my['pass'] : '') : '';
$sets = [['old' => "newer 'and' \"longer\""], ['old' => 'n'], ['old' => "a\\b\n"], ['lorem' => 'old', 'old' => 'lorem'], ['old' => "\u{1F600}"], ["'" => '"'], ['\\' => '\\\\'], ['"' => ''], ['s:' => 'x']];
foreach (array_slice($argv, 1) as $seed) {
    mt_srand((int) $seed);
    $pairs = $sets[$seed % count($sets)];
    $arguments = '';
    foreach ($pairs as $old => $new) {
        $arguments .= ' -e ' . escapeshellarg((string) $old) . " '" . str_replace("'", "'\\''", $new) . "'";
    }
    foreach ([false, true] as $utf8) {
        $values = new Values($pairs);
        $values->plainEscapes = true;
        $before = $after = [];
        for ($i = 0; $i < 400; $i++) {
            do {
                $pair = $values->cell(3, $utf8);
            } while ($utf8 && str_contains(implode('', $pair), "\0"));
            [$before[$i], $after[$i]] = $pair;
        }
        $rows = [];
        foreach ($before as $i => $cell) {
            $rows[] = [$i, bin2hex($cell)];
        }
        if ($at) {
            $base = "mariadb --default-character-set=binary $at";
            $type = $utf8 ? 'longtext character set utf8mb4' : 'longblob';
            file_put_contents("$folder/fill.sql", "DROP DATABASE IF EXISTS oracle; CREATE DATABASE oracle; USE oracle; CREATE TABLE t (id int PRIMARY KEY, v $type);\n" . implode('', array_map(static fn ($r) => "INSERT INTO t VALUES ($r[0],x'$r[1]');\n", $rows)));
            sh("$base < $folder/fill.sql");
            foreach (['', '--hex-blob', '--skip-extended-insert --complete-insert', '--default-character-set=binary', '--compact --no-create-info', '--skip-quote-names --replace', '--compatible=ansi --skip-opt', '--xml-not'] as $way) {
                if ($way == '--xml-not') {
                    sh("$base -N -e \"set sql_mode='NO_BACKSLASH_ESCAPES'; select 1\"");
                    continue;
                }
                $charset = $utf8 || str_contains($way, 'charset') ? '' : ' --default-character-set=binary';
                sh("mariadb-dump $at$charset $way oracle t > $folder/dump.sql");
                sh("$icecore replace -q --force -o $folder/new.sql$arguments $folder/dump.sql");
                sh("$base -e 'DROP DATABASE IF EXISTS other; CREATE DATABASE other'");
                if (str_contains($way, 'no-create')) {
                    sh("$base -e 'CREATE TABLE other.t (id int PRIMARY KEY, v $type)'");
                }
                sh("mariadb " . ($utf8 ? '--default-character-set=utf8mb4' : '--default-character-set=binary') . " $at other < $folder/new.sql");
                compare("mariadb-dump $way" . ($utf8 ? ' text' : ' blob'), (int) $seed, $before, $after, cells(sh("$base -N -e 'SELECT id, HEX(v) FROM other.t'")));
            }
        }
        if ($pg && $utf8) {
            $psql = "psql -q -v ON_ERROR_STOP=1 '$pg'";
            file_put_contents("$folder/fill.sql", "DROP SCHEMA IF EXISTS oracle CASCADE; CREATE SCHEMA oracle; CREATE TABLE oracle.t (id int PRIMARY KEY, v text);\n" . implode('', array_map(static fn ($r) => "INSERT INTO oracle.t VALUES ($r[0], convert_from('\\x$r[1]', 'UTF8'));\n", $rows)));
            sh("$psql -f $folder/fill.sql");
            foreach (['', '--inserts', '--column-inserts', '--rows-per-insert=50', '--quote-all-identifiers --inserts'] as $way) {
                sh("pg_dump '$pg' -n oracle $way > $folder/dump.sql");
                sh("$icecore replace -q --force -o $folder/new.sql$arguments $folder/dump.sql");
                sh("$psql -c 'DROP SCHEMA oracle CASCADE'");
                sh("$psql -f $folder/new.sql");
                compare("pg_dump $way", (int) $seed, $before, $after, cells(sh("$psql -At -F '|' -c \"SELECT id, encode(convert_to(v, 'UTF8'), 'hex') FROM oracle.t\"")));
                sh("$psql -f $folder/fill.sql");
            }
        }
        file_put_contents("$folder/fill.sql", "CREATE TABLE t (id integer PRIMARY KEY, v);\nBEGIN;\n" . implode('', array_map(static fn ($r) => "INSERT INTO t VALUES ($r[0], " . ($utf8 ? "cast(x'$r[1]' as text)" : "x'$r[1]'") . ");\n", $rows)) . "COMMIT;\n");
        @unlink("$folder/a.db");
        sh("sqlite3 $folder/a.db < $folder/fill.sql");
        foreach (['.dump', '.dump --newlines', ".mode insert t\nSELECT * FROM t;"] as $n => $way) {
            file_put_contents("$folder/way", "$way\n");
            sh("sqlite3 $folder/a.db < $folder/way > $folder/dump.sql");
            sh("$icecore replace -q --force --in sql -o $folder/new.sql$arguments $folder/dump.sql");
            @unlink("$folder/b.db");
            if ($n == 2) {
                sh("sqlite3 $folder/b.db 'CREATE TABLE t (id integer PRIMARY KEY, v)'");
            }
            sh("sqlite3 $folder/b.db < $folder/new.sql");
            compare("sqlite3 $way" . ($utf8 ? ' text' : ' blob'), (int) $seed, $before, $after, cells(sh("sqlite3 $folder/b.db 'SELECT id, hex(v) FROM t'")));
        }
    }
}
array_map('unlink', glob("$folder/*"));
rmdir($folder);
echo "$cells cells, $wrong wrong\n";
exit($wrong ? 1 : 0);
