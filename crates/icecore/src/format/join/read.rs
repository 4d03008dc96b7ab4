//! The reader: splits the input at each separator, as perl's `split` does.

use super::{FORMAT, Options};
use crate::document::{Kind, Location, Node, Recorder, Sink};
use crate::error::Error;
use crate::format::Format;
use crate::format::feed::Feed;
use crate::format::flat::convert_list;
use crate::limits::Limits;
use memchr::memmem;

/// The whole input is split.
impl Feed for Options {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        (input.len(), split_input(input, self, limits, sink).err())
    }
}

fn split_input<S: Sink>(input: &[u8], options: &Options, limits: &Limits, sink: &mut S) -> Result<(), Error> {
    options.check()?;
    let root = sink.tape().push(Node::open(Kind::Array, 0));
    sink.record_begin(root, 0);
    let result = read_fields(input, options, limits, sink);
    let tape = sink.tape();
    if options.trim {
        // `aux` is the length of the field.
        while tape.len() > root + 1 && tape.nodes.last().is_some_and(|node| node.aux == 0) {
            tape.nodes.pop();
        }
    }
    let count = tape.len() - root - 1;
    tape.close_container(root, count);
    sink.record_end(root, input.len());
    result.and_then(|()| convert_list(sink.tape(), input, &options.items_as))
}

/// Reads the fields; the empty input has none.
fn read_fields<S: Sink>(input: &[u8], options: &Options, limits: &Limits, sink: &mut S) -> Result<(), Error> {
    if input.is_empty() {
        return Ok(());
    }
    let mut start = 0;
    match options.separator[..] {
        [byte] => {
            for end in memchr::memchr_iter(byte, input) {
                read_field(start, end, end + 1, limits, sink)?;
                start = end + 1;
            }
        }
        _ => {
            for end in memmem::find_iter(input, &options.separator) {
                read_field(start, end, end + options.separator.len(), limits, sink)?;
                start = end + options.separator.len();
            }
        }
    }
    read_field(start, input.len(), input.len(), limits, sink)
}

/// Reads a field, and the separator after it up to `separator_end`.
#[inline]
fn read_field<S: Sink>(
    start: usize,
    end: usize,
    separator_end: usize,
    limits: &Limits,
    sink: &mut S,
) -> Result<(), Error> {
    let len = end - start;
    if len as u64 > limits.string {
        return Err(limits.too_long(len as u64).at(start));
    }
    if sink.nodes().len() >= limits.nodes as usize {
        return Err(limits.too_many_nodes().at(start));
    }
    let tape = sink.tape();
    let node = tape.new_string_at(Kind::Bytes, Location::Input(start as u64), len);
    let index = tape.push(node);
    sink.record_begin(index, start);
    sink.record_span(start, end, index, "field");
    sink.record_end(index, end);
    sink.record_span(end, separator_end, crate::document::NO_NODE, "separator");
    Ok(())
}
