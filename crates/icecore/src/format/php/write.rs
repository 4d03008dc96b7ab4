//! Writes PHP's `serialize()` format.
//!
//! The writer replays the spelling of a document that was read from PHP. Without spelling it writes the same text as
//! `serialize()`.

use super::spelling;
use super::text::{is_class_name, is_enum_case, names_class, push_number, push_uint, states_number};
use super::write_fast::{write_fast, write_part};
use super::write_keys::RenderedKeys;
use super::write_leaf::push_class;
use super::write_spl::PayloadOutput;
use super::{FORMAT, NAME, WriteOptions};
use crate::document::{Document, Form, IS_KEY, Kind, Node, Replay, flag};
use crate::error::{Error, ErrorKind};
use crate::format::DocumentPart;
use crate::format::append::{append_named, append_with_spare, try_append};
use crate::format::php_losses::{count_present, is_link_to_leaf};
use crate::format::{chain_too_long_error, check_and_expand};
use crate::limits::Limits;
use crate::num::bigint;
use crate::output::{FLUSH_SIZE, LossKind, Losses, Output, Spare, Written};
use std::collections::HashMap;

/// Writes a document, and reports what PHP could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, if a key is an array or another container; `Limit`, if the
/// document is nested too deeply; `Output`, if the output was closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let WriteOptions {} = options;
    if is_of_php(document)
        && append_with_spare(out, u64::MAX, |parts, buf, max_bytes| {
            write_fast(document, limits, &mut parts.spare, buf, max_bytes)
        })
    {
        return Ok(Losses::with_limits(limits));
    }
    let document = &*check_and_expand(document, limits)?;
    append_named(document, &FORMAT, limits, out, |document, out| write_document(document, limits, out))
}

/// Returns `true` if a PHP program filled the tape.
fn is_of_php(document: &Document<'_>) -> bool {
    document.tape().is_filled_by_caller() && document.tape().naming == FORMAT.can.naming
}

impl crate::format::Writer for WriteOptions {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }

    fn write_filled(&self, document: &Document<'_>, limits: &Limits, spare: &mut Spare, buf: &mut Vec<u8>) -> bool {
        let start = buf.len();
        let is_written = is_of_php(document)
            && write_fast(document, limits, spare, buf, limits.output_from(document.input_size())).is_some();
        if !is_written {
            buf.truncate(start);
        }
        is_written
    }

    fn write_part(
        &self,
        document: &Document<'_>,
        part: DocumentPart<'_>,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Option<Result<Losses, Error>> {
        let DocumentPart::Nodes(parts) = part else { return None };
        let is_written = is_of_php(document)
            && try_append(out, |buf, max_bytes| write_part(document, limits, parts, buf, max_bytes));
        is_written.then(|| Ok(Losses::with_limits(limits)))
    }
}

fn write_document(document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
    let mut writer = Writer::new(document, NAME, limits);
    writer.run(document.root().index(), out)?;
    out.allow_flush()?;
    Ok(writer.losses)
}

/// A container with children still to write.
#[derive(Clone, Copy)]
pub(super) struct WriteFrame {
    /// The next child.
    next: u32,
    /// Where the children end.
    end: u32,
    /// Number of children written.
    count: u32,
    /// Number of children in total.
    total: u32,
    is_object: bool,
    /// Whether it is an object whose payload is being written.
    is_payload: bool,
}

impl WriteFrame {
    pub(super) fn for_payload(next: u32) -> WriteFrame {
        WriteFrame { next, end: next, count: 0, total: 0, is_object: false, is_payload: true }
    }
}

/// Slot of a value that links refer to.
#[derive(Clone, Copy)]
pub(super) struct TargetSlot {
    slot: u32,
    is_object: bool,
}

pub(super) struct Writer<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) nodes: &'d [Node],
    pub(super) limits: &'d Limits,
    spelling: Option<Replay<'d>>,
    pub(super) stack: Vec<WriteFrame>,
    pub(super) payloads: Vec<PayloadOutput>,
    /// Lengths of payloads, and their offsets in the buffer.
    pub(super) payload_lengths: Vec<(usize, Vec<u8>)>,
    /// For opaque objects: whether they can be written as PHP's own classes write themselves. `answer_order` has the
    /// objects in the order in which this was found out.
    pub(super) family_answers: HashMap<u32, bool>,
    pub(super) answer_order: Vec<u32>,
    /// Whether the document has keys that a restricted hash allows but does not contain.
    has_absent: bool,
    pub(super) rendered_keys: RenderedKeys,
    /// Slots of nodes that links refer to.
    pub(super) slots: HashMap<u32, TargetSlot>,
    /// The slot that was assigned last.
    pub(super) last_slot: u32,
    /// Slot of the first payload that was not opened. Later slots are uncertain, because they
    /// depend on what the payload counts.
    last_certain_slot: Option<u32>,
    /// The map with the variables of a session. Its keys are not limited to those of an array.
    pub(super) session: Option<u32>,
    pub(super) losses: Losses,
}

