//! Detection of JSON lines.

use crate::document::Tape;
use crate::format::json::read::Reader;
use crate::format::json::{Surrogates, is_typed_json, strip_byte_order_mark};
use crate::format::{Certainty, Guess, json::ReadOptions};
use crate::limits::Limits;

/// Number of bytes of the input that are examined.
const EXAMINED_BYTES: usize = 256 << 10;
/// Number of lines that are examined.
const MAX_LINES: usize = 8;

/// The first lines, at least two, must be one object or array each.
pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    let input = strip_byte_order_mark(input);
    let beginning = input.get(..EXAMINED_BYTES).unwrap_or(input);
    let mut lines = beginning.split_inclusive(|byte| *byte == b'\n');
    let complete = |line: &&[u8]| line.ends_with(b"\n") || beginning.len() == input.len();
    let lines = lines.by_ref().take_while(complete).filter(|line| !line.trim_ascii().is_empty());
    let mut documents = 0;
    for line in lines.take(MAX_LINES) {
        if !matches!(line.trim_ascii_start(), [b'{' | b'[', ..]) || !is_document(line) {
            // A bad line later is left to the reader.
            break;
        }
        documents += 1;
    }
    let typed = if is_typed_json(input, &ReadOptions::default()) { "typed" } else { "plain" };
    (documents > 1).then(|| Guess { certainty: Certainty::Sure, variant: typed.to_owned() })
}

fn is_document(line: &[u8]) -> bool {
    let limits = Limits { depth: u32::MAX, ..Limits::default() };
    let options = ReadOptions { surrogates: Surrogates::Keep, ..ReadOptions::default() };
    let mut tape = Tape::new();
    let (consumed, error) = Reader::<_, true, false>::new(line, &mut tape, &limits, &options).read();
    error.is_none() && consumed == line.len()
}
