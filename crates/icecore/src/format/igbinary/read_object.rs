//! Reads objects in all their forms.

use super::read::{Frame, MAX_ENTRIES_WITH_IDS, Machine, State};
use super::spelling as code;
use super::tag;
use crate::document::{Form, Kind, NO_KEY, Node, Recorder, Sink};
use crate::error::Error;

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads an object in any of its forms, or an enum case.
    pub(super) fn read_object(&mut self, tag: u8, key: u16, start: usize) -> Result<(), Error> {
        let class_offset = self.scan.offset;
        let class = if tag < tag::OBJECT_ID {
            let len = self.read_number(tag, tag::OBJECT, "a class name's length")?;
            self.record_span(class_offset, "length");
            let mut text = self.read_string_bytes(len)?;
            text.default = tag::narrowest_for(tag::OBJECT, len);
            text
        } else {
            let number = self.read_number(tag, tag::OBJECT_ID, "a class name's number")?;
            self.find_string(number, class_offset, tag::OBJECT_ID)?
        };
        self.add_string_notes(&class, tag, code::CLASS_TAG, code::CLASS_STRING);
        let name = &self.scan.input[class.start..class.start + class.len];
        let body_offset = self.scan.offset;
        let tag = self.scan.read_u8("the body of an object")?;
        self.record_span(body_offset, tag::tag_name(tag));
        match tag {
            0x14..=0x16 => {
                let remaining = self.read_count(tag)?;
                self.increase_depth(2)?;
                let class = self.sink.tape().intern_class(Kind::Bytes, name)?;
                let object = self.push_node(Node::open(Kind::Object, class).in_form(Form::Usual), key, start);
                self.numbered.push(object);
                if S::DETAIL && tag != tag::narrowest_for(tag::ARRAY, u64::from(remaining)) {
                    self.add_note(code::TAG, u64::from(tag));
                }
                let body = self.push_node(Node::open(Kind::Map, 0), NO_KEY, body_offset);
                let state = State::Properties;
                self.frames.push(Frame {
                    state,
                    may_have_key_ids: remaining <= MAX_ENTRIES_WITH_IDS,
                    node: body,
                    remaining,
                    count: 0,
                    total: remaining,
                });
                Ok(())
            }
            0x1d..=0x1f => {
                let len_at = self.scan.offset;
                let len = self.read_number(tag, tag::PAYLOAD, "a payload's length")?;
                if len > self.limits.string {
                    return Err(self.limits.too_long(len).at(self.scan.offset));
                }
                self.record_span(len_at, "length");
                let payload_at = self.scan.offset;
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                self.scan.read_bytes(len, "a payload")?;
                self.record_span(payload_at, "payload");
                if S::DETAIL && tag != tag::narrowest_for(tag::PAYLOAD, len as u64) {
                    self.add_note(code::TAG, u64::from(tag));
                }
                let class = self.sink.tape().intern_class(Kind::Bytes, name)?;
                let object = self.push_node(Node::open(Kind::Opaque, class).in_form(Form::Serializable), key, start);
                self.numbered.push(object);
                let payload = self.sink.tape().new_borrowed_string(Kind::Bytes, payload_at, len);
                self.push_node(payload, NO_KEY, body_offset);
                self.sink.tape().close_container(object, 1);
                let end = self.scan.offset;
                self.sink.record_end(object, end);
                Ok(())
            }
            tag::ENUM => {
                let case_offset = self.scan.offset;
                let tag = self.scan.read_u8("the name of an enum case")?;
                self.record_span(case_offset, tag::tag_name(tag));
                let Some(case) = self.read_string(tag)? else {
                    return Err(self.malformed_error(case_offset, "the name of an enum case", tag));
                };
                self.add_string_notes(&case, tag, code::TAG, code::STRING);
                let case = &self.scan.input[case.start..case.start + case.len];
                let node = self.sink.tape().new_owned_string(Kind::EnumCase, &[name, b":", case].concat());
                let leaf = self.push_node(node, key, start);
                self.numbered.push(leaf);
                Ok(())
            }
            _ => Err(self.malformed_error(body_offset, "an array, a payload or an enum case", tag)),
        }
    }
}
