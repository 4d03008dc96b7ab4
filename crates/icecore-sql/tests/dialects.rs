//! The output of each program, and how the reader understands it.

use crate::common::{find_literals, read_row_values};

#[test]
fn mysqldump_values_get_the_columns_of_their_table() {
    let dump = br#"-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
DROP TABLE IF EXISTS `wp_options`;
CREATE TABLE `wp_options` (
  `option_id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `option_name` varchar(191) NOT NULL DEFAULT '',
  `option_value` longtext NOT NULL,
  PRIMARY KEY (`option_id`),
  UNIQUE KEY `option_name` (`option_name`)
) ENGINE=InnoDB COMMENT='options';
INSERT INTO `wp_options` VALUES (1,'siteurl','http://old.org'),(2,'it''s',_binary 'a:1:{i:0;s:1:\"\'\";}'),
(3,NULL,0xABCD),(-4,X'41',"double \" ""q""");
"#;
    assert_eq!(
        read_row_values(dump),
        [
            "wp_options.option_name 0 siteurl",
            "wp_options.option_value 0 http://old.org",
            "wp_options.option_name 1 it's",
            "wp_options.option_value 1 a:1:{i:0;s:1:\"'\";}",
            "wp_options.option_value 2 \\xab\\xcd",
            "wp_options.option_name 3 A",
            "wp_options.option_value 3 double \" \"q\"",
        ]
    );
}

#[test]
fn mysql_insert_set_and_update_statements_are_read() {
    let dump = br#"insert ignore into db.t (b, `a``x`) values ('1', concat('2', 'x', N'y')), (DEFAULT, _utf8mb4'3')
on duplicate key update `a``x`='4', b = values(b);
REPLACE INTO t SET a='5', `b` = concat('6');
UPDATE t SET x='7', y = 1, z='8' WHERE k='9';
"#;
    assert_eq!(
        read_row_values(dump),
        [
            "db.t.b 0 1",
            "db.t.a`x 0 2",
            "db.t.a`x 0 x",
            "db.t.a`x 0 y",
            "db.t.a`x 1 3",
            "db.t.a`x 1 4",
            "t.a 0 5",
            "t.b 0 6",
            "t.x 1 7",
            "t.z 1 8"
        ]
    );
}

#[test]
fn mysql_modes_change_the_meaning_of_backslashes() {
    let dump = br#"/*!50003 SET @saved_sql_mode = @@sql_mode */ ;
SET sql_mode='ANSI,NO_BACKSLASH_ESCAPES';
INSERT INTO "t" ("a") VALUES ('C:\');
SET sql_mode = @saved_sql_mode;
INSERT INTO "t" (`a`) VALUES ('it\'s');
"#;
    assert_eq!(read_row_values(dump), ["t.a 0 C:\\", "t.a 1 it's"]);
}

#[test]
fn mysql_triggers_are_one_statement() {
    let dump = br#"DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW BEGIN /* it's */
INSERT INTO t VALUES ('no row'); # isn't
END */;;
DELIMITER ;
INSERT INTO t VALUES ('a');
DELIMITER $$
CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES ('b'); END$$
DELIMITER ;
INSERT INTO t VALUES ('c');
"#;
    assert_eq!(read_row_values(dump), ["t.#0 0 a", "t.#0 1 c"]);
    assert_eq!(find_literals(dump).len(), 4);
}

#[test]
fn comments_are_skipped() {
    let dump = b"/*M!999999\\- enable the sandbox mode */ \n-- it's\n#it's\nINSERT INTO t VALUES (1--1,'a');--\n";
    assert_eq!(read_row_values(dump), ["t.#1 0 a"]);
}

#[test]
fn copy_and_insert_of_pg_dump_are_read() {
    let dump = b"--\n-- PostgreSQL database dump\n--\n\\restrict x'y\nSET standard_conforming_strings = on;\n\
        CREATE TABLE public.\"My Posts\" (\n    id integer NOT NULL,\n    key text,\n    body bytea,\n    tags text[] DEFAULT '{}'::text[]\n);\n\
        COPY public.\"My Posts\" (id, body, key, tags) FROM stdin;\n1\t\\\\x4142\ta\\tb\\\\\\x41\\101\t{}\n2\t\\N\t\\N\t\n\\.\n\
        INSERT INTO public.\"My Posts\" VALUES (3, 'C:\\', '\\x43', E'it\\'s');\n\
        CREATE FUNCTION f() RETURNS text AS $_$ select 'it''s $1' $_$ LANGUAGE sql; /* a /* b */ ' */ SELECT 'x' # 'y';\n";
    assert_eq!(
        read_row_values(dump),
        [
            "public.My Posts.id 0 1",
            "public.My Posts.body 0 AB",
            "public.My Posts.key 0 a\\tb\\AA",
            "public.My Posts.tags 0 {}",
            "public.My Posts.id 1 2",
            "public.My Posts.tags 1 ",
            "public.My Posts.key 2 C:\\",
            "public.My Posts.body 2 C",
            "public.My Posts.tags 2 it's",
        ]
    );
    assert_eq!(find_literals(dump).len(), 9 + 1 + 1 + 2);
}

#[test]
fn calls_in_sqlite_dumps_are_decoded() {
    let dump = b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE [a t](key TEXT, 'n' INT, g AS (key || 'x'), v BLOB);\n\
        INSERT INTO \"a t\" VALUES('it''s \\',NULL,X'00ff');\n\
        INSERT INTO \"a t\" VALUES(replace(replace('a\\nb\\rc''','\\r',char(13)),'\\n',char(10)),replace('x','y','z'),unistr('a\\u0009b'));\n\
        CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO t VALUES('no row'); SELECT CASE 1 WHEN 1 THEN 'x' END; END;\nCOMMIT;\n";
    assert_eq!(
        read_row_values(dump),
        [
            "a t.key 0 it's \\",
            "a t.v 0 \\x00\\xff",
            "a t.key 1 a\\nb\\rc'",
            "a t.n 1 x",
            "a t.n 1 y",
            "a t.n 1 z",
            "a t.v 1 a\\tb",
        ]
    );
}

#[test]
fn all_line_ends_are_accepted() {
    for end in ["\r\n", "\r"] {
        let dump = "\u{feff}-- PostgreSQL database dump\nCOPY t (a, b) FROM stdin;\n1\tx\n\\N\t\n\\.\n-- it's\nINSERT INTO t VALUES ('y');"
            .replace('\n', end);
        assert_eq!(read_row_values(dump.as_bytes()), ["t.a 0 1", "t.b 0 x", "t.b 1 ", "t.#0 2 y"]);
    }
}

#[test]
fn keywords_may_be_names_of_columns() {
    let dump = b"CREATE TABLE `t` (a int, period int, exclude text, PERIOD FOR s (a, b), KEY (a), c text);\nINSERT INTO t VALUES (1,2,'x','y');\n";
    assert_eq!(read_row_values(dump), ["t.exclude 0 x", "t.c 0 y"]);
    let dump = b"CREATE TABLE public.t (key int, index text, EXCLUDE USING gist (a WITH =), CONSTRAINT x CHECK (('a' = 'b')), b bytea);\n\
        INSERT INTO public.t VALUES (1, 'C:\\', '\\x41');\n";
    assert_eq!(read_row_values(dump), ["public.t.index 0 C:\\", "public.t.b 0 A"]);
}
