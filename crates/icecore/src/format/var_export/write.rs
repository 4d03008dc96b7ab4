//! The writer.
//!
//! It replays the spelling of a document that was read from this format. Without one it
//! writes what `var_export()` of PHP 8.2 would.

use super::leaf_text::{find_tag, push_case, push_digits};
use super::lex::is_word;
use super::text::{integer_key, is_class_in_code};
use super::{FORMAT, NAME, WriteOptions, kept, spelling};
use crate::document::{Document, Form, IS_KEY, Kind, NO_KEY, Node, Replay, flag, unmangled};
use crate::error::{Error, ErrorKind};
use crate::format::append::append_named;
use crate::format::php_losses::{key_text, lost_shape};
use crate::format::{too_long_a_chain, uncopied};
use crate::limits::Limits;
use crate::num::bigint;
use crate::output::{LossKind, Losses, Output, READY, Written};
use std::collections::HashSet;

/// Writes a document, and reports what PHP could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, if a key is an array or another container, or if links
/// form a circle; `Limit`, if the document is nested too deeply or grows too much by
/// links; `Output`, if the output was closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let document = &*uncopied(document, limits)?;
    append_named(document, &FORMAT, limits, out, |document, out| write_whole(document, options, limits, out))
}

impl crate::format::Writer for WriteOptions {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }
}

fn write_whole(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let spelling = document.spelling_of(NAME);
    let around = spelling.filter(|_| options.file.is_none());
    let is_file = options.file == Some(true);
    let piece = |code: u16| around.and_then(|known| known.get(code).map(|place| known.kept(place)));
    let is_in_php = is_file || piece(spelling::BEFORE).is_some_and(begins_php);
    let splits_tags = !is_in_php && !options.trusted;
    let piece = |code: u16| piece(code).filter(|text| !splits_tags || find_tag(text).is_none());
    let noted = spelling.filter(|spelling| !spelling.notes.is_empty());
    let mut writer = Writer {
        document,
        nodes: document.nodes(),
        limits,
        is_short: options.short,
        is_plain: options.plain,
        splits_tags,
        spelling: noted.map(|spelling| Replay::new(spelling, document.tape())),
        stack: Vec::new(),
        open: HashSet::new(),
        entered: Vec::new(),
        again: 0,
        most_again: limits.expanded_from(document.nodes().len()),
        losses: Losses::within(limits),
    };
    if document.header().is_some() {
        writer.losses.add(LossKind::Header, || "$".to_owned());
    }
    let before = if is_file { &b"<?php\n\nreturn "[..] } else { piece(spelling::BEFORE).unwrap_or(b"") };
    let behind = if is_file { &b";\n"[..] } else { piece(spelling::BEHIND).unwrap_or(b"") };
    out.buffer().extend_from_slice(before);
    let start = out.buffer().len();
    writer.value(document.root().index(), out.buffer())?;
    // `return[1]` was read, but `return` and `array` must not become one word.
    let buf = out.buffer();
    if before.last().is_some_and(|byte| is_word(*byte)) && buf.get(start).is_some_and(|byte| is_word(*byte)) {
        buf.insert(start, b' ');
    }
    while !writer.stack.is_empty() {
        writer.step(out)?;
    }
    out.buffer().extend_from_slice(behind);
    out.ready()?;
    Ok(writer.losses)
}

/// Whether PHP runs what follows this text in a file.
fn begins_php(before: &[u8]) -> bool {
    let text = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before).trim_ascii_start();
    text.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<?php"))
}

/// A container with children still to write.
#[derive(Clone, Copy)]
struct Frame {
    /// The next child.
    at: u32,
    /// Where the children end.
    end: u32,
    /// Number of children written.
    count: u32,
    shape: Shape,
    /// Whether it is an array and not a map.
    is_list: bool,
    /// Indentation of its first line.
    indent: usize,
    /// How many targets were open before it.
    entered: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Array,
    /// `(object) array(…)`
    Cast,
    /// `\Cls::__set_state(array(…))`
    State,
}

pub(super) struct Writer<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) nodes: &'d [Node],
    limits: &'d Limits,
    is_short: bool,
    is_plain: bool,
    /// Whether PHP tags in strings are split, because the text does not begin with one.
    pub(super) splits_tags: bool,
    spelling: Option<Replay<'d>>,
    stack: Vec<Frame>,
    /// Link targets that are being written, also in their order.
    open: HashSet<u32>,
    entered: Vec<u32>,
    /// How many nodes were written through links, and the limit.
    again: u64,
    most_again: u64,
    losses: Losses,
}

