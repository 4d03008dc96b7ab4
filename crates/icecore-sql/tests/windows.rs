//! Windows of any size, the readable twin and the fast reader give the same results.

use crate::random;

use crate::common::read_all;
use crate::random::Random;
use icecore::rewrite::Escaping;
use icecore_sql::{Content, Dialect, Options, read_whole_dump};

/// Pieces that mean something to one dialect or another.
const PIECES: &[&str] = &[
    "INSERT INTO ",
    "insert ignore ",
    "REPLACE INTO ",
    "UPDATE ",
    " SET ",
    " VALUES ",
    " values",
    "t",
    " t ",
    "`t`",
    "\"t\"",
    "[t]",
    "db.",
    "public.",
    "(",
    ")",
    "(a, `b`, \"c\")",
    ",",
    ", ",
    ";",
    ";\n",
    ";;",
    "$$",
    "//",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "'",
    "''",
    "\\'",
    "\\\\",
    "\\",
    "\"",
    "\\\"",
    "\"\"",
    "'a'",
    "'it''s'",
    "'a\\'b'",
    "\"x\"",
    "NULL",
    "\\N",
    "1",
    "0",
    "-1.5e3",
    "0x",
    "0x4",
    "0xabCD",
    "0x4g",
    "X'4142'",
    "x'",
    "B'01'",
    "b'",
    "N'n'",
    "E'\\n\\''",
    "e'",
    "U&'\\0041'",
    "u",
    "&",
    "_utf8'x'",
    "_binary '",
    "$tag$",
    "$1",
    "$",
    "--",
    "-- ",
    "-- x'y\n",
    "#",
    "# x\n",
    "/*",
    "*/",
    "/* ' */",
    "/*!40101 ",
    "/*!",
    "/*M!",
    "/*M!999999\\- '",
    "/*!999999 ",
    "DELIMITER ;;\n",
    "DELIMITER $$\n",
    "DELIMITER ;\n",
    "delimiter END\n",
    "END",
    "BEGIN ",
    "CASE ",
    "CREATE TABLE ",
    "CREATE TABLE IF NOT EXISTS `t` (`a` text, b blob, KEY (a));",
    "CREATE TRIGGER ",
    "CREATE FUNCTION ",
    "COPY t FROM stdin;\n",
    "COPY public.t (a, b) FROM stdin;\n",
    "COPY t FROM stdin WITH (FORMAT csv);\n",
    "\\.\n",
    "\\.",
    ".",
    "\\\\x41",
    "'\\x41'",
    "SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES';",
    "SET @a=@@sql_mode;",
    "SET sql_mode=@a;",
    "SET standard_conforming_strings = off;",
    "SET search_path = x, y;",
    "USE d;",
    "PRAGMA ",
    "LOCK ",
    "-- PostgreSQL database dump\n",
    "-- MySQL dump 10\n",
    "-- PostgreSQL database dump complete\n",
    "replace('",
    "replace(replace('",
    "replace",
    "unistr('",
    "\\u0041",
    "','\\n',char(10))",
    "','\\r',char(13))",
    ",'\\n',char(1",
    ",'(\\n0)',char(10))",
    "=",
    "ON ",
    "ON DUPLICATE KEY UPDATE ",
    "WHERE ",
    "@",
    "@@",
    "bytea",
    "text[]",
    "GENERATED",
    "é",
    "\u{feff}",
    "\0",
    "partition (p)",
    "\\restrict x'\n",
    "INSERT INTO t VALUES ('a','b');\n",
    "INSERT INTO t (b,a) VALUES ('a','b');\n",
    "INSERT INTO u (c) SELECT 'x';\n",
    "INSERT INTO t VALUES (",
    "INSERT INTO t VALUES (1,-2.5,.5,+7,1e+9,NULL,TRUE,false,DEFAULT,b'01',X'41');\n",
    "(NULL,0,'x'),",
    "_binary ",
    "CONVERT(",
    " USING utf8mb4)",
    "CAST(",
    " AS JSON)",
    "::text",
    "DEFAULT",
    "true",
    "-",
    "12.5,",
];

fn random_dump(random: &mut Random) -> Vec<u8> {
    let mut dump = Vec::new();
    for _ in 0..random.below(40) + 1 {
        match random.below(30) {
            0 => dump.push(random.below(256) as u8),
            // Longer than the length up to which words and names are read.
            1 if random.below(8) == 0 => {
                dump.extend(std::iter::repeat_n(b"aA1`\"'0\\ $"[random.below(10)], 1000 + random.below(60)))
            }
            _ => dump.extend_from_slice(PIECES[random.below(PIECES.len())].as_bytes()),
        }
    }
    dump
}

