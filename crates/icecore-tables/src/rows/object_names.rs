//! The columns of a table that is made from JSON objects: the keys of the first rows.

use super::object;
use icecore::Limits;
use icecore::format::Format;
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Maximum number of bytes that are read to learn the names.
const MAX_SAMPLE: usize = 64 << 20;

/// Maximum number of columns.
const MAX_NAMES: usize = 10_000;

/// Reads the keys of the first rows, in the order in which they appear, and returns them with an input that begins
/// with these rows again. Reads at most `max_rows` rows and 64 MiB, and returns at most 10,000 keys. Rows that are not
/// objects have no keys.
///
/// # Errors
/// Those of the input; or none of the rows has a key.
pub fn read_names(
    input: Box<dyn Read + Send>,
    max_rows: usize,
    json: &'static Format,
    limits: &Limits,
) -> io::Result<(Vec<String>, Box<dyn Read + Send>)> {
    let stage = object::row_stage(json);
    let mut input = BufReader::new(input);
    let (mut sample, mut names, mut known) = (Vec::new(), Vec::<String>::new(), HashSet::<Vec<u8>>::new());
    let mut is_empty = true;
    for _ in 0..max_rows {
        let start = sample.len();
        let remaining = MAX_SAMPLE.saturating_sub(start) as u64;
        if input.by_ref().take(remaining).read_until(b'\n', &mut sample)? == 0 {
            break;
        }
        let line = sample.get(start..).unwrap_or_default().trim_ascii();
        is_empty &= line.is_empty();
        object::visit_keys(line, &stage, limits, |key| {
            if names.len() < MAX_NAMES && known.insert(key.to_vec()) {
                names.push(String::from_utf8_lossy(key).into_owned());
            }
        });
    }
    if names.is_empty() && !is_empty {
        return Err(io::Error::other("none of the first rows is a JSON object with keys, so no columns are known"));
    }
    Ok((names, Box::new(Cursor::new(sample).chain(input))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_the_rows_are_read_again() {
        let rows = b"{\"id\":1,\"a\":[1]}\nnot json\n\n{\"b\":{\"x\":1},\"id\":2}\n{\"late\":1}\n";
        let json = icecore::format::by_name("json").unwrap();
        let (names, mut input) = read_names(Box::new(&rows[..]), 4, json, &Limits::default()).unwrap();
        assert_eq!(names, ["id", "a", "b"]);
        let mut again = Vec::new();
        input.read_to_end(&mut again).unwrap();
        assert_eq!(again, rows);
    }
}