impl<'d> Writer<'d> {
    pub(super) fn node(&self, at: u32) -> Node {
        self.nodes.get(at as usize).copied().unwrap_or(Node::leaf(Kind::Null, 0))
    }

    pub(super) fn lose(&mut self, kind: LossKind, at: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(at));
    }

    /// Returns the source text that was kept for the value at `at`.
    #[inline]
    pub(super) fn kept(&self, at: u32, code: u16) -> Option<&'d [u8]> {
        let source = self.spelling.as_ref()?.kept(at, code);
        source.filter(|source| !self.splits_tags || find_tag(source).is_none())
    }

    /// Starts a line.
    fn line(&self, indent: usize, buf: &mut Vec<u8>) {
        const BLANKS: &[u8; 256] = &[b' '; 256];
        buf.push(b'\n');
        let mut left = indent;
        while left > 0 {
            let len = left.min(BLANKS.len());
            buf.extend_from_slice(&BLANKS[..len]);
            left -= len;
        }
    }

    /// Continues in the innermost container, up to a nested container or its end.
    fn step(&mut self, out: &mut dyn Output) -> Result<(), Error> {
        let Some(mut frame) = self.stack.pop() else { return Ok(()) };
        let buf = out.buffer();
        while frame.at < frame.end {
            let mut at = frame.at;
            let key = self.node(at);
            // PHP does not have these entries: keys that are allowed but absent,
            // defaults.
            if key.key == IS_KEY && key.has(flag::PLACEHOLDER) && key.kind.is_string() {
                frame.at = self.document.tape().next(self.document.tape().next(at));
                continue;
            }
            if key.key != IS_KEY && key.key != NO_KEY && self.is_absent(key.key) {
                frame.at = self.document.tape().next(at);
                continue;
            }
            if key.key == NO_KEY && !frame.is_list {
                break;
            }
            let inner = frame.indent + if self.is_short { 4 } else { 2 };
            self.line(inner + usize::from(frame.shape != Shape::Array && !self.is_short), buf);
            if key.key == IS_KEY {
                at = self.document.tape().next(at);
            }
            self.key(&key, frame.at, at, &frame, buf)?;
            frame.at = self.document.tape().next(at);
            frame.count += 1;
            let depth = self.stack.len();
            self.stack.push(frame);
            self.value_in(at, inner, buf)?;
            if self.stack.len() > depth + 1 {
                return if buf.len() >= READY { out.ready() } else { Ok(()) };
            }
            self.stack.pop();
            buf.push(b',');
            if buf.len() >= READY {
                self.stack.push(frame);
                return out.ready();
            }
        }
        self.end(&frame, buf);
        if buf.len() >= READY { out.ready() } else { Ok(()) }
    }

    /// Writes the end of a container, and the comma after it.
    fn end(&mut self, frame: &Frame, buf: &mut Vec<u8>) {
        if frame.count > 0 || !self.is_short {
            self.line(frame.indent, buf);
        }
        buf.push(if self.is_short { b']' } else { b')' });
        if frame.shape == Shape::State {
            buf.push(b')');
        }
        for at in self.entered.drain(frame.entered..) {
            self.open.remove(&at);
        }
        if !self.stack.is_empty() {
            buf.push(b',');
        }
    }

    fn is_absent(&self, id: u16) -> bool {
        self.document.tape().keys().get(u32::from(id)).is_none_or(|name| name.node.has(flag::PLACEHOLDER))
    }

    // -- Keys -----------------------------------------------------------------------

    /// Writes the key of the value at `value`; `key` is the key's node, if it has one.
    fn key(&mut self, key: &Node, at: u32, value: u32, frame: &Frame, buf: &mut Vec<u8>) -> Result<(), Error> {
        if key.key == NO_KEY && self.is_short && frame.shape == Shape::Array {
            return Ok(());
        }
        let document = self.document;
        let (node, bytes) = match key.key {
            NO_KEY => (Node::int(i64::from(frame.count)), &[][..]),
            IS_KEY => (*key, if key.kind.has_bytes() { document.bytes(key) } else { &[][..] }),
            id => match document.tape().keys().get(u32::from(id)) {
                Some(name) => (name.node, name.bytes),
                None => (Node::leaf(Kind::Null, 0), &[][..]),
            },
        };
        let is_object = frame.shape != Shape::Array;
        let source = self.kept(value, spelling::KEY);
        if let Some(source) = source.filter(|source| kept::is_key(source, &node, bytes, is_object)) {
            buf.extend_from_slice(source);
        } else {
            match node.kind {
                Kind::Int => {
                    if frame.shape == Shape::Cast && key.key != NO_KEY {
                        self.lose(LossKind::Key, value);
                    }
                    self.int_key(node.payload as i64, frame.shape, buf);
                }
                Kind::Bytes | Kind::Text => {
                    if frame.shape == Shape::Array && integer_key(bytes).is_some() {
                        self.lose(LossKind::Key, value);
                    }
                    self.text_key(bytes, value, frame.shape, buf);
                }
                Kind::Symbol | Kind::Encoded => {
                    self.lose(if node.kind == Kind::Symbol { LossKind::Symbol } else { LossKind::Encoding }, value);
                    self.text_key(bytes, value, frame.shape, buf);
                }
                Kind::Null | Kind::Bool | Kind::Uint | Kind::Float => {
                    self.lose(LossKind::Key, value);
                    let text = key_text(&node).unwrap_or_default();
                    self.text_key(&text, value, frame.shape, buf);
                }
                kind => {
                    return Err(Error::new(ErrorKind::Unrepresentable)
                        .on_path(document.path(at))
                        .expecting("a key that is a string or an integer")
                        .finding(format!("{kind:?}")));
                }
            }
        }
        buf.extend_from_slice(b" => ");
        Ok(())
    }

    /// Writes an integer key. Names of properties are strings. Other classes get an
    /// array, whose keys may be integers.
    fn int_key(&self, value: i64, shape: Shape, buf: &mut Vec<u8>) {
        let is_name = shape == Shape::Cast;
        if is_name {
            buf.push(b'\'');
        }
        push_digits(value, buf);
        if is_name {
            buf.push(b'\'');
        }
    }

    fn text_key(&mut self, bytes: &[u8], value: u32, shape: Shape, buf: &mut Vec<u8>) {
        if shape != Shape::Array {
            let name = unmangled(bytes).unwrap_or(bytes);
            if name.len() < bytes.len() {
                self.lose(LossKind::Visibility, value);
            }
            return self.property(name, buf);
        }
        match integer_key(bytes) {
            Some(value) => push_digits(value, buf),
            None => self.string(bytes, buf),
        }
    }

    // -- Values ---------------------------------------------------------------------

    fn value(&mut self, at: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.value_at(at, 0, true, buf)
    }

    /// Writes a value after a key: objects and arrays start on their own line.
    fn value_in(&mut self, at: u32, indent: usize, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.value_at(at, indent, self.is_short, buf)
    }

    /// Writes the value at `at`: a leaf completely, a container up to its front.
    fn value_at(&mut self, mut at: u32, indent: usize, same_line: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        let first = at;
        let (entered, mut links) = (self.entered.len(), false);
        for _ in 0..=self.document.most_steps(self.limits) {
            let node = self.node(at);
            if node.has(flag::TARGET) && node.kind.is_container() && self.open.insert(at) {
                self.entered.push(at);
            }
            self.flag_losses(at, &node);
            match node.kind {
                Kind::Link | Kind::Alias => (at, links) = (self.link(at, node.payload)?, true),
                Kind::Ref | Kind::Attrs | Kind::Regexp | Kind::Code | Kind::Tied => {
                    self.wrapper_losses(at);
                    at += 1;
                }
                Kind::VString => {
                    self.wrapper_losses(at);
                    at = self.document.tape().next(at + 1);
                }
                Kind::Opaque => {
                    self.lose(LossKind::Opaque, at);
                    at += 1;
                }
                Kind::Object => match self.object(at, &node) {
                    Some(name) => {
                        let body = self.node(at + 1);
                        if body.has(flag::TARGET) && self.open.insert(at + 1) {
                            self.entered.push(at + 1);
                        }
                        self.flag_losses(at + 1, &body);
                        if node.form() == Form::Struct {
                            self.lose(LossKind::Struct, at);
                        }
                        lost_shape(self.document, at + 1, true, |kind| self.lose(kind, at + 1));
                        if !same_line {
                            self.line(indent, buf);
                        }
                        let shape = self.object_head(at, name, buf);
                        return self.entries(at + 1, shape, indent, entered);
                    }
                    None => {
                        self.lose(LossKind::Class, at);
                        at += 1;
                    }
                },
                Kind::Array | Kind::Map => {
                    lost_shape(self.document, at, false, |kind| self.lose(kind, at));
                    if !same_line {
                        self.line(indent, buf);
                    }
                    buf.extend_from_slice(if self.is_short { b"[" } else { b"array (" });
                    return self.entries(at, Shape::Array, indent, entered);
                }
                Kind::EnumCase => {
                    self.enum_case(at, &node, (!same_line).then_some(indent), buf);
                    return self.leave(entered);
                }
                Kind::BigInt if bigint::exceeds(self.document.bytes(&node), self.limits.digits) => {
                    return Err(self.limits.too_many_digits().on_path(self.document.path(at)));
                }
                _ => {
                    self.leaf(at, &node, buf);
                    return self.leave(entered);
                }
            }
        }
        Err(too_long_a_chain(self.document, first, links, self.limits))
    }

    /// Closes the targets that were entered on the way to a leaf.
    fn leave(&mut self, entered: usize) -> Result<(), Error> {
        for at in self.entered.drain(entered..) {
            self.open.remove(&at);
        }
        Ok(())
    }

    /// Returns the target of a link or an alias, to be written again: PHP's text has no
    /// links.
    fn link(&mut self, at: u32, target: u64) -> Result<u32, Error> {
        let target = u32::try_from(target).ok().filter(|target| (*target as usize) < self.nodes.len());
        let Some(target) = target else {
            return Err(Error::new(ErrorKind::BadLink).on_path(self.document.path(at)).finding("a link to nothing"));
        };
        if self.open.contains(&target) {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(self.document.path(at))
                .expecting("a value that does not contain itself")
                .finding("a link to what it is in")
                .helping("PHP writes NULL there, with a warning"));
        }
        self.lose(LossKind::Sharing, at);
        let nodes = self.document.tape().next(target).saturating_sub(target).max(1);
        self.again = self.again.saturating_add(u64::from(nodes));
        if self.again > self.most_again {
            return Err(self.limits.too_expanded(self.most_again).on_path(self.document.path(at)));
        }
        Ok(target)
    }

    /// Returns the class of an object whose body is a map or an array. `None` if PHP
    /// would refuse it.
    fn object(&self, at: u32, node: &Node) -> Option<&'d [u8]> {
        let body = self.node(at + 1);
        if !matches!(body.kind, Kind::Array | Kind::Map) || node.end() == at + 1 {
            return None;
        }
        let name = self.document.tape().classes().get(node.class())?.bytes;
        (!self.is_plain && is_class_in_code(name)).then_some(name)
    }

    fn object_head(&mut self, at: u32, name: &[u8], buf: &mut Vec<u8>) -> Shape {
        let array = if self.is_short { &b"["[..] } else { b"array(" };
        let kept = self.kept(at, spelling::CLASS).filter(|kept| kept.strip_prefix(b"\\").unwrap_or(kept) == name);
        let shape = if name == b"stdClass" && kept.is_none() { Shape::Cast } else { Shape::State };
        match (shape, kept) {
            (Shape::Cast, _) => buf.extend_from_slice(b"(object) "),
            (_, Some(kept)) => buf.extend_from_slice(kept),
            _ => {
                buf.push(b'\\');
                buf.extend_from_slice(name);
            }
        }
        if shape == Shape::State {
            buf.extend_from_slice(b"::__set_state(");
        }
        buf.extend_from_slice(array);
        shape
    }

    /// Opens the container at `at`, whose head is written.
    fn entries(&mut self, at: u32, shape: Shape, indent: usize, entered: usize) -> Result<(), Error> {
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().on_path(self.document.path(at)));
        }
        let end = self.document.tape().next(at);
        let is_list = self.node(at).kind == Kind::Array;
        self.stack.push(Frame { at: at + 1, end, count: 0, shape, is_list, indent, entered });
        Ok(())
    }

    fn enum_case(&mut self, at: u32, node: &Node, line: Option<usize>, buf: &mut Vec<u8>) {
        let bytes = self.document.bytes(node);
        if self.is_plain || !super::write_leaf::is_case(bytes) {
            self.lose(LossKind::Name, at);
            return self.string(bytes, buf);
        }
        if let Some(indent) = line {
            self.line(indent, buf);
        }
        match self.kept(at, spelling::SOURCE).filter(|source| kept::is_leaf(source, node, bytes)) {
            Some(source) => buf.extend_from_slice(source),
            None => push_case(bytes, buf),
        }
    }
}
