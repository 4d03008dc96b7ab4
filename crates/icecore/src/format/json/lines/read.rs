//! Reads lines.

use crate::document::{Kind, Node, Recorder, Sink};
use crate::error::Error;
use crate::format::json::ReadOptions;
use crate::format::json::read::Reader;
use crate::limits::Limits;

/// Reads all lines as the items of one array. Returns how far it got, and the error
/// that stopped it.
pub(super) fn read_lines<S: Sink, const FAST: bool, const RELAXED: bool>(
    input: &[u8],
    sink: &mut S,
    limits: &Limits,
    options: &ReadOptions,
) -> (usize, Option<Error>) {
    let root = sink.tape().push(Node::open(Kind::Array, 0));
    sink.record_begin(root, 0);
    let mut reader = Reader::<_, FAST, RELAXED>::new(input, sink, limits, options);
    let (mut offset, mut count, mut number) = (0, 0, 0u64);
    let mut error = None;
    while offset < input.len() && error.is_none() {
        let rest = input.get(offset..).unwrap_or(&[]);
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(input.len(), |len| offset + len);
        number += 1;
        match reader.read_line(input, root, offset, end) {
            Ok(has_document) => count += u32::from(has_document),
            Err(found) => {
                error = Some(found.in_line(number, end < input.len()));
                // The part of the line that was read counts.
                count += 1;
            }
        }
        offset = reader.position();
    }
    reader.return_predictions();
    let tape = sink.tape();
    count = count.min(tape.len() - root - 1);
    tape.close_container(root, count);
    sink.record_end(root, offset);
    (offset, error)
}
