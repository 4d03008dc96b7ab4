//! `C:` payloads of PHP's own classes, written as PHP did up to 7.3.

use super::spelling;
use super::spl::{self, DATA, Family, IS_SELF, OBJECT};
use super::text::{push_integer, push_uint, states_number};
use super::write::{WriteFrame, Writer};
use super::write_leaf::push_class;
use crate::document::{Form, Kind, Node, flag};
use crate::error::Error;

/// Maximum depth to which objects are checked if each is the content of another one. Deeper ones are assumed to fit.
const MAX_CHECK_DEPTH: u32 = 12;

/// A payload that is being written.
pub(super) struct PayloadOutput {
    /// The node of the object.
    object: u32,
    family: Family,
    /// The next child, and the piece written last.
    next: u32,
    step: WriteStep,
    /// Where it starts in the buffer.
    start: usize,
    /// Offset at which its length is inserted once it is known.
    length_offset: usize,
    /// The digits of the length in the text that was read.
    length_as_read: Vec<u8>,
    /// Total size of the lengths that will be inserted into the payload.
    inserted_len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteStep {
    Content,
    /// An item of a list, or the object of an element; with the end of the items.
    Item(u32),
    /// The data of an element, if it has any; with the node after the element.
    Data(u32, u32),
    Members,
}

impl Writer<'_> {
    /// Returns the family of an object if its content has the form of that family.
    pub(super) fn find_family(&mut self, index: u32, node: &Node, depth: u32) -> Option<Family> {
        let family = spl::find_family(self.class_name(node)?).filter(|_| node.form() == Form::Serializable)?;
        if depth > MAX_CHECK_DEPTH {
            return Some(family);
        }
        if let Some(fits) = self.family_answers.get(&index) {
            return fits.then_some(family);
        }
        // The content may have a link to this object. The link fits if everything else does, so the answer is assumed
        // first.
        let before = self.answer_order.len();
        self.answer_order.push(index);
        self.family_answers.insert(index, true);
        if self.fits_family(index, family, depth) == Some(true) {
            return Some(family);
        }
        for assumed in self.answer_order.split_off(before) {
            self.family_answers.remove(&assumed);
        }
        self.answer_order.push(index);
        self.family_answers.insert(index, false);
        None
    }

    fn fits_family(&mut self, index: u32, family: Family, depth: u32) -> Option<bool> {
        let document = self.document;
        let mut parts = document.at(index)?.children().map(|part| part.index());
        let content = parts.next()?;
        let is_made = |node: Node, kind| node.kind == kind && node.flags & !flag::REF == 0;
        let is_int = |index: u32| document.nodes()[index as usize].kind == Kind::Int;
        let fits = match family {
            Family::Array => {
                let flags = parts.next()?;
                is_int(flags)
                    && if self.node(flags).payload as i64 & IS_SELF != 0 {
                        self.writes_as_array(content)
                    } else {
                        self.writes_as_array(parts.next()?)
                            && (self.writes_as_array(content) || self.writes_as_object(content, depth))
                    }
            }
            Family::List => is_made(self.node(content), Kind::Array) && is_int(parts.next()?),
            Family::Storage => {
                let mut fits = is_made(self.node(content), Kind::Array) && self.writes_as_array(parts.next()?);
                for element in document.at(content)?.children() {
                    let mut names = element.entries().map(|(key, value)| (key.bytes(), value.index()));
                    let object = names.next().filter(|(name, _)| *name == OBJECT);
                    fits = is_made(*element.node(), Kind::Map)
                        && object.is_some_and(|(_, value)| self.writes_as_object(value, depth))
                        && names.next().is_none_or(|(name, _)| name == DATA)
                        && names.next().is_none();
                    if !fits {
                        break;
                    }
                }
                fits
            }
        };
        Some(fits && parts.next().is_none())
    }

    /// Returns `true` if the value at `index` is written `a:`.
    fn writes_as_array(&self, index: u32) -> bool {
        matches!(self.node(index).kind, Kind::Array | Kind::Map) && !self.slots.contains_key(&index)
    }

    /// Returns `true` if the value at `index` is written `O:`, `C:` or `r:`.
    fn writes_as_object(&mut self, index: u32, depth: u32) -> bool {
        let node = self.node(index);
        match node.kind {
            Kind::Link => {
                let target = node.payload as u32;
                self.node(target).kind != Kind::Link && self.writes_as_object(target, depth + 1)
            }
            Kind::Object => self.is_plain_object(index, &node),
            Kind::Opaque => self.is_opaque_payload(index, &node) || self.find_family(index, &node, depth + 1).is_some(),
            _ => false,
        }
    }

