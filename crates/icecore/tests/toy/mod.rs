//! A made-up format that shows what a new format needs. `FORMAT.md` next to this file describes it.

use super::feed::Feed;
use super::{Capabilities, Certainty, Format, Guess, Scan, Writer};
use crate::document::{Cursor, Document, Kind, Location, Node, Recorder, Sink, Value};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::output::{LossKind, Losses, Output, Written, write_metered};

pub static FORMAT: Format = Format {
    name: "toy",
    aliases: &[],
    title: "a made-up format",
    options: &[],
    page: include_str!("FORMAT.md"),
    can: Capabilities { extension: "toy", restarts: &[super::Restart::from_signature(MAGIC)], ..Capabilities::BINARY },
    detect: |input| input.starts_with(MAGIC).then(|| Guess { certainty: Certainty::Sure, variant: String::new() }),
    begins: None,
    detect_in_string: None,
    strings: None,
    hides: None,
    reader: |_| Box::new(Toy),
    writer: |_| Box::new(Toy),
};

const MAGIC: &[u8] = b"toy ";

#[derive(Debug)]
struct Toy;

impl Writer for Toy {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write_metered(document, limits, out, |out| write(document, limits, out))
    }
}

impl Feed for Toy {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        let mut scan = Scan::new(input);
        let error = read(&mut scan, limits, sink).err();
        let next = sink.next_node();
        let error = error.map(|error| error.on_path(sink.tape().path_to(next, input)));
        (scan.offset, error)
    }
}

fn read<S: Sink>(scan: &mut Scan<'_>, limits: &Limits, sink: &mut S) -> Result<(), Error> {
    let is_toy = scan.read_array::<4>("the magic")? == *MAGIC;
    if !is_toy {
        return Err(Error::new(ErrorKind::Format).at(0).expecting("`toy `"));
    }
    // Open containers: the node, the number of children, and the byte that ends it.
    let mut open: Vec<(u32, u32, u8)> = Vec::new();
    let mut key = 0;
    loop {
        let (start, letter) = (scan.offset, scan.read_array::<1>("a value")?[0]);
        if open.last().is_some_and(|(.., end)| *end == letter) {
            let (index, count, _) = open.pop().unwrap_or_default();
            sink.tape().close_container(index, count);
            sink.record_end(index, scan.offset);
        } else {
            if let Some((_, count, end)) = open.last_mut() {
                *count += 1;
                if *end == b'}' && letter == b's' && key == 0 {
                    *count -= 1;
                    let name = text(scan, limits)?;
                    key = sink
                        .tape()
                        .intern_key(Node::leaf(Kind::Bytes, 0), scan.input.get(name).unwrap_or(&[]))
                        .unwrap_or(0);
                    continue;
                }
            }
            let mut node = match letter {
                b'n' => Node::leaf(Kind::Null, 0),
                b'i' => Node::int(digits(scan, b';')? as i64),
                b's' => {
                    let range = text(scan, limits)?;
                    Node::string(Kind::Bytes, Location::Input(range.start as u64), range.len() as u32)
                }
                b'[' => Node::open(Kind::Array, 0),
                b'{' => Node::open(Kind::Map, 0),
                b'o' => Node::open(Kind::Object, 0),
                _ => return Err(Error::new(ErrorKind::Malformed).at(start).expecting("one of n i s [ { o")),
            };
            node.key = std::mem::take(&mut key);
            let index = sink.tape().push(node);
            sink.record_begin(index, start);
            if sink.next_node() > limits.nodes || open.len() >= limits.depth as usize {
                return Err(limits.too_deep().at(start));
            }
            match letter {
                b'[' | b'{' => {
                    open.push((index, 0, letter + 2));
                    continue;
                }
                b'o' => {
                    let _ = scan.read_array::<1>("a class")?;
                    let class = text(scan, limits)?;
                    let class = scan.input.get(class).unwrap_or(&[]).to_vec();
                    let class = sink.tape().intern_class(Kind::Bytes, &class)?;
                    sink.tape().set_class(index, class);
                    open.push((index, 0, 0));
                    continue;
                }
                _ => sink.record_end(index, scan.offset),
            }
        }
        // An object ends with its body.
        while let Some((index, count, 0)) = open.last().copied() {
            sink.tape().close_container(index, count);
            sink.record_end(index, scan.offset);
            open.pop();
        }
        if open.is_empty() {
            let _ = scan.read_array::<1>("the end of the line")?;
            return Ok(());
        }
    }
}

fn digits(scan: &mut Scan<'_>, end: u8) -> Result<u64, Error> {
    let mut value = 0u64;
    loop {
        match scan.read_array::<1>("a digit")?[0] {
            byte if byte == end => return Ok(value),
            digit if digit.is_ascii_digit() => value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0')),
            _ => return Err(Error::new(ErrorKind::Malformed).at(scan.offset - 1).expecting("a digit")),
        }
    }
}

/// Returns the range of a text whose `s` was already read.
fn text(scan: &mut Scan<'_>, limits: &Limits) -> Result<std::ops::Range<usize>, Error> {
    let len = digits(scan, b':')?;
    if len > limits.string {
        return Err(limits.too_long(len).at(scan.offset));
    }
    let start = scan.offset;
    scan.read_bytes(len as usize, "a text")?;
    Ok(start..scan.offset)
}

fn write(document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
    enum Step<'d> {
        Value(Cursor<'d>),
        Text(Vec<u8>),
    }
    let mut losses = Losses::with_limits(limits);
    let mut steps = vec![Step::Text(b"\n".to_vec()), Step::Value(document.root()), Step::Text(MAGIC.to_vec())];
    let encode = |bytes: &[u8]| [format!("s{}:", bytes.len()).as_bytes(), bytes].concat();
    while let Some(step) = steps.pop() {
        let value = match step {
            Step::Text(text) => {
                out.buffer().extend_from_slice(&text);
                out.allow_flush()?;
                continue;
            }
            Step::Value(value) => value,
        };
        let start = steps.len();
        match value.value() {
            Value::Null => steps.push(Step::Text(b"n".to_vec())),
            Value::Int(number) if number >= 0 => steps.push(Step::Text(format!("i{number};").into_bytes())),
            Value::Bytes(bytes) | Value::Text(bytes) => steps.push(Step::Text(encode(bytes))),
            Value::Array => {
                steps.push(Step::Text(b"[".to_vec()));
                steps.extend(value.items().map(Step::Value));
                steps.push(Step::Text(b"]".to_vec()));
            }
            Value::Map => {
                steps.push(Step::Text(b"{".to_vec()));
                steps.extend(
                    value.entries().flat_map(|(key, value)| [Step::Text(encode(key.bytes())), Step::Value(value)]),
                );
                steps.push(Step::Text(b"}".to_vec()));
            }
            Value::Object(class, body) => {
                steps.push(Step::Text([b"o", &encode(class)[..]].concat()));
                steps.push(Step::Value(body));
            }
            _ => {
                losses.add(LossKind::Float, || document.path(value.index()));
                steps.push(Step::Text(b"n".to_vec()));
            }
        }
        steps[start..].reverse();
    }
    Ok(losses)
}
