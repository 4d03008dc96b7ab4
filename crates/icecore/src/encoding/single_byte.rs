//! Single-byte encodings whose lower half is ASCII.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The characters of the upper half.
pub(super) type UpperHalf = [Option<char>; 128];

/// Returns the table of this encoding, if it is a single-byte encoding.
pub(super) fn find_table(name: &str) -> Option<&'static UpperHalf> {
    static TABLES: OnceLock<HashMap<String, UpperHalf>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| include_str!("single_byte.txt").lines().filter_map(parse_table_line).collect());
    tables.get(&name.to_ascii_uppercase())
}

fn parse_table_line(line: &str) -> Option<(String, UpperHalf)> {
    let mut words = line.split(' ');
    let name = words.next()?.to_ascii_uppercase();
    let mut table = [None; 128];
    for ((slot, byte), word) in table.iter_mut().zip(128..).zip(words) {
        *slot = match word {
            "." => char::from_u32(byte),
            "-" => None,
            point => u32::from_str_radix(point, 16).ok().and_then(char::from_u32),
        };
    }
    Some((name, table))
}

pub(super) fn decode_single_byte<'b>(table: &UpperHalf, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
    if bytes.is_ascii() {
        return std::str::from_utf8(bytes).ok().map(Cow::Borrowed);
    }
    let character = |byte: &u8| match byte {
        0..128 => Some(char::from(*byte)),
        _ => table[usize::from(*byte) - 128],
    };
    bytes.iter().map(character).collect::<Option<String>>().map(Cow::Owned)
}