    /// Begins the object at `object`; its payload is written step by step.
    pub(super) fn open_payload(
        &mut self,
        object: u32,
        node: &Node,
        family: Family,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().on_path(self.document.path(object)));
        }
        let mut length_as_read = Vec::new();
        match self.kept_head(object, true) {
            Some(source) => {
                let end = source.iter().rposition(u8::is_ascii_digit).map_or(0, |index| index + 1);
                let start = source[..end].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |index| index + 1);
                buf.extend_from_slice(&source[..start]);
                length_as_read = source[start..end].to_vec();
            }
            None => {
                let name = self.class_name(node).unwrap_or_default();
                push_class(b'C', name, buf);
            }
        }
        let hole = buf.len();
        buf.extend_from_slice(b":{");
        let start = buf.len();
        let next = object + 1;
        self.stack.push(WriteFrame::for_payload(object));
        self.payloads.push(PayloadOutput {
            object,
            family,
            next,
            step: WriteStep::Content,
            start,
            length_offset: hole,
            length_as_read,
            inserted_len: 0,
        });
        let after_content = self.document.tape().index_after(next);
        let items = WriteStep::Item(after_content);
        match family {
            Family::Array => {
                buf.extend_from_slice(b"x:");
                self.write_flags(after_content, buf);
                if self.node(after_content).payload as i64 & IS_SELF != 0 {
                    return self.write_members(next, buf);
                }
                // The content is written in the next step, because it may itself be an object with a payload.
                self.set_step(next, items);
                Ok(())
            }
            Family::List => {
                self.write_flags(after_content, buf);
                self.set_step(next + 1, items);
                Ok(())
            }
            Family::Storage => {
                buf.extend_from_slice(b"x:");
                let count = u64::from(self.node(next).aux);
                match self.kept_source(object, spelling::COUNT).filter(|source| states_number(source, count)) {
                    Some(source) => buf.extend_from_slice(source),
                    None => push_integer(count as i64, buf),
                }
                self.last_slot += 1;
                self.set_step(next + 1, items);
                Ok(())
            }
        }
    }

    /// Continues after a value in the innermost payload. Returns `true` if the payload
    /// ended.
    pub(super) fn write_payload_step(&mut self, buf: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(payload) = self.payloads.last() else { return Ok(true) };
        let (object_index, family, next, step) = (payload.object, payload.family, payload.next, payload.step);
        let tape = self.document.tape();
        match (step, family) {
            (WriteStep::Members, _) => {
                self.close_payload(buf);
                return Ok(true);
            }
            (WriteStep::Content, _) => {
                buf.push(b';');
                self.write_members(tape.index_after(next), buf)?;
            }
            (WriteStep::Item(flags), Family::Array) => {
                self.set_step(flags, WriteStep::Content);
                self.write_value(next, buf)?;
            }
            (WriteStep::Item(end), Family::List) if next < end => {
                buf.push(b':');
                self.set_step(tape.index_after(next), step);
                self.write_value(next, buf)?;
            }
            (WriteStep::Item(_), Family::List) => {
                self.close_payload(buf);
                return Ok(true);
            }
            (WriteStep::Item(end), _) => {
                if next > object_index + 2 {
                    buf.push(b';');
                }
                if next >= end {
                    self.write_members(end, buf)?;
                } else {
                    let next_element = tape.index_after(next);
                    let object = self.entry_value(next + 1);
                    self.set_step(tape.index_after(object), WriteStep::Data(next_element, end));
                    self.write_value(object, buf)?;
                }
            }
            (WriteStep::Data(next_element, end), _) => {
                self.set_step(next_element, WriteStep::Item(end));
                if next < next_element {
                    buf.push(b',');
                    let data = self.entry_value(next);
                    self.write_value(data, buf)?;
                }
            }
        }
        Ok(false)
    }

    /// Returns the value of the entry at `index`: the next node if the key is a node.
    fn entry_value(&self, index: u32) -> u32 {
        if self.node(index).key == crate::document::IS_KEY { self.document.tape().index_after(index) } else { index }
    }

    fn set_step(&mut self, next: u32, step: WriteStep) {
        if let Some(payload) = self.payloads.last_mut() {
            (payload.next, payload.step) = (next, step);
        }
    }

    fn write_flags(&mut self, index: u32, buf: &mut Vec<u8>) {
        let node = self.node(index);
        self.assign_slot(index, &[], false);
        self.write_leaf(index, &node, buf);
    }

    fn write_members(&mut self, index: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        buf.extend_from_slice(b"m:");
        self.set_step(index, WriteStep::Members);
        self.write_value(index, buf)
    }

    fn close_payload(&mut self, buf: &mut Vec<u8>) {
        let Some(payload) = self.payloads.pop() else { return };
        if let Some(tail) = self.kept_source(payload.object, spelling::TAIL) {
            buf.extend_from_slice(tail);
        }
        let len = (buf.len() - payload.start + payload.inserted_len) as u64;
        buf.push(b'}');
        let mut digits = payload.length_as_read;
        if !states_number(&digits, len) {
            digits.clear();
            push_uint(len, &mut digits);
        }
        let inserted_len = payload.inserted_len + digits.len();
        self.payload_lengths.push((payload.length_offset, digits));
        match self.payloads.last_mut() {
            Some(outer) => outer.inserted_len += inserted_len,
            None => insert_lengths(std::mem::take(&mut self.payload_lengths), inserted_len, buf),
        }
    }
}

/// Inserts all lengths in one pass.
fn insert_lengths(mut lengths: Vec<(usize, Vec<u8>)>, mut remaining: usize, buf: &mut Vec<u8>) {
    lengths.sort_unstable_by_key(|(offset, _)| *offset);
    let mut end = buf.len();
    buf.resize(end + remaining, 0);
    for (offset, digits) in lengths.iter().rev() {
        buf.copy_within(*offset..end, offset + remaining);
        remaining -= digits.len();
        buf[offset + remaining..offset + remaining + digits.len()].copy_from_slice(digits);
        end = *offset;
    }
}
