<?php
// Writes cells into dumps with many spellings, and reads their literals back.

final class Dump
{
    public const DIALECTS = ['mysql', 'mysql-hex', 'mysql-mixed', 'copy', 'pg-insert', 'pg-e', 'sqlite'];

    public static function utf8(string $dialect): bool
    {
        return in_array($dialect, ['copy', 'pg-insert', 'pg-e', 'sqlite']);
    }

    private static function mysql(string $s, int $style): string
    {
        $map = ["\\" => '\\\\', "\0" => '\\0', "\n" => '\\n', "\r" => '\\r', "\x1a" => '\\Z', "'" => "\\'", '"' => '\\"'];
        switch ($style) {
            case 1: unset($map['"']); break;                       // phpMyAdmin, Adminer
            case 2: unset($map['"'], $map["\n"], $map["\r"]); $map["'"] = "''"; break;
            case 3: unset($map['"'], $map["\x1a"]); $map["\t"] = '\\t'; $map["'"] = "''"; break;
        }
        return strtr($s, $map);
    }

    public static function literal(string $s, string $dialect, int $style): string
    {
        switch ($dialect) {
            case 'mysql': return "'" . self::mysql($s, 0) . "'";
            case 'mysql-hex': return $s === '' ? "''" : '0x' . strtoupper(bin2hex($s));
            case 'mysql-mixed':
                switch ($style) {
                    case 0: case 1: case 2: case 3: return "'" . self::mysql($s, $style) . "'";
                    case 4: return "X'" . strtoupper(bin2hex($s)) . "'";
                    case 5: return "_binary '" . self::mysql($s, 0) . "'";
                    case 6: return "x'" . bin2hex($s) . "'";
                    case 7: return '"' . strtr($s, ['\\' => '\\\\', '"' => '""', "\0" => '\\0']) . '"';
                    case 8: return "_utf8mb4'" . self::mysql($s, 1) . "'";
                    default: return $s === '' ? "''" : '0x' . bin2hex($s);
                }
            case 'copy': return strtr($s, ['\\' => '\\\\', "\n" => '\\n', "\r" => '\\r', "\t" => '\\t', "\x08" => '\\b', "\f" => '\\f', "\v" => '\\v']);
            case 'pg-insert': return "'" . str_replace("'", "''", $s) . "'";
            case 'pg-e': return strpos($s, '\\') === false ? "'" . str_replace("'", "''", $s) . "'" : "E'" . strtr($s, ['\\' => '\\\\', "'" => $style % 2 ? "\\'" : "''"] + ($style % 3 ? ["\n" => '\\n'] : [])) . "'";
            default: return $style == 4 ? "X'" . strtoupper(bin2hex($s)) . "'" : "'" . str_replace("'", "''", $s) . "'";
        }
    }

    /** @param string[] $cells */
    public static function make(array $cells, string $dialect, array $styles, int $perInsert): string
    {
        $out = match ($dialect) {
            'copy', 'pg-insert', 'pg-e' => "--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\nSET standard_conforming_strings = on;\n\nCREATE TABLE public.t (\n    id integer NOT NULL,\n    v text\n);\n\n",
            'sqlite' => "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT);\n",
            default => "-- MySQL dump 10.13  Distrib 8.0.32, for Linux (x86_64)\n--\n/*!40101 SET NAMES utf8mb4 */;\nDROP TABLE IF EXISTS `t`;\nCREATE TABLE `t` (\n  `id` int NOT NULL,\n  `v` longblob,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB;\n",
        };
        if ($dialect == 'copy') {
            $out .= "COPY public.t (id, v) FROM stdin;\n";
            foreach ($cells as $i => $cell) {
                $out .= "$i\t" . self::literal($cell, $dialect, 0) . "\n";
            }
            return $out . "\\.\n\n";
        }
        $head = match ($dialect) {
            'pg-insert', 'pg-e' => 'INSERT INTO public.t VALUES ', 'sqlite' => 'INSERT INTO t VALUES', default => 'INSERT INTO `t` VALUES ',
        };
        foreach ($cells as $i => $cell) {
            $row = "($i," . ($dialect == 'pg-e' || $dialect == 'pg-insert' ? ' ' : '') . self::literal($cell, $dialect, $styles[$i]) . ')';
            $out .= $i % $perInsert ? ",$row" : ($i ? ";\n" : '') . $head . $row;
        }
        return $out . ";\n" . ($dialect == 'sqlite' ? "COMMIT;\n" : '');
    }

    /** Returns the cells of a dump that make() wrote: from each row `(i,` to the next. */
    public static function read(string $sql, string $dialect): array
    {
        $cells = [];
        if ($dialect == 'copy') {
            preg_match_all('/^(\d+)\t(.*)$/m', $sql, $m, PREG_SET_ORDER);
            foreach ($m as [, $i, $text]) {
                $cells[$i] = preg_replace_callback('/\\\\([0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)/s', static fn ($e) => ['n' => "\n", 'r' => "\r", 't' => "\t", 'b' => "\x08", 'f' => "\f", 'v' => "\v"][$e[1]] ?? (ctype_digit($e[1]) ? chr(octdec($e[1])) : $e[1]), $text);
            }
            return $cells;
        }
        $mysql = str_starts_with($dialect, 'mysql');
        $quoted = $mysql ? "'(?:[^'\\\\]++|\\\\.|'')*+'|\"(?:[^\"\\\\]++|\\\\.|\"\")*+\"" : "'(?:[^']++|'')*+'";
        ini_set('pcre.backtrack_limit', '100000000');
        preg_match_all("/[(](\d+), ?(0x[0-9a-f]*|[xX]'[0-9a-f]*'|[eE]'(?:[^'\\\\]++|\\\\.|'')*+'|(?:_\w+ ?)?(?:$quoted))[)](?=[,;])/si", $sql, $m, PREG_SET_ORDER);
        foreach ($m as [, $i, $text]) {
            if (preg_match("/^(0x|x')([0-9a-f]*)'?$/i", $text, $hex)) {
                $cells[$i] = hex2bin($hex[2]);
                continue;
            }
            $escapes = $mysql || $text[0] == 'E';
            $text = substr($text, strcspn($text, "'\""));
            $q = $text[0];
            $cells[$i] = preg_replace_callback($escapes ? "/\\\\(.)|$q$q/s" : "/$q$q/", static fn ($e) => isset($e[1]) ? ['n' => "\n", 'r' => "\r", 't' => "\t", '0' => "\0", 'Z' => "\x1a", 'b' => "\x08"][$e[1]] ?? $e[1] : $q, substr($text, 1, -1));
        }
        return $cells;
    }
}
