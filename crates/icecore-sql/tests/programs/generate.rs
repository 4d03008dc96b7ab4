//! Tables with names and values that are hard to quote.

use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Text,
    Bytes,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// In addition to the first one, `id`.
    pub columns: Vec<(String, Type)>,
    /// The values of these columns; ids count from 1.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

/// What a server does not support, or a dump does not keep.
#[derive(Clone, Copy, Default)]
pub struct Limits {
    /// Names need no quotes.
    pub plain_names: bool,
    /// Text may contain NUL.
    pub nul: bool,
    /// Text has no carriage returns.
    pub no_returns: bool,
}

const NAMES: &[&str] = &[
    "posts", "Options", "a b", "order", "select", "key", "it's", "x\"y", "q`r", "[b]", "é", "日本", "a.b", "values",
    "-- x", "/*c", "$d$", "exclude", "index", "100%",
];

/// Pieces of text that mean something to a lexer.
const PIECES: &[&str] = &[
    "'",
    "''",
    "\"",
    "\\",
    "\\\\",
    "\\'",
    "\\\"",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{1a}",
    "\u{8}",
    "\u{b}",
    "\u{c}",
    "\u{1}",
    "\\n",
    "\\N",
    "\\.",
    "\n\\.\n",
    "\\012",
    "(\\n0)",
    "\\r",
    "\\015",
    "%",
    "\\%",
    "_",
    "\\_",
    "é",
    "日本語",
    "😀",
    "),(",
    ");\n",
    "-- ",
    "#",
    "/*",
    "*/",
    "/*!50001",
    "$$",
    "$x$",
    "a:1:{s:4:\"it's\";s:2:\"\\\\\";}",
    "{\"a\":\"b\\/c\\u00e9\"}",
    "http://old.org/x?y=1&z=%20",
    " ",
    "a",
    "some text ",
    "\\u0041",
    "\\x41",
    "x'41'",
    "0x41",
    "NULL",
    ";",
    ",",
    "char(10)",
    "','\\n',char(10))",
];

pub fn text(random: &mut Random, limits: Limits) -> String {
    let mut text = String::new();
    // A text that begins like a `bytea` is read as one if the type of the column is unknown.
    if random.one_in(2) {
        text.push('t');
    }
    for _ in 0..random.below(8) {
        match random.below(40) {
            0 if limits.nul => text.push('\0'),
            1 if random.one_in(20) => {
                text.push_str(&PIECES[random.below(PIECES.len())].repeat(1 + random.below(20_000)))
            }
            _ => text.push_str(PIECES[random.below(PIECES.len())]),
        }
    }
    if limits.no_returns {
        text = text.replace('\r', "");
    }
    if text.starts_with("\\x") { text.replacen("\\x", "\\y", 1) } else { text }
}

pub fn bytes(random: &mut Random) -> Vec<u8> {
    let len = if random.one_in(50) { random.below(50_000) } else { random.below(12) };
    if random.one_in(3) {
        return text(random, Limits::default()).into_bytes();
    }
    (0..len).map(|_| random.next() as u8).collect()
}

pub fn tables(random: &mut Random, limits: Limits) -> Vec<Table> {
    (0..1 + random.below(3)).map(|number| table(random, limits, number)).collect()
}

/// Returns a unique name, also when case is ignored.
fn name(random: &mut Random, limits: Limits, number: usize) -> String {
    if limits.plain_names {
        return format!("{}{number}", random.pick(&["posts_", "Opt", "a_", "é"]));
    }
    match random.below(3) {
        0 => format!("{}{number}", random.pick(NAMES)),
        1 => format!("n{number}{}", random.pick(NAMES)),
        _ => format!("{}{number}{}", random.pick(NAMES), random.pick(NAMES)),
    }
}

fn table(random: &mut Random, limits: Limits, number: usize) -> Table {
    let columns: Vec<_> = (0..1 + random.below(5))
        .map(|number| (name(random, limits, number), *random.pick(&[Type::Text, Type::Text, Type::Bytes])))
        .collect();
    let rows = (0..random.below(12))
        .map(|_| {
            let value = |(_, kind): &(String, Type)| {
                (!random.one_in(8)).then(|| match kind {
                    Type::Text => text(random, limits).into_bytes(),
                    Type::Bytes => bytes(random),
                })
            };
            columns.iter().map(value).collect()
        })
        .collect();
    Table { name: name(random, limits, number), columns, rows }
}

/// Returns bytes as digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the rows as a server is asked for them: a line for each row, digits and `N`, ids first.
pub fn lines(table: &Table) -> String {
    let mut lines = String::new();
    for (number, row) in table.rows.iter().enumerate() {
        let values: Vec<_> =
            row.iter().map(|value| value.as_ref().map_or("N".to_owned(), |value| hex(value))).collect();
        lines.push_str(&format!("{}|{}\n", number + 1, values.join("|")));
    }
    lines
}
