//! What the reader keeps in memory, and what it refuses.

use crate::common::read_in_windows;
use icecore_sql::{Dialect, Error, Next, Options, Reader};

/// Returns the largest number of bytes that a reader leaves in a window that grows by one byte at a
/// time.
fn measure_held_bytes(dump: &[u8], dialect: Option<Dialect>) -> usize {
    let mut options = Options::default();
    options.dialect = dialect;
    held_with(dump, options)
}

fn held_with(dump: &[u8], options: Options) -> usize {
    let mut reader = Reader::with_options(options);
    let (mut start, mut end, mut max_held) = (0, 0, 0);
    loop {
        match reader.next(&dump[start..end], end == dump.len()).expect("a dump") {
            Next::Literal(_) | Next::Value(_) => {}
            Next::More { used } => {
                start += used;
                max_held = max_held.max(end - start);
                end += 1;
            }
            Next::End => return max_held,
        }
    }
}

#[test]
fn the_reader_keeps_a_literal_but_not_a_line() {
    let rows = "(1,'a text of some bytes',NULL,0xAB),".repeat(2000);
    assert!(measure_held_bytes(format!("INSERT INTO t VALUES {rows}").as_bytes(), None) < 64);
    let cells = "a text of some bytes\t".repeat(2000);
    assert!(measure_held_bytes(format!("COPY t FROM stdin;\n{cells}").as_bytes(), None) < 64);
    assert_eq!(measure_held_bytes(format!("SELECT 'x', '{}'", "''".repeat(5000)).as_bytes(), None), 10_001);
}

#[test]
fn the_reader_keeps_a_value_but_not_a_row() {
    let mut options = Options::default();
    options.rows = true;
    let row = format!("({}1)", "'some text',NULL,-1.5,now() /* a comment that is none of it */ ,".repeat(2000));
    assert!(held_with(format!("INSERT INTO t VALUES {row}").as_bytes(), options.clone()) < 64);
    // An expression is kept like a literal, and not longer.
    options.literal = 100;
    for dump in [
        format!("INSERT INTO t VALUES (1,{}", "f(".repeat(5000)),
        format!("INSERT INTO t VALUES (1,{}", "'a' ".repeat(5000)),
        format!("INSERT INTO t VALUES (1,{}", "x".repeat(10_000)),
    ] {
        let mut reader = Reader::with_options(options.clone());
        let (mut start, mut end) = (0, 0);
        let error = loop {
            match reader.next(&dump.as_bytes()[start..end], end == dump.len()) {
                Ok(Next::More { used }) => (start, end) = (start + used, end + 1),
                Ok(Next::End) => panic!("no error"),
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error, Error::LongLiteral { offset: 24, limit: 100 }, "{}", &dump[..30]);
        assert!(end < 1500, "{end}");
    }
}

#[test]
fn the_reader_keeps_no_other_token_whole() {
    let long = |piece: &str| piece.repeat(20_000 / piece.len());
    let mysql = [
        format!("/*{}", long("x* ")),
        format!("-- {}", long("x")),
        format!("#{}", long("x")),
        format!("SELECT {}", long("x")),
        format!("SELECT {}", long("1")),
        format!("INSERT INTO `{}", long("x")),
        format!("INSERT INTO `{}", long("``")),
        format!("INSERT INTO t ({}", long("a,")),
        format!("DELIMITER {}", long("x")),
        format!("DELIMITER xy\n{}", long("x")),
        format!("/*!{}", long("1")),
        long(" "),
        long("("),
        long("-"),
        long("*"),
    ];
    for dump in &mysql {
        assert!(measure_held_bytes(dump.as_bytes(), Some(Dialect::MySql)) < 2100, "{}", &dump[..20]);
    }
    let postgres = [
        format!("/*{}", long("/*")),
        format!("${}", long("x")),
        format!("COPY t FROM stdin (FORMAT csv);\n{}", long("x")),
        format!("COPY t FROM stdin; {}", long("x")),
        format!("\\restrict {}", long("x")),
        format!("INSERT INTO \"{}", long("x")),
        long("$1"),
    ];
    for dump in &postgres {
        assert!(measure_held_bytes(dump.as_bytes(), Some(Dialect::Postgres)) < 2100, "{}", &dump[..20]);
    }
}

#[test]
fn too_long_literals_are_an_error_with_their_offset() {
    let mut options = Options::default();
    options.literal = 10;
    for dump in ["SELECT 'a', 'a literal that is too long'", "COPY t FROM stdin;\na literal that is too long\n\\.\n"] {
        for size in [1, 3, 1000] {
            let mut reader = Reader::with_options(options.clone());
            let (mut start, mut end) = (0, 0);
            let error = loop {
                match reader.next(&dump.as_bytes()[start..end], end == dump.len()) {
                    Ok(Next::More { used }) => {
                        start += used;
                        end = (end + size).min(dump.len());
                    }
                    Ok(Next::Literal(_) | Next::Value(_)) => {}
                    Ok(Next::End) => panic!("no error"),
                    Err(error) => break error,
                }
            };
            let offset = if dump.starts_with("SELECT") { 12 } else { 19 };
            assert_eq!(error, Error::LongLiteral { offset, limit: 10 });
            assert!(error.to_string().contains("at byte"), "{error}");
        }
    }
}

#[test]
fn the_length_of_all_names_is_limited() {
    let mut options = Options::default();
    options.names = 100_000;
    let many: String = (0..1000).map(|number| format!("INSERT INTO t{number} VALUES (1);\n")).collect();
    let mut reader = Reader::with_options(options.clone());
    assert!(matches!(reader.next(many.as_bytes(), true), Err(Error::ManyNames { limit: 100_000, .. })));
    let one = "INSERT INTO t (a) VALUES ('x');\n".repeat(1000);
    assert_eq!(read_in_windows(one.as_bytes(), options, |_| 100).0.len(), 1000);
}

#[test]
fn a_cut_dump_tells_where_its_last_literal_began() {
    for (dump, offset) in
        [("SELECT 'a', 'b", Some(12)), ("SELECT 'a'", None), ("COPY t FROM stdin;\na\tb", Some(21)), ("", None)]
    {
        let (_, reader) = read_in_windows(dump.as_bytes(), Options::default(), |_| 4);
        assert_eq!(reader.unclosed_offset(), offset, "{dump}");
    }
}

#[test]
fn charsets_with_backslash_bytes_are_refused() {
    let rows = "INSERT INTO t (a) VALUES ('x');\n";
    let read_all = |dump: String| {
        let mut reader = Reader::new();
        while reader.next(dump.as_bytes(), true)? != Next::End {}
        Ok::<(), Error>(())
    };
    for declaration in [
        "/*!40101 SET NAMES gbk */;\n",
        "SET NAMES 'BIG5';\n",
        "SET NAMES sjis COLLATE sjis_bin;\n",
        "/*!40101 SET character_set_client = cp932 */;\n",
        "SET client_encoding = 'GB18030';\n",
    ] {
        let error = read_all(format!("{declaration}{rows}")).unwrap_err();
        assert!(matches!(error, Error::Encoding { .. }), "{declaration}");
        assert!(error.to_string().contains("iconv"), "{error}");
    }
    for declaration in [
        "/*!50503 SET NAMES utf8mb4 */;\n",
        "SET client_encoding = 'UTF8';\n",
        "SET NAMES latin1;\nSET @names = 'gbk';\n",
        "INSERT INTO names (a) VALUES ('gbk');\n",
    ] {
        assert_eq!(read_all(format!("{declaration}{rows}")), Ok(()), "{declaration}");
    }
}
