//! Reading whole dumps.
#![allow(dead_code)] // Each test uses a part.

use icecore::rewrite::Escaping;
use icecore_sql::{Content, Literal, Next, Options, Reader, Value};
use std::ops::Range;

/// Returns all literals of a dump that is given at once.
pub fn find_literals(dump: &[u8]) -> Vec<Literal> {
    read_in_windows(dump, Options::default(), |_| dump.len().max(1)).0
}

/// Returns all literals of a dump that is given in pieces of these sizes, as ranges of the dump,
/// and the reader.
pub fn read_in_windows(dump: &[u8], options: Options, size: impl FnMut(usize) -> usize) -> (Vec<Literal>, Reader) {
    let (literals, _, reader) = read_all(dump, options, size);
    (literals, reader)
}

/// Returns the values of rows too.
pub fn read_all(
    dump: &[u8],
    options: Options,
    mut size: impl FnMut(usize) -> usize,
) -> (Vec<Literal>, Vec<Value>, Reader) {
    let mut reader = Reader::with_options(options);
    let (mut literals, mut values) = (Vec::new(), Vec::new());
    let (mut start, mut end) = (0, 0);
    let moved = |range: &Range<usize>, start: usize| range.start + start..range.end + start;
    loop {
        let last = end == dump.len();
        match reader.next(&dump[start..end], last).expect("a dump") {
            Next::Literal(mut literal) => {
                for range in [&mut literal.full_range, &mut literal.body] {
                    *range = moved(range, start);
                }
                literals.push(literal);
            }
            Next::Value(mut value) => {
                // The range of an absent value has no meaning.
                if !value.full_range.is_empty() || value.content != Content::Absent {
                    value.full_range = moved(&value.full_range, start);
                }
                if let Content::Literal(body, _) | Content::Bits(body) = &mut value.content {
                    *body = moved(body, start);
                }
                values.push(value);
            }
            Next::More { used } => {
                start += used;
                end = (end + size(end)).min(dump.len());
            }
            Next::End => return (literals, values, reader),
        }
    }
}

/// Returns the values of a dump's rows: `table.column row value`.
pub fn read_row_values(dump: &[u8]) -> Vec<String> {
    let (literals, reader) = read_in_windows(dump, Options::default(), |_| dump.len().max(1));
    literals
        .iter()
        .filter_map(|literal| {
            let cell = literal.cell?;
            let table = reader.table(cell.table);
            let schema = table.schema().map(|schema| format!("{schema}.")).unwrap_or_default();
            let column = match cell.column {
                Some(column) => table.columns()[column as usize].name().to_owned(),
                None => format!("#{}", cell.position),
            };
            let text = literal.quoting.decode(&dump[literal.body.clone()]).expect("a literal");
            Some(format!("{schema}{}.{column} {} {}", table.name(), cell.row, to_readable_text(text.text())))
        })
        .collect()
}

/// Returns bytes as text, so that tests can write them.
pub fn to_readable_text(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                control if control < ' ' => out.push_str(&format!("\\x{:02x}", control as u32)),
                other => out.push(other),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}
