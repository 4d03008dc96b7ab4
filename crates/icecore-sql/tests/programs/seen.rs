//! What the reader sees in a dump, compared with what was put into the tables.

use std::collections::BTreeMap;

use icecore::rewrite::{Edits, Escaping, raw_edits};
use icecore_sql::{Cell, Content, Options, Reader};

use super::generate::{self, Limits, Table, Type};
use crate::common::{read_all, read_in_windows, to_readable_text};
use crate::random::Random;

/// Returns the place of a value in the generated tables: table, column, row. `None` for an id.
fn locate_value(reader: &Reader, tables: &[Table], cell: &Cell) -> Option<(usize, usize, usize)> {
    let found_table = reader.table(cell.table);
    let table = tables
        .iter()
        .position(|table| table.name == found_table.name())
        .unwrap_or_else(|| panic!("a table {found_table:?}"));
    let column = match cell.column {
        Some(column) => {
            let name = found_table.columns()[column as usize].name();
            if name == "id" {
                return None;
            }
            tables[table]
                .columns
                .iter()
                .position(|(known, _)| known == name)
                .unwrap_or_else(|| panic!("a column {name:?}"))
        }
        None => (cell.position as usize).checked_sub(1)?,
    };
    Some((table, column, cell.row as usize))
}

/// Checks that the dump has all values, each once, in windows of random sizes.
pub fn check(dump: &[u8], tables: &[Table], random: &mut Random, name: &str) {
    let max_window = *random.pick(&[1, 13, 1000, 100_000]);
    let mut sizes = Random::new(random.next());
    let (literals, reader) = read_in_windows(dump, Options::default(), |_| 1 + sizes.below(max_window));
    let mut values_by_place = BTreeMap::new();
    for literal in &literals {
        let Some(cell) = literal.cell else { continue };
        let Some(place) = locate_value(&reader, tables, &cell) else { continue };
        let raw = &dump[literal.body.clone()];
        let decoded = literal
            .quoting
            .decode(raw)
            .unwrap_or_else(|| panic!("{name}: {:?} {}", literal.quoting, to_readable_text(raw)));
        let before = values_by_place.insert(place, decoded.text().to_vec());
        assert!(before.is_none(), "{name}: {place:?} twice");
    }
    for (number, table) in tables.iter().enumerate() {
        for (row, values) in table.rows.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                let found = values_by_place.remove(&(number, column, row));
                if &found != value {
                    let shown = |value: &Option<Vec<u8>>| {
                        value.as_ref().map(|value| to_readable_text(&value[..value.len().min(300)]))
                    };
                    panic!(
                        "{name}: {:?} {:?} row {row}: {:?} instead of {:?}",
                        table.name,
                        table.columns[column].0,
                        shown(&found),
                        shown(value)
                    );
                }
            }
        }
    }
    assert!(values_by_place.is_empty(), "{name}: more values: {values_by_place:?}");
    assert_eq!(reader.unclosed_offset(), None, "{name}");
    // With separate random numbers, so that later changes stay the same.
    check_rows(dump, tables, &mut Random::new(dump.len() as u64), name);
}

/// Checks the same for whole rows: their ids and NULLs, and that everything is understood.
fn check_rows(dump: &[u8], tables: &[Table], random: &mut Random, name: &str) {
    let mut options = Options::default();
    options.rows = true;
    let max_window = *random.pick(&[1, 13, 1000, 100_000]);
    let mut sizes = Random::new(random.next());
    let (_, values, reader) = read_all(dump, options, |_| 1 + sizes.below(max_window));
    let (mut rows, mut seen) = (0, 0);
    for value in &values {
        let text = to_readable_text(&dump[value.full_range.clone()]);
        rows += usize::from(value.ends_row);
        let content = match &value.content {
            Content::Null => None,
            Content::Number => Some(dump[value.full_range.clone()].to_vec()),
            Content::Literal(body, quoting) => {
                let decoded = quoting.decode(&dump[body.clone()]).unwrap_or_else(|| panic!("{name}: {text}"));
                Some(decoded.text().to_vec())
            }
            other => panic!("{name}: {other:?} {text}"),
        };
        match locate_value(&reader, tables, &value.cell) {
            // `COPY` writes an id like text.
            None => assert_eq!(content, Some((value.cell.row + 1).to_string().into_bytes()), "{name}: an id"),
            Some((table, column, row)) => {
                seen += 1;
                assert!(
                    content == tables[table].rows[row][column],
                    "{name}: row {row}: {}",
                    to_readable_text(text.as_bytes())
                );
            }
        }
    }
    assert_eq!(rows, tables.iter().map(|table| table.rows.len()).sum::<usize>(), "{name}");
    assert_eq!(seen, tables.iter().map(|table| table.rows.len() * table.columns.len()).sum::<usize>(), "{name}");
}

/// Makes a random change of a value that does not split characters.
fn random_change(text: &[u8], kind: Type, random: &mut Random, limits: Limits) -> Edits {
    let mut edits = Edits::new();
    let mut offset = 0;
    for _ in 0..random.below(4) {
        let edge = |offset: usize| match kind {
            Type::Bytes => offset,
            Type::Text => (offset..text.len()).find(|offset| text[*offset] & 0xc0 != 0x80).unwrap_or(text.len()),
        };
        let start = edge(offset + random.below(text.len() - offset + 1));
        let end = edge(start + random.below((text.len() - start).min(9) + 1));
        let new = match kind {
            Type::Text => generate::text(random, limits).into_bytes(),
            Type::Bytes => generate::bytes(random),
        };
        edits.push(start, end, &new);
        offset = end;
    }
    edits
}

/// Returns the dump with random changes in its values, and the number of changes that could not be
/// written. The tables get the same changes.
pub fn rewrite(dump: &[u8], tables: &mut [Table], random: &mut Random, limits: Limits) -> (Vec<u8>, usize) {
    let (literals, reader) = read_in_windows(dump, Options::default(), |_| dump.len().max(1));
    let (mut out, mut offset, mut refused) = (Vec::new(), 0, 0);
    for literal in &literals {
        let Some(place) = literal.cell.and_then(|cell| locate_value(&reader, tables, &cell)) else { continue };
        let (table, column, row) = place;
        let raw = &dump[literal.body.clone()];
        let decoded = literal.quoting.decode(raw).expect("a literal");
        let edits = random_change(decoded.text(), tables[table].columns[column].1, random, limits);
        let Some(raws) = raw_edits(raw, &decoded, &edits, &literal.quoting) else {
            refused += 1;
            continue;
        };
        out.extend_from_slice(&dump[offset..literal.body.start]);
        raws.apply_to(raw, &mut out);
        offset = literal.body.end;
        tables[table].rows[row][column] = Some(edits.apply(decoded.text()));
    }
    out.extend_from_slice(&dump[offset..]);
    (out, refused)
}

/// Checks line by line that a server loaded the expected rows.
pub fn assert_same_rows(loaded: &str, expected: &str, name: &str) {
    for (number, (loaded, expected)) in loaded.lines().zip(expected.lines()).enumerate() {
        let differs = loaded.bytes().zip(expected.bytes()).position(|(one, other)| one != other);
        let offset = differs.unwrap_or_else(|| loaded.len().min(expected.len())).saturating_sub(20);
        let piece = |line: &str| line.chars().skip(offset).take(100).collect::<String>();
        assert!(
            loaded == expected,
            "{name}: row {number} from {offset}: {} instead of {}",
            piece(loaded),
            piece(expected)
        );
    }
    assert_eq!(loaded.lines().count(), expected.lines().count(), "{name}");
}
