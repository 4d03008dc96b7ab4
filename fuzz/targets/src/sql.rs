//! SQL dumps.

use icecore::rewrite::{Escaping, ReplacedRange};
use icecore_sql::{Content, Dialect, Error, Literal, Next, Options, Quoting, Reader, Value, read_whole_dump};
use std::ops::Range;

/// Returns the results for windows of these sizes: literals and the values of rows, as ranges of the dump.
fn read_in_windows(
    dump: &[u8],
    options: Options,
    mut window_len: impl FnMut() -> usize,
) -> Result<(Vec<Literal>, Vec<Value>), Error> {
    let mut reader = Reader::with_options(options);
    let (mut literals, mut values) = (Vec::new(), Vec::new());
    let (mut start, mut end) = (0, 0);
    let move_range = |range: &Range<usize>, start: usize| range.start + start..range.end + start;
    loop {
        match reader.next(&dump[start..end], end == dump.len())? {
            Next::Literal(mut literal) => {
                for range in [&mut literal.full_range, &mut literal.body] {
                    *range = move_range(range, start);
                }
                literals.push(literal);
            }
            Next::Value(mut value) => {
                // The position of an absent value has no meaning.
                if value.content != Content::Absent || !value.full_range.is_empty() {
                    value.full_range = move_range(&value.full_range, start);
                }
                if let Content::Literal(body, _) | Content::Bits(body) = &mut value.content {
                    *body = move_range(body, start);
                }
                values.push(value);
            }
            Next::More { used } => {
                start += used;
                end = (end + window_len()).min(dump.len());
            }
            Next::End => return Ok((literals, values)),
        }
    }
}

/// Checks that the fast reader and its twin agree, in windows of any size; that literals are in order; that a decoded
/// literal is encoded to a literal with the same text; and that limits are errors.
pub fn sql_read(data: &[u8]) {
    let Some((choice, dump)) = data.split_first() else { return };
    let mut options = Options::default();
    options.dialect =
        [None, Some(Dialect::MySql), Some(Dialect::Postgres), Some(Dialect::Sqlite)][usize::from(choice & 3)];
    options.rows = choice & 4 > 0;
    let reference = read_whole_dump(dump, &options);
    let expected = (reference.literals, reference.values);
    let mut state = usize::from(*choice);
    let mut random_len = || {
        state = state.wrapping_mul(31).wrapping_add(7) % 251;
        1 + state % 23
    };
    assert_eq!(read_in_windows(dump, options.clone(), || dump.len().max(1)).expect("no limit"), expected);
    assert_eq!(read_in_windows(dump, options.clone(), &mut random_len).expect("no limit"), expected);
    let mut previous_end = 0;
    for value in &expected.1 {
        assert!(value.full_range.start <= value.full_range.end && value.full_range.end <= dump.len());
        if let Content::Literal(body, quoting) = &value.content {
            check_literal(*quoting, &dump[body.clone()]);
        }
    }
    for literal in &expected.0 {
        assert!(previous_end <= literal.full_range.start && literal.full_range.start <= literal.body.start);
        assert!(literal.body.end <= literal.full_range.end && literal.full_range.end <= dump.len());
        previous_end = literal.full_range.end;
        check_literal(literal.quoting, &dump[literal.body.clone()]);
    }
    options.literal = 3;
    options.names = 1000;
    assert_eq!(
        read_in_windows(dump, options.clone(), &mut random_len).is_ok(),
        read_in_windows(dump, options, || 1).is_ok(),
        "limits hold in windows of any size"
    );
}

/// Checks that the decoded text of a literal is encoded to a literal with the same text.
fn check_literal(quoting: Quoting, raw: &[u8]) {
    let Some(decoded) = quoting.decode(raw) else { return };
    let text = decoded.text();
    let mut encoded = Vec::new();
    let range = ReplacedRange { raw, start: decoded.raw_offset(0), end: raw.len() };
    if quoting.encode(text, &range, &mut encoded) {
        let encoded = [&raw[..range.start], &encoded].concat();
        let redecoded = quoting.decode(&encoded).expect("what was encoded");
        assert!(redecoded.text() == text, "{quoting:?} {:?}", String::from_utf8_lossy(raw));
    }
}
