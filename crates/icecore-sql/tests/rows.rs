//! Rows with all their values, as each program writes them.

use crate::common::{read_all, to_readable_text};
use icecore::rewrite::Escaping;
use icecore_sql::{Content, Next, Options, Reader};

/// Returns the rows of a dump: `table: column=value …`.
fn read_rows(dump: &str) -> Vec<String> {
    let mut options = Options::default();
    options.rows = true;
    let (_, values, reader) = read_all(dump.as_bytes(), options, |_| 3);
    let mut rows = Vec::new();
    let mut row = String::new();
    for value in values {
        let table = reader.table(value.cell.table);
        if row.is_empty() {
            row = format!("{}:", table.name());
        }
        let column = match value.cell.column {
            Some(column) => table.columns()[column as usize].name().to_owned(),
            None => (value.cell.position + 1).to_string(),
        };
        let text = to_readable_text(&dump.as_bytes()[value.full_range]);
        let content = match value.content {
            Content::Literal(body, quoting) => {
                format!("\"{}\"", to_readable_text(quoting.decode(&dump.as_bytes()[body]).expect("a literal").text()))
            }
            Content::Bits(digits) => format!("bits {}", &dump[digits]),
            Content::Number | Content::Null => text,
            Content::Bool(value) => value.to_string(),
            Content::Absent => "-".to_owned(),
            _ => format!("<{text}>"),
        };
        row += &format!(" {column}={content}");
        if value.ends_row {
            rows.push(std::mem::take(&mut row));
        }
    }
    assert_eq!(row, "", "all rows end");
    rows
}

#[test]
fn rows_of_mysql_have_all_their_values() {
    let dump = "CREATE TABLE `t` (`id` int, `x` text);
INSERT INTO `t` VALUES (1,'it\\'s'),(-2,NULL),(0x41,_binary 'a'),(b'101',_utf8mb4'x'),(00042 , .5 /* c */ ),
(123456789012345678901234567890,-1.50),(1e+9,CONVERT(\"{}\" USING UTF8MB4)),(TRUE,DEFAULT);
INSERT INTO `t` (`x`,`id`) VALUES (now(),1+1),('a' 'b', 5), ( -- c, d
 'x', -7);
insert into u values (1,2,),();
INSERT INTO v SET a=1;";
    assert_eq!(
        read_rows(dump),
        [
            "t: id=1 x=\"it's\"",
            "t: id=-2 x=NULL",
            "t: id=\"A\" x=\"a\"",
            "t: id=bits 101 x=\"x\"",
            "t: id=00042 x=.5",
            "t: id=123456789012345678901234567890 x=-1.50",
            "t: id=1e+9 x=\"{}\"",
            "t: id=true x=-",
            "t: x=<now()> id=<1+1>",
            "t: x=<'a' 'b'> id=5",
            "t: x=\"x\" id=-7",
            "u: 1=1 2=2 3=-",
            "u: 1=-",
        ]
    );
}

#[test]
fn rows_of_postgres_have_all_their_values() {
    let dump = "-- PostgreSQL database dump
CREATE TABLE public.t (id integer, ok boolean, b bytea);
COPY public.t (id, ok, b) FROM stdin;
1\tt\t\\\\x4142
\\N\tf\t\\N
\\.
INSERT INTO public.t VALUES (1, true, '\\x4142'), (NULL, false, E'\\\\000'), ('NaN'::real, B'01', $$x$$);
";
    assert_eq!(
        read_rows(dump),
        [
            "t: id=\"1\" ok=\"t\" b=\"AB\"",
            "t: id=\\N ok=\"f\" b=\\N",
            "t: id=1 ok=true b=\"AB\"",
            "t: id=NULL ok=false b=\"\\x00\"",
            "t: id=\"NaN\" ok=bits 01 b=\"x\"",
        ]
    );
}

#[test]
fn rows_of_sqlite_have_all_their_values() {
    let dump = "PRAGMA foreign_keys=OFF;
CREATE TABLE t(a,b);
INSERT INTO t VALUES(replace(replace('a\\nb\\r','\\r',char(13)),'\\n',char(10)),unistr('\\u0041'));
INSERT INTO t VALUES(X'41',-9.0e+999);
INSERT INTO t VALUES(replace('a','b','c'),unistr('x')||'y');
";
    assert_eq!(
        read_rows(dump),
        ["t: a=\"a\\nb\\r\" b=\"A\"", "t: a=\"A\" b=-9.0e+999", "t: a=<replace('a','b','c')> b=<unistr('x')||'y'>"]
    );
}

#[test]
fn skipped_tables_cost_one_value_per_statement() {
    let dump = b"INSERT INTO t VALUES (1,2),(3,4);INSERT INTO t VALUES (5,6);COPY t FROM stdin;\na\tb\nc\td\n\\.\n";
    let mut options = Options::default();
    options.rows = true;
    let mut reader = Reader::with_options(options);
    let mut values = 0;
    while let Next::Value(_) | Next::Literal(_) = reader.next(dump, true).expect("a dump") {
        values += 1;
        reader.skip_rows();
    }
    // The cells of COPY are literals.
    assert_eq!(values, 2 + 4);
    assert_eq!(reader.unclosed_offset(), None);
}

#[test]
fn rows_of_one_layout_have_the_same_number() {
    let dump = b"INSERT INTO t (a,b) VALUES (1,2);INSERT INTO t (a,b) VALUES (3,4);INSERT INTO t (b,a) VALUES (5,6);";
    let mut options = Options::default();
    options.rows = true;
    let mut reader = Reader::with_options(options);
    let mut layouts = Vec::new();
    while let Next::Value(_) = reader.next(dump, true).expect("a dump") {
        layouts.push(reader.layout());
    }
    assert_eq!(layouts, [1, 1, 1, 1, 2, 2]);
}

#[test]
fn a_dump_cut_in_a_row_tells_where_the_value_begins() {
    let mut options = Options::default();
    options.rows = true;
    for (dump, offset) in [
        ("INSERT INTO t VALUES (1,23", Some(24)),
        ("INSERT INTO t VALUES (1,", Some(24)),
        ("INSERT INTO t VALUES (1)", None),
        ("COPY t FROM stdin;\n1\n", Some(21)),
        ("COPY t FROM stdin;\n1\n\\.", None),
    ] {
        assert_eq!(read_all(dump.as_bytes(), options.clone(), |_| 4).2.unclosed_offset(), offset, "{dump}");
    }
}
