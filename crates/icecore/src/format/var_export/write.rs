//! The writer.
//!
//! It replays the spelling of a document that was read from this format. Without one it
//! writes what `var_export()` of PHP 8.2 would.

use super::leaf_text::{find_tag, push_case, push_digits};
use super::lex::is_word_byte;
use super::text::{integer_key, is_class_in_code};
use super::words::ContainerSyntax;
use super::{FORMAT, NAME, WriteOptions, source_text, spelling};
use crate::document::{Document, Form, IS_KEY, Kind, NO_KEY, Node, Replay, flag, strip_visibility};
use crate::error::{Error, ErrorKind};
use crate::format::append::append_named;
use crate::format::php_losses::{key_text, report_array_kind_loss};
use crate::format::{chain_too_long_error, check_and_expand};
use crate::limits::Limits;
use crate::num::bigint;
use crate::output::{FLUSH_SIZE, LossKind, Losses, Output, Written};
use std::collections::HashSet;

/// Writes a document, and reports what PHP could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, if a key is an array or another container, or if links
/// form a circle; `Limit`, if the document is nested too deeply or grows too much by
/// links; `Output`, if the output was closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let document = &*check_and_expand(document, limits)?;
    append_named(document, &FORMAT, limits, out, |document, out| write_document(document, options, limits, out))
}

impl crate::format::Writer for WriteOptions {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }
}

fn write_document(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let spelling = document.spelling_of(NAME);
    let surroundings = spelling.filter(|_| options.file.is_none());
    let is_file = options.file == Some(true);
    let piece = |code: u16| surroundings.and_then(|known| known.get(code).map(|location| known.stored_bytes(location)));
    let is_in_php = is_file || piece(spelling::BEFORE).is_some_and(begins_php);
    let splits_tags = !is_in_php && !options.trusted;
    let piece = |code: u16| piece(code).filter(|text| !splits_tags || find_tag(text).is_none());
    let spelling_with_notes = spelling.filter(|spelling| !spelling.notes.is_empty());
    let mut writer = Writer {
        document,
        nodes: document.nodes(),
        limits,
        is_short: options.short,
        is_plain: options.plain,
        splits_tags,
        spelling: spelling_with_notes.map(|spelling| Replay::new(spelling, document.tape())),
        stack: Vec::new(),
        open_targets: HashSet::new(),
        target_order: Vec::new(),
        repeated_nodes: 0,
        max_repeated_nodes: limits.expanded_from(document.nodes().len()),
        losses: Losses::with_limits(limits),
    };
    if document.header().is_some() {
        writer.losses.add(LossKind::Header, || "$".to_owned());
    }
    let prefix = if is_file { &b"<?php\n\nreturn "[..] } else { piece(spelling::BEFORE).unwrap_or(b"") };
    let suffix = if is_file { &b";\n"[..] } else { piece(spelling::AFTER).unwrap_or(b"") };
    out.buffer().extend_from_slice(prefix);
    let start = out.buffer().len();
    writer.write_root(document.root().index(), out.buffer())?;
    // `return[1]` was read, but `return` and `array` must not become one word.
    let buf = out.buffer();
    if prefix.last().is_some_and(|byte| is_word_byte(*byte)) && buf.get(start).is_some_and(|byte| is_word_byte(*byte)) {
        buf.insert(start, b' ');
    }
    while !writer.stack.is_empty() {
        writer.continue_container(out)?;
    }
    out.buffer().extend_from_slice(suffix);
    out.allow_flush()?;
    Ok(writer.losses)
}

/// Returns `true` if PHP runs what follows this text in a file.
fn begins_php(before: &[u8]) -> bool {
    let text = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before).trim_ascii_start();
    text.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<?php"))
}

/// A container with children still to write.
#[derive(Clone, Copy)]
struct WriteFrame {
    /// The next child.
    next: u32,
    /// Where the children end.
    end: u32,
    /// Number of children written.
    count: u32,
    syntax: ContainerSyntax,
    /// Whether it is an array and not a map.
    is_list: bool,
    /// Indentation of its first line.
    indent: usize,
    /// Number of targets that were open before it.
    outer_target_count: usize,
}

pub(super) struct Writer<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) nodes: &'d [Node],
    limits: &'d Limits,
    /// See [`WriteOptions::short`].
    is_short: bool,
    /// See [`WriteOptions::plain`].
    is_plain: bool,
    /// Whether PHP tags in strings are split, because the text does not begin with one.
    pub(super) splits_tags: bool,
    spelling: Option<Replay<'d>>,
    stack: Vec<WriteFrame>,
    /// Link targets that are being written, as a set and in their order.
    open_targets: HashSet<u32>,
    target_order: Vec<u32>,
    /// Number of nodes that were written through links.
    repeated_nodes: u64,
    max_repeated_nodes: u64,
    losses: Losses,
}