impl<'d> Writer<'d> {
    /// Makes a writer that follows the spelling if it belongs to this format.
    pub(super) fn new(document: &'d Document<'d>, format: &str, limits: &'d Limits) -> Writer<'d> {
        let spelling = document.spelling_of(format).filter(|spelling| !spelling.notes.is_empty());
        let mut writer = Writer {
            document,
            nodes: document.nodes(),
            limits,
            spelling: spelling.map(|spelling| Replay::new(spelling, document.tape())),
            stack: Vec::new(),
            payloads: Vec::new(),
            payload_lengths: Vec::new(),
            family_answers: HashMap::new(),
            answer_order: Vec::new(),
            has_absent: document.tape().keys().has_absent()
                || document.nodes().iter().any(|node| node.key == IS_KEY && node.has(flag::PLACEHOLDER)),
            slots: HashMap::new(),
            rendered_keys: RenderedKeys::default(),
            last_slot: 0,
            last_certain_slot: None,
            session: None,
            losses: Losses::with_limits(limits),
        };
        if document.header().is_some() {
            writer.losses.add(LossKind::Header, || "$".to_owned());
        }
        writer
    }

    /// Writes the value at `index` and everything in it.
    pub(super) fn run(&mut self, index: u32, out: &mut dyn Output) -> Result<(), Error> {
        self.write_value(index, out.buffer())?;
        while !self.stack.is_empty() {
            self.continue_container(out)?;
        }
        Ok(())
    }

    pub(super) fn node(&self, index: u32) -> Node {
        self.nodes.get(index as usize).copied().unwrap_or(Node::leaf(Kind::Null, 0))
    }

    pub(super) fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    pub(super) fn is_spelled(&self) -> bool {
        self.spelling.is_some()
    }

    /// Returns the source text that was kept for the value at `index`.
    #[inline]
    pub(super) fn kept_source(&self, index: u32, code: u16) -> Option<&'d [u8]> {
        self.spelling.as_ref()?.stored_bytes(index, code)
    }

    /// Continues in the innermost container, up to a nested container or its end.
    fn continue_container(&mut self, out: &mut dyn Output) -> Result<(), Error> {
        let Some(mut frame) = self.stack.pop() else { return Ok(()) };
        if frame.is_payload {
            self.stack.push(frame);
            let depth = self.stack.len();
            if self.write_payload_step(out.buffer())? {
                self.stack.truncate(depth - 1);
            }
            return self.pass_on_buffer(out);
        }
        let buf = out.buffer();
        while frame.next < frame.end && frame.count < frame.total {
            let mut index = frame.next;
            let key = self.node(index);
            if key.key == IS_KEY {
                let value = self.document.tape().index_after(index);
                if key.has(flag::PLACEHOLDER) && key.kind.is_string() {
                    frame.next = self.document.tape().index_after(value);
                    continue;
                }
                self.write_key_node(&key, index, value, frame.is_object, buf)?;
                index = value;
            } else if key.key == 0 {
                self.write_position(frame.count, index, buf);
            } else if !self.write_key_by_id(key.key, index, frame.is_object, buf) {
                frame.next = self.document.tape().index_after(index);
                continue;
            }
            frame.count += 1;
            let node = self.node(index);
            if self.write_plain_leaf(index, &node, buf) {
                frame.next = index + 1;
                if buf.len() >= FLUSH_SIZE {
                    self.stack.push(frame);
                    return self.pass_on_buffer(out);
                }
                continue;
            }
            frame.next = self.document.tape().index_after(index);
            self.stack.push(frame);
            self.write_value(index, buf)?;
            return if buf.len() < FLUSH_SIZE { Ok(()) } else { self.pass_on_buffer(out) };
        }
        buf.push(b'}');
        if buf.len() < FLUSH_SIZE { Ok(()) } else { self.pass_on_buffer(out) }
    }

    /// Passes on the buffer if it is large and its lengths are known.
    fn pass_on_buffer(&self, out: &mut dyn Output) -> Result<(), Error> {
        if out.buffer().len() < FLUSH_SIZE {
            return Ok(());
        }
        if self.payloads.is_empty() { out.allow_flush() } else { out.check_without_flush() }
    }

