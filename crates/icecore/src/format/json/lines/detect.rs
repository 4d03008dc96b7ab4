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

/// The first two lines must be one object or array each, or more than half of the first lines: one of them may be
/// damaged.
pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    let input = strip_byte_order_mark(input);
    let part = input.get(..EXAMINED_BYTES).unwrap_or(input);
    let is_whole = |line: &&[u8]| line.ends_with(b"\n") || part.len() == input.len();
    let lines = part.split_inclusive(|byte| *byte == b'\n').take_while(is_whole);
    let (mut line_count, mut documents) = (0, 0);
    for line in lines.filter(|line| !line.trim_ascii().is_empty()).take(MAX_LINES) {
        let is_readable = matches!(line.trim_ascii_start(), [b'{' | b'[', ..]) && is_document(line);
        if !is_readable && documents > 1 {
            // A bad line later is left to the reader.
            break;
        }
        line_count += 1;
        documents += usize::from(is_readable);
    }
    let typed = if is_typed_json(input, &ReadOptions::default()) { "typed" } else { "plain" };
    let damage = if documents < line_count { ", with damaged lines" } else { "" };
    let guess = || Guess { certainty: Certainty::Sure, variant: format!("{typed}{damage}") };
    (documents > 1 && documents * 2 > line_count).then(guess)
}

fn is_document(line: &[u8]) -> bool {
    let limits = Limits { depth: u32::MAX, ..Limits::default() };
    let options = ReadOptions { surrogates: Surrogates::Keep, ..ReadOptions::default() };
    let mut tape = Tape::new();
    let (consumed, error) = Reader::<_, true, false>::new(line, &mut tape, &limits, &options).read();
    error.is_none() && consumed == line.len()
}