fn check_windows(dump: &[u8], random: &mut Random) {
    let mut options = Options::default();
    options.dialect = [None, Some(Dialect::MySql), Some(Dialect::Postgres), Some(Dialect::Sqlite)][random.below(4)];
    options.rows = random.one_in(2);
    let expected = read_whole_dump(dump, &options);
    for literal in &expected.literals {
        // Every literal is decoded or refused.
        let _ = literal.quoting.decode(&dump[literal.body.clone()]);
    }
    for value in &expected.values {
        assert!(options.rows && value.full_range.end <= dump.len());
        if let Content::Literal(body, quoting) = &value.content {
            let _ = quoting.decode(&dump[body.clone()]);
        }
    }
    let names = |tables: &[icecore_sql::Table]| -> Vec<String> {
        let name = |table: &icecore_sql::Table| {
            format!("{:?} {:?} {} {:?}", table.schema(), table.name(), table.rows(), table.columns())
        };
        tables.iter().map(name).collect()
    };
    let max_window = [1, 2, 7, 100][random.below(4)];
    let sizes: [Box<dyn FnMut(usize) -> usize>; 3] =
        [Box::new(|_| dump.len().max(1)), Box::new(|_| 1), Box::new(|_| 1 + random.below(max_window))];
    for size in sizes {
        let (found, values, reader) = read_all(dump, options.clone(), size);
        let context =
            || format!("{:?} as {:?}, rows: {}", String::from_utf8_lossy(dump), options.dialect, options.rows);
        assert_eq!(found, expected.literals, "{}", context());
        assert_eq!(values, expected.values, "{}", context());
        assert_eq!(names(reader.tables()), names(&expected.tables), "{}", context());
    }
}

/// Dumps as programs write them.
const DUMPS: &[&str] = &[
    "-- MySQL dump 10\n/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\nCREATE TABLE `t` (\n  `a` text,\n  b blob,\n  KEY (a)\n) COMMENT='x';\nINSERT INTO `t` VALUES (1,'it\\'s','x''y',0xAB,-1.5,b'101'),(2,NULL,_binary '\\0', 1e+9 /* x */,CONVERT(\"{}\" USING UTF8MB4), now() ,DEFAULT);\n/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;\nDELIMITER ;;\n/*!50003 CREATE*/ /*!50003 TRIGGER x BEGIN INSERT INTO u VALUES ('a'); END */;;\nDELIMITER ;\n",
    "-- phpMyAdmin SQL Dump\nINSERT INTO `t` (`a`, `b`) VALUES\n(1, 'it''s \"x\"'),\n(2, '\\r\\n');\nINSERT INTO `t` (`a`, `b`) VALUES\n(3, 'y');\n",
    "-- PostgreSQL database dump\nSET standard_conforming_strings = on;\nCREATE TABLE public.t (\n    a text,\n    b bytea\n);\nCREATE FUNCTION f() AS $_$ select 'it''s' $_$;\nCOPY public.t (a, b) FROM stdin;\na\\tb\t\\\\x4142\n\\N\t\\\\000\n\\.\n\nINSERT INTO public.t VALUES ('C:\\', '\\x41'), (E'\\'', NULL);\nSELECT pg_catalog.setval('s', 1, true);\n",
    "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE [t](a,b);\nINSERT INTO t VALUES(replace(replace('a\\nb\\r','\\r',char(13)),'\\n',char(10)),unistr('\\u0041'));\nINSERT INTO t VALUES(X'41','it''s');\nINSERT INTO t VALUES(NULL,'x');\nCOMMIT;\n",
];

#[test]
fn damaged_dumps_are_read_alike_in_all_windows() {
    let (seed, count) = random::seed_and_count(2000);
    for number in 0..count {
        let mut random = Random::new(seed.wrapping_add(number));
        let mut dump = random.pick(DUMPS).as_bytes().to_vec();
        for _ in 0..random.below(4) {
            let offset = random.below(dump.len());
            let len = random.below(dump.len() - offset).min(random.below(60));
            match random.below(6) {
                0 => dump.truncate(offset + 1),
                1 => drop(dump.drain(offset..offset + len)),
                2 => dump[offset] = random.next() as u8,
                3 => dump[offset] = *random.pick(b"'\"\\;()`$*/-\n\t,0xE"),
                4 => drop(dump.splice(offset..offset, PIECES[random.below(PIECES.len())].bytes())),
                _ => {
                    let copy = dump[offset..offset + len].to_vec();
                    let place = random.below(dump.len());
                    dump.splice(place..place, copy);
                }
            }
        }
        check_windows(&dump, &mut random);
    }
}

#[test]
fn random_dumps_are_read_alike_in_all_windows() {
    let (seed, count) = random::seed_and_count(3000);
    for number in 0..count {
        let mut random = Random::new(seed.wrapping_add(number));
        let dump = random_dump(&mut random);
        check_windows(&dump, &mut random);
    }
}
