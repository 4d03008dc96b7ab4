//! The charset that a dump declares.

use icecore_sql::{Next, Reader};

/// Returns the charset at the first value of a row: that of the dump, and that of its table.
fn find_charsets(dump: &str) -> (Option<&'static str>, Option<&'static str>) {
    let mut reader = Reader::new();
    loop {
        match reader.next(dump.as_bytes(), true) {
            Ok(Next::Literal(literal)) if literal.cell.is_some() => return (reader.charset(), reader.table_charset()),
            Ok(Next::Literal(_) | Next::Value(_)) => {}
            _ => panic!("no value in {dump}"),
        }
    }
}

#[test]
fn declared_charsets_of_a_dump_are_found() {
    const ROW: &str = "INSERT INTO t VALUES ('a');";
    for (front, of_dump, of_table) in [
        ("", None, None),
        ("-- MySQL dump\n/*!40101 SET NAMES utf8mb4 */;\n", Some("UTF-8"), None),
        ("/*!40101 SET NAMES latin1 */;\n", Some("Windows-1252"), None),
        ("SET NAMES 'cp1251' COLLATE 'cp1251_bin';", Some("Windows-1251"), None),
        ("SET CHARACTER SET latin2;", Some("ISO-8859-2"), None),
        ("SET NAMES ujis;", Some("other"), None),
        ("SET NAMES binary;", None, None),
        // Definitions use another charset, which is reset after them.
        (
            "SET NAMES latin1;\n/*!40101 SET @saved_cs_client     = @@character_set_client */;\n\
             /*!50503 SET character_set_client = utf8mb4 */;\nCREATE TABLE t (a text) DEFAULT CHARSET=utf8;\n\
             /*!40101 SET character_set_client = @saved_cs_client */;\n",
            Some("Windows-1252"),
            Some("UTF-8"),
        ),
        ("CREATE TABLE t (a text) ENGINE=MyISAM DEFAULT CHARSET=latin1 COMMENT='utf8';", None, Some("Windows-1252")),
        ("CREATE TABLE t (a text) character set = koi8r;", None, Some("KOI8-R")),
        ("CREATE TABLE u (a text) CHARSET=latin1; CREATE TABLE t (a text CHARACTER SET latin2);", None, None),
        ("-- PostgreSQL database dump\nSET client_encoding = 'LATIN1';\n", Some("ISO-8859-1"), None),
        ("-- PostgreSQL database dump\nSET client_encoding TO WIN1252;\n", Some("Windows-1252"), None),
        ("-- PostgreSQL database dump\nSET client_encoding = 'SQL_ASCII';\n", None, None),
        ("-- MySQL dump\nSET NAMES latin1;\n-- PostgreSQL database dump\n", None, None),
    ] {
        assert_eq!(find_charsets(&format!("{front}{ROW}")), (of_dump, of_table), "{front}");
    }
}