    /// Writes a leaf that has no spelling and is not linked.
    #[inline]
    fn write_plain_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) -> bool {
        let is_common =
            matches!(node.kind, Kind::Null | Kind::Bool | Kind::Int | Kind::Float | Kind::Bytes | Kind::Text);
        if !is_common || node.has(flag::TARGET) {
            return false;
        }
        self.last_slot += 1;
        self.write_leaf(index, node, buf);
        true
    }

    /// Assigns the next slot to the value at `index`, and for the nodes that only wrap it.
    pub(super) fn assign_slot(&mut self, index: u32, wrappers: &[u32], is_object: bool) {
        self.last_slot += 1;
        for index in wrappers.iter().chain([&index]) {
            if self.node(*index).has(flag::TARGET) {
                self.slots.insert(*index, TargetSlot { slot: self.last_slot, is_object });
            }
        }
    }

    /// Returns the slot of the value at `index`, if it was written; used by the link at
    /// `link`.
    fn known_slot(&self, index: u32, link: u32) -> Result<Option<TargetSlot>, Error> {
        let known = self.slots.get(&index).copied();
        if let (Some(TargetSlot { slot, .. }), Some(last)) = (known, self.last_certain_slot)
            && slot > last
        {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(self.document.path(link))
                .expecting("a link to a value before the first `C:` object of a class that is not PHP's own")
                .finding("one to a value after it")
                .helping("only the class of a `C:` object knows how many values its payload counts for"));
        }
        Ok(known)
    }

    /// Writes a leaf completely, or the beginning of a container.
    pub(super) fn write_value(&mut self, mut index: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let first = index;
        // Nodes that PHP can't represent. Their content is written in their place.
        let mut wrappers = Vec::new();
        // The link, if it names a string or a number. PHP can't link to these by `r:`, so the value is written again.
        let mut leaf_link = None;
        for _ in 0..=self.document.max_link_steps(self.limits) {
            let node = self.node(index);
            if !node.kind.is_again()
                && leaf_link.is_none()
                && node.has(flag::TARGET)
                && let Some(TargetSlot { slot, is_object }) = self.known_slot(index, first)?
            {
                self.write_link(first, slot, is_object && self.node(first).kind != Kind::Alias, &wrappers, buf);
                return Ok(());
            }
            self.record_flag_losses(index, &node);
            match node.kind {
                Kind::Alias => {
                    let target = node.payload as u32;
                    if let Some(TargetSlot { slot, .. }) = self.known_slot(target, first)? {
                        self.write_link(first, slot, false, &wrappers, buf);
                        return Ok(());
                    }
                    wrappers.push(index);
                    index = target;
                }
                Kind::Link if is_link_to_leaf(self.document, &node) => {
                    self.record_loss(LossKind::Sharing, index);
                    leaf_link = Some(index);
                    index = node.payload as u32;
                }
                Kind::Link | Kind::Copy => {
                    wrappers.push(index);
                    index = node.payload as u32;
                }
                Kind::Ref | Kind::Attrs | Kind::Regexp | Kind::Code | Kind::Tied => {
                    self.record_wrapper_losses(index);
                    wrappers.push(index);
                    index += 1;
                }
                Kind::VString => {
                    self.record_wrapper_losses(index);
                    wrappers.push(index);
                    index = self.document.tape().index_after(index + 1);
                }
                Kind::Opaque if node.form() == Form::Serializable && self.is_opaque_payload(index, &node) => {
                    self.assign_slot(index, &wrappers, true);
                    self.last_certain_slot.get_or_insert(self.last_slot);
                    self.write_opaque(index, &node, buf);
                    return Ok(());
                }
                Kind::Opaque => {
                    if let Some(family) = self.find_family(index, &node, 0) {
                        self.assign_slot(index, &wrappers, true);
                        return self.open_payload(index, &node, family, buf);
                    }
                    self.record_loss(LossKind::Opaque, index);
                    wrappers.push(index);
                    index += 1;
                }
                Kind::Object => match self.write_object(index, &node, &wrappers, buf)? {
                    true => return Ok(()),
                    false => {
                        self.record_loss(LossKind::Class, index);
                        wrappers.push(index);
                        index += 1;
                    }
                },
                Kind::Array | Kind::Map => {
                    self.assign_slot(index, &wrappers, false);
                    let head_start = buf.len();
                    buf.extend_from_slice(b"a:");
                    return self.open_container(index, index, &node, head_start, buf);
                }
                Kind::BigInt if bigint::exceeds(self.document.bytes(&node), self.limits.digits) => {
                    return Err(self.limits.too_many_digits().on_path(self.document.path(index)));
                }
                _ => {
                    let is_case = node.kind == Kind::EnumCase && is_enum_case(self.document.bytes(&node));
                    self.assign_slot(leaf_link.unwrap_or(index), &wrappers, is_case);
                    self.write_leaf(index, &node, buf);
                    return Ok(());
                }
            }
        }
        let has_links = wrappers.iter().any(|index| self.node(*index).kind.is_again());
        Err(chain_too_long_error(self.document, first, has_links, self.limits))
    }

    /// Writes `r:` or `R:`. An `r:` is a value and takes a slot. An `R:` is the same variable and does not take one.
    fn write_link(&mut self, index: u32, slot: u32, is_object: bool, wrappers: &[u32], buf: &mut Vec<u8>) {
        if is_object {
            self.assign_slot(index, wrappers, true);
        } else {
            for wrapper in
                wrappers.iter().copied().filter(|wrapper| self.node(*wrapper).has(flag::TARGET)).collect::<Vec<_>>()
            {
                self.slots.insert(wrapper, TargetSlot { slot, is_object: false });
            }
        }
        if let Some(source) = self.kept_source(index, spelling::SOURCE) {
            return buf.extend_from_slice(source);
        }
        buf.extend_from_slice(if is_object { b"r:" } else { b"R:" });
        push_uint(u64::from(slot), buf);
        buf.push(b';');
    }

    /// Writes the head of an object, whose body must be a map or an array.
    fn write_object(&mut self, index: u32, node: &Node, wrappers: &[u32], buf: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(name) = self.class_name(node).filter(|_| self.has_entries(index, node)) else { return Ok(false) };
        if node.form() == Form::Struct {
            self.record_loss(LossKind::Struct, index);
        }
        let body = self.node(index + 1);
        self.assign_slot(index, wrappers, true);
        if body.has(flag::TARGET) {
            self.slots.insert(index + 1, TargetSlot { slot: self.last_slot, is_object: true });
        }
        self.record_flag_losses(index + 1, &body);
        let head_start = buf.len();
        push_class(b'O', name, buf);
        self.open_container(index, index + 1, &body, head_start, buf)?;
        Ok(true)
    }

    fn has_entries(&self, index: u32, node: &Node) -> bool {
        matches!(self.node(index + 1).kind, Kind::Array | Kind::Map) && node.end() != index + 1
    }

    /// Returns `true` if the object at `index` is written `O:`.
    pub(super) fn is_plain_object(&self, index: u32, node: &Node) -> bool {
        self.has_entries(index, node) && self.class_name(node).is_some()
    }

    /// Returns the name of a class, or `None` if PHP would refuse it.
    pub(super) fn class_name(&self, node: &Node) -> Option<&'d [u8]> {
        let name = self.document.tape().classes().get(node.class())?.bytes;
        is_class_name(name).then_some(name)
    }

    /// Writes the number of entries and the bracket, or the head as it was read; then
    /// opens the container. `head_start` is the offset of the head in the buffer, and `head_node` the
    /// node that has its note.
    fn open_container(
        &mut self,
        head_node: u32,
        index: u32,
        node: &Node,
        head_start: usize,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().on_path(self.document.path(index)));
        }
        let mut end = self.document.tape().index_after(index);
        if node.kind == Kind::Map && node.has(flag::DEFAULT) {
            // The default value of a map follows the entries. PHP can't represent it, so it is left out.
            end = self.document.tape().index_after_entries(index, node.aux);
        }
        let entry_count = if node.end() == 0 || self.has_absent && node.kind == Kind::Map {
            count_present(self.document, index + 1, end)
        } else {
            node.aux
        };
        push_number(b"", u64::from(entry_count), b":{", buf);
        let is_object = head_node != index;
        if let Some(source) =
            self.kept_head(head_node, is_object).filter(|head| states_number(head, u64::from(entry_count)))
        {
            buf.truncate(head_start);
            buf.extend_from_slice(source);
        }
        self.record_array_kind_loss(index, node, is_object);
        self.stack.push(WriteFrame {
            next: index + 1,
            end,
            count: 0,
            total: entry_count,
            is_object,
            is_payload: false,
        });
        Ok(())
    }

    /// Returns the head of the container at `index` as it was read, if it names its class.
    pub(super) fn kept_head(&self, index: u32, is_object: bool) -> Option<&'d [u8]> {
        let head = self.kept_source(index, spelling::HEAD)?;
        let class = self.class_name(&self.node(index)).unwrap_or_default();
        (!is_object || names_class(head, class)).then_some(head)
    }

    pub(super) fn is_opaque_payload(&self, index: u32, node: &Node) -> bool {
        self.node(index + 1).kind == Kind::Bytes && node.end() == index + 2 && self.class_name(node).is_some()
    }

    /// Writes `C:`.
    fn write_opaque(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) {
        let payload = self.node(index + 1);
        let bytes = self.document.bytes(&payload);
        match self.kept_head(index, true).filter(|head| states_number(head, bytes.len() as u64)) {
            Some(source) => buf.extend_from_slice(source),
            None => {
                let name = self.class_name(node).unwrap_or_default();
                push_class(b'C', name, buf);
                push_uint(bytes.len() as u64, buf);
                buf.extend_from_slice(b":{");
            }
        }
        buf.extend_from_slice(bytes);
        buf.push(b'}');
    }
}