impl<'d> Writer<'d> {
    pub(super) fn node(&self, index: u32) -> Node {
        self.nodes.get(index as usize).copied().unwrap_or(Node::leaf(Kind::Null, 0))
    }

    pub(super) fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    /// Returns the source text that was kept for the value at `index`.
    #[inline]
    pub(super) fn kept_source(&self, index: u32, code: u16) -> Option<&'d [u8]> {
        let source = self.spelling.as_ref()?.stored_bytes(index, code);
        source.filter(|source| !self.splits_tags || find_tag(source).is_none())
    }

    /// Starts a line.
    fn start_line(&self, indent: usize, buf: &mut Vec<u8>) {
        const BLANKS: &[u8; 256] = &[b' '; 256];
        buf.push(b'\n');
        let mut remaining = indent;
        while remaining > 0 {
            let len = remaining.min(BLANKS.len());
            buf.extend_from_slice(&BLANKS[..len]);
            remaining -= len;
        }
    }

    /// Continues in the innermost container, up to a nested container or its end.
    fn continue_container(&mut self, out: &mut dyn Output) -> Result<(), Error> {
        let Some(mut frame) = self.stack.pop() else { return Ok(()) };
        let buf = out.buffer();
        while frame.next < frame.end {
            let mut index = frame.next;
            let key = self.node(index);
            // PHP does not have these entries: keys of a restricted hash that are allowed but absent, and default
            // values.
            if key.key == IS_KEY && key.has(flag::PLACEHOLDER) && key.kind.is_string() {
                frame.next = self.document.tape().index_after(self.document.tape().index_after(index));
                continue;
            }
            if key.key != IS_KEY && key.key != NO_KEY && self.is_absent(key.key) {
                frame.next = self.document.tape().index_after(index);
                continue;
            }
            if key.key == NO_KEY && !frame.is_list {
                break;
            }
            let inner = frame.indent + if self.is_short { 4 } else { 2 };
            self.start_line(inner + usize::from(frame.syntax != ContainerSyntax::Array && !self.is_short), buf);
            if key.key == IS_KEY {
                index = self.document.tape().index_after(index);
            }
            self.write_key(&key, frame.next, index, &frame, buf)?;
            frame.next = self.document.tape().index_after(index);
            frame.count += 1;
            let depth = self.stack.len();
            self.stack.push(frame);
            self.write_nested_value(index, inner, buf)?;
            if self.stack.len() > depth + 1 {
                return if buf.len() >= FLUSH_SIZE { out.allow_flush() } else { Ok(()) };
            }
            self.stack.pop();
            buf.push(b',');
            if buf.len() >= FLUSH_SIZE {
                self.stack.push(frame);
                return out.allow_flush();
            }
        }
        self.close_container(&frame, buf);
        if buf.len() >= FLUSH_SIZE { out.allow_flush() } else { Ok(()) }
    }

    /// Writes the end of a container, and the comma after it.
    fn close_container(&mut self, frame: &WriteFrame, buf: &mut Vec<u8>) {
        if frame.count > 0 || !self.is_short {
            self.start_line(frame.indent, buf);
        }
        buf.push(if self.is_short { b']' } else { b')' });
        if frame.syntax == ContainerSyntax::State {
            buf.push(b')');
        }
        for target in self.target_order.drain(frame.outer_target_count..) {
            self.open_targets.remove(&target);
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
    fn write_key(
        &mut self,
        key: &Node,
        key_index: u32,
        value: u32,
        frame: &WriteFrame,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if key.key == NO_KEY && self.is_short && frame.syntax == ContainerSyntax::Array {
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
        let is_object = frame.syntax != ContainerSyntax::Array;
        let source = self.kept_source(value, spelling::KEY);
        if let Some(source) = source.filter(|source| source_text::is_key_source(source, &node, bytes, is_object)) {
            buf.extend_from_slice(source);
        } else {
            match node.kind {
                Kind::Int => {
                    if frame.syntax == ContainerSyntax::Cast && key.key != NO_KEY {
                        self.record_loss(LossKind::Key, value);
                    }
                    self.write_integer_key(node.payload as i64, frame.syntax, buf);
                }
                Kind::Bytes | Kind::Text => {
                    if frame.syntax == ContainerSyntax::Array && integer_key(bytes).is_some() {
                        self.record_loss(LossKind::Key, value);
                    }
                    self.write_text_key(bytes, value, frame.syntax, buf);
                }
                Kind::Symbol | Kind::Encoded => {
                    self.record_loss(
                        if node.kind == Kind::Symbol { LossKind::Symbol } else { LossKind::Encoding },
                        value,
                    );
                    self.write_text_key(bytes, value, frame.syntax, buf);
                }
                Kind::Null | Kind::Bool | Kind::Uint | Kind::Float => {
                    self.record_loss(LossKind::Key, value);
                    let text = key_text(&node).unwrap_or_default();
                    self.write_text_key(&text, value, frame.syntax, buf);
                }
                kind => {
                    return Err(Error::new(ErrorKind::Unrepresentable)
                        .on_path(document.path(key_index))
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
    fn write_integer_key(&self, value: i64, syntax: ContainerSyntax, buf: &mut Vec<u8>) {
        let is_name = syntax == ContainerSyntax::Cast;
        if is_name {
            buf.push(b'\'');
        }
        push_digits(value, buf);
        if is_name {
            buf.push(b'\'');
        }
    }

    fn write_text_key(&mut self, bytes: &[u8], value: u32, syntax: ContainerSyntax, buf: &mut Vec<u8>) {
        if syntax != ContainerSyntax::Array {
            let name = strip_visibility(bytes).unwrap_or(bytes);
            if name.len() < bytes.len() {
                self.record_loss(LossKind::Visibility, value);
            }
            return self.write_property(name, buf);
        }
        match integer_key(bytes) {
            Some(value) => push_digits(value, buf),
            None => self.write_string(bytes, buf),
        }
    }

    // -- Values ---------------------------------------------------------------------

    fn write_root(&mut self, index: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.write_value_at(index, 0, true, buf)
    }

    /// Writes a value after a key: objects and arrays start on their own line.
    fn write_nested_value(&mut self, index: u32, indent: usize, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.write_value_at(index, indent, self.is_short, buf)
    }

    /// Writes the value at `index`: a leaf completely, a container up to its beginning.
    fn write_value_at(
        &mut self,
        mut index: u32,
        indent: usize,
        is_on_same_line: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let first = index;
        let (outer_target_count, mut has_links) = (self.target_order.len(), false);
        for _ in 0..=self.document.max_link_steps(self.limits) {
            let node = self.node(index);
            if node.has(flag::TARGET) && node.kind.is_container() && self.open_targets.insert(index) {
                self.target_order.push(index);
            }
            self.record_flag_losses(index, &node);
            match node.kind {
                Kind::Link | Kind::Alias => (index, has_links) = (self.follow_link(index, node.payload)?, true),
                Kind::Ref | Kind::Attrs | Kind::Regexp | Kind::Code | Kind::Tied => {
                    self.record_wrapper_losses(index);
                    index += 1;
                }
                Kind::VString => {
                    self.record_wrapper_losses(index);
                    index = self.document.tape().index_after(index + 1);
                }
                Kind::Opaque => {
                    self.record_loss(LossKind::Opaque, index);
                    index += 1;
                }
                Kind::Object => match self.find_object_class(index, &node) {
                    Some(name) => {
                        let body = self.node(index + 1);
                        if body.has(flag::TARGET) && self.open_targets.insert(index + 1) {
                            self.target_order.push(index + 1);
                        }
                        self.record_flag_losses(index + 1, &body);
                        if node.form() == Form::Struct {
                            self.record_loss(LossKind::Struct, index);
                        }
                        report_array_kind_loss(self.document, index + 1, true, |kind| {
                            self.record_loss(kind, index + 1)
                        });
                        if !is_on_same_line {
                            self.start_line(indent, buf);
                        }
                        let syntax = self.write_object_head(index, name, buf);
                        return self.open_container(index + 1, syntax, indent, outer_target_count);
                    }
                    None => {
                        self.record_loss(LossKind::Class, index);
                        index += 1;
                    }
                },
                Kind::Array | Kind::Map => {
                    report_array_kind_loss(self.document, index, false, |kind| self.record_loss(kind, index));
                    if !is_on_same_line {
                        self.start_line(indent, buf);
                    }
                    buf.extend_from_slice(if self.is_short { b"[" } else { b"array (" });
                    return self.open_container(index, ContainerSyntax::Array, indent, outer_target_count);
                }
                Kind::EnumCase => {
                    self.write_enum_case(index, &node, (!is_on_same_line).then_some(indent), buf);
                    return self.leave_targets(outer_target_count);
                }
                Kind::BigInt if bigint::exceeds(self.document.bytes(&node), self.limits.digits) => {
                    return Err(self.limits.too_many_digits().on_path(self.document.path(index)));
                }
                _ => {
                    self.write_leaf(index, &node, buf);
                    return self.leave_targets(outer_target_count);
                }
            }
        }
        Err(chain_too_long_error(self.document, first, has_links, self.limits))
    }

    /// Closes the targets that were entered on the way to a leaf.
    fn leave_targets(&mut self, outer_target_count: usize) -> Result<(), Error> {
        for target in self.target_order.drain(outer_target_count..) {
            self.open_targets.remove(&target);
        }
        Ok(())
    }

    /// Returns the target of a link or an alias, to be written again: PHP's text has no
    /// links.
    fn follow_link(&mut self, index: u32, target: u64) -> Result<u32, Error> {
        let target = u32::try_from(target).ok().filter(|target| (*target as usize) < self.nodes.len());
        let Some(target) = target else {
            return Err(Error::new(ErrorKind::BadLink).on_path(self.document.path(index)).finding("a link to nothing"));
        };
        if self.open_targets.contains(&target) {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(self.document.path(index))
                .expecting("a value that does not contain itself")
                .finding("a link to what it is in")
                .helping("PHP writes NULL there, with a warning"));
        }
        self.record_loss(LossKind::Sharing, index);
        let nodes = self.document.tape().index_after(target).saturating_sub(target).max(1);
        self.repeated_nodes = self.repeated_nodes.saturating_add(u64::from(nodes));
        if self.repeated_nodes > self.max_repeated_nodes {
            return Err(self.limits.too_expanded(self.max_repeated_nodes).on_path(self.document.path(index)));
        }
        Ok(target)
    }

    /// Returns the class of an object whose body is a map or an array. `None` if PHP
    /// would refuse it.
    fn find_object_class(&self, index: u32, node: &Node) -> Option<&'d [u8]> {
        let body = self.node(index + 1);
        if !matches!(body.kind, Kind::Array | Kind::Map) || node.end() == index + 1 {
            return None;
        }
        let name = self.document.tape().classes().get(node.class())?.bytes;
        (!self.is_plain && is_class_in_code(name)).then_some(name)
    }

    fn write_object_head(&mut self, index: u32, name: &[u8], buf: &mut Vec<u8>) -> ContainerSyntax {
        let array = if self.is_short { &b"["[..] } else { b"array(" };
        let kept =
            self.kept_source(index, spelling::CLASS).filter(|kept| kept.strip_prefix(b"\\").unwrap_or(kept) == name);
        let syntax = if name == b"stdClass" && kept.is_none() { ContainerSyntax::Cast } else { ContainerSyntax::State };
        match (syntax, kept) {
            (ContainerSyntax::Cast, _) => buf.extend_from_slice(b"(object) "),
            (_, Some(kept)) => buf.extend_from_slice(kept),
            _ => {
                buf.push(b'\\');
                buf.extend_from_slice(name);
            }
        }
        if syntax == ContainerSyntax::State {
            buf.extend_from_slice(b"::__set_state(");
        }
        buf.extend_from_slice(array);
        syntax
    }

    /// Opens the container at `index`, whose head is written.
    fn open_container(
        &mut self,
        index: u32,
        syntax: ContainerSyntax,
        indent: usize,
        outer_target_count: usize,
    ) -> Result<(), Error> {
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().on_path(self.document.path(index)));
        }
        let end = self.document.tape().index_after(index);
        let is_list = self.node(index).kind == Kind::Array;
        self.stack.push(WriteFrame { next: index + 1, end, count: 0, syntax, is_list, indent, outer_target_count });
        Ok(())
    }

    /// Writes an enum case; with `line_indent`, on a line of its own.
    fn write_enum_case(&mut self, index: u32, node: &Node, line_indent: Option<usize>, buf: &mut Vec<u8>) {
        let bytes = self.document.bytes(node);
        if self.is_plain || !super::write_leaf::is_case_in_code(bytes) {
            self.record_loss(LossKind::Name, index);
            return self.write_string(bytes, buf);
        }
        if let Some(indent) = line_indent {
            self.start_line(indent, buf);
        }
        match self
            .kept_source(index, spelling::SOURCE)
            .filter(|source| source_text::is_leaf_source(source, node, bytes))
        {
            Some(source) => buf.extend_from_slice(source),
            None => push_case(bytes, buf),
        }
    }
}
