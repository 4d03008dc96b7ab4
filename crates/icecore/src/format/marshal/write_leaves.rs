//! Writes leaves, regexps and objects that a class dumped to a string.

use super::attributes::OPTIONS;
use super::number::{is_fixnum, is_immediate, narrow_float128, push_float, push_integer};
use super::spelling::value as code;
use super::write::{NumberedValue, WriteFrame, Writer};
use crate::document::{Form, Kind, Node, flag};
use crate::error::Error;
use crate::output::LossKind;

impl Writer<'_> {
    /// Writes a leaf. `is_encoded_outside` states whether the wrapper of the leaf writes its encoding.
    #[inline]
    pub(super) fn write_leaf(
        &mut self,
        index: u32,
        node: &Node,
        is_encoded_outside: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match node.kind {
            Kind::Null => buf.push(b'0'),
            Kind::Bool => buf.push(if node.payload != 0 { b'T' } else { b'F' }),
            Kind::Int if is_fixnum(node.payload as i64) => {
                buf.push(b'i');
                push_integer(node.payload as i64, buf);
            }
            Kind::Int => {
                let value = node.payload as i64;
                if self.spelling.is_some() {
                    if let Some(number) = self.find_noted_link(index, code::LINK, NumberedValue::Int(value)) {
                        buf.push(b'@');
                        push_integer(number, buf);
                        return Ok(());
                    }
                    self.numbered_values.insert(self.next_number, NumberedValue::Int(value));
                }
                self.write_bignum(index, value < 0, &value.unsigned_abs().to_le_bytes(), buf);
            }
            Kind::Uint => self.write_bignum(index, false, &node.payload.to_le_bytes(), buf),
            Kind::BigInt => {
                let document = self.document;
                self.write_bignum(index, node.has(flag::NEGATIVE), document.bytes(node), buf);
            }
            Kind::Float => self.write_float(index, f64::from_bits(node.payload), buf),
            Kind::Float32 => self.write_float(index, f64::from(f32::from_bits(node.payload as u32)), buf),
            Kind::Float128 => {
                let (value, exact) = narrow_float128(self.document.bytes(node));
                if !exact {
                    self.record_loss(LossKind::Precision, index);
                }
                self.write_float(index, value, buf);
            }
            Kind::Bytes | Kind::Text | Kind::Encoded => self.write_string(index, node, is_encoded_outside, buf),
            Kind::Symbol => {
                let document = self.document;
                let encoding = self.encoding_name(node);
                self.write_symbol(document.bytes(node), encoding, buf);
            }
            // Ruby has no class with such a name.
            Kind::EnumCase | Kind::Module if node.kind == Kind::EnumCase || node.form() == Form::Variable => {
                self.record_loss(LossKind::Name, index);
                self.assign_number(index);
                self.write_utf8_string(self.document.bytes(node), buf);
            }
            Kind::Module => {
                self.assign_number(index);
                let with_encoding = self.find_note(index, code::NAME_ENCODING).filter(|_| !is_encoded_outside);
                if with_encoding.is_some() {
                    buf.push(b'I');
                }
                buf.push(match node.form() {
                    Form::Module => b'm',
                    Form::OldModule => b'M',
                    _ => b'c',
                });
                self.write_bytes(self.document.bytes(node), buf);
                if with_encoding.is_some() {
                    push_integer(1, buf);
                    self.write_encoding(index, buf);
                }
            }
            Kind::Hole => {
                self.record_loss(LossKind::Hole, index);
                buf.push(b'0');
            }
            _ => buf.push(b'0'),
        }
        Ok(())
    }

    fn write_bignum(&mut self, index: u32, negative: bool, magnitude: &[u8], buf: &mut Vec<u8>) {
        self.assign_number(index);
        let len = magnitude.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        buf.extend_from_slice(&[b'l', if negative { b'-' } else { b'+' }]);
        push_integer(len.div_ceil(2) as i64, buf);
        buf.extend_from_slice(&magnitude[..len]);
        if len % 2 == 1 {
            buf.push(0);
        }
    }

    pub(super) fn write_float(&mut self, index: u32, value: f64, buf: &mut Vec<u8>) {
        let bits = value.to_bits();
        let mut text = None;
        if self.spelling.is_some() {
            if let Some(number) = self.find_noted_link(index, code::LINK, NumberedValue::Float(bits)) {
                buf.push(b'@');
                return push_integer(number, buf);
            }
            text = self.spelling.as_ref().and_then(|known| known.stored_bytes(index, code::FLOAT));
            self.numbered_values.insert(self.next_number, NumberedValue::Float(bits));
        }
        if is_immediate(bits)
            && let Some(slot) = self.floats.number_slot(self.document, index)
        {
            let known = *slot;
            if known == 0 {
                *slot = self.next_number + 1;
            } else if self.find_note(index, code::FRESH).is_none() {
                buf.push(b'@');
                return push_integer(i64::from(known) - 1, buf);
            }
        }
        self.assign_number(index);
        buf.push(b'f');
        match text.filter(|text| super::number::parse_float(text).to_bits() == bits) {
            Some(text) => self.write_bytes(text, buf),
            None => {
                let length_offset = buf.len();
                buf.push(0);
                push_float(value, buf);
                buf[length_offset] = (buf.len() - length_offset - 1) as u8 + 5;
            }
        }
    }

    /// Returns the number in a note, if it is the number of the same value.
    pub(super) fn find_noted_link(&self, index: u32, code: u16, value: NumberedValue<'_>) -> Option<i64> {
        let number = self.find_note(index, code).and_then(|number| u32::try_from(number).ok())?;
        (self.numbered_values.get(&number) == Some(&value)).then_some(i64::from(number))
    }

    fn write_string(&mut self, index: u32, node: &Node, is_encoded_outside: bool, buf: &mut Vec<u8>) {
        let bytes = self.document.bytes(node);
        if self.spelling.is_some() {
            let numbered = NumberedValue::String(node.kind, node.encoding(), bytes);
            if let Some(number) = self.find_noted_link(index, code::LINK, numbered) {
                self.numbers.insert(index, number as u32);
                buf.push(b'@');
                return push_integer(number, buf);
            }
            self.numbered_values.insert(self.next_number, numbered);
        }
        if node.has(flag::HINT) && self.spelling.is_none() {
            // The one object that all equal keys are.
            let number = self.names.intern_string(node, bytes, self.next_number);
            if number != self.next_number {
                buf.push(b'@');
                return push_integer(i64::from(number), buf);
            }
        }
        self.assign_number(index);
        if is_encoded_outside {
            buf.push(b'"');
            return self.write_bytes(bytes, buf);
        }
        match self.written_encoding(index) {
            None => {
                buf.push(b'"');
                self.write_bytes(bytes, buf);
            }
            Some(_) => {
                buf.extend_from_slice(b"I\"");
                self.write_bytes(bytes, buf);
                buf.push(6);
                self.write_encoding(index, buf);
            }
        }
    }

    /// Writes a string of text that is not a node.
    pub(super) fn write_utf8_string(&mut self, bytes: &[u8], buf: &mut Vec<u8>) {
        buf.extend_from_slice(b"I\"");
        self.write_bytes(bytes, buf);
        buf.push(6);
        self.write_symbol(b"E", b"", buf);
        buf.push(b'T');
    }

    pub(super) fn write_regexp(&mut self, index: u32, is_encoded_outside: bool, buf: &mut Vec<u8>) {
        self.assign_number(index);
        let pattern = self.document.node(index + 1);
        let flags = self.document.node(self.index_after(index + 1));
        let letters = if flags.kind.is_string() { self.document.bytes(&flags) } else { b"" };
        let (mut options, mut is_all) = (0, true);
        for letter in letters {
            // Ruby's `m` is `s` here; Ruby always does what Perl calls `m`.
            if *letter == b'm' {
                continue;
            }
            match OPTIONS.iter().find(|(_, known)| *known == *letter) {
                // `xx` means more than `x`.
                Some((bit, _)) if options & bit == 0 => options |= bit,
                _ => is_all = false,
            }
        }
        if !is_all {
            self.record_loss(LossKind::RegexpFlags, index);
        }
        if let Some(noted) = self.find_note(index, code::OPTIONS).and_then(|noted| u8::try_from(noted).ok())
            && OPTIONS.iter().all(|(bit, _)| noted & bit == options & bit)
        {
            options = noted;
        }
        let encoding = self.written_encoding(index).filter(|_| !is_encoded_outside);
        if encoding.is_some() {
            buf.push(b'I');
        }
        buf.push(b'/');
        let bytes = if pattern.kind.is_string() { self.document.bytes(&pattern) } else { b"" };
        self.write_bytes(bytes, buf);
        buf.push(options);
        if encoding.is_some() {
            push_integer(1, buf);
            self.write_encoding(index, buf);
        }
    }

    /// Writes an object that its class dumped to a string.
    pub(super) fn write_user_dump(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        let payload = self.document.node(index + 1);
        let string = if payload.kind == Kind::Attrs { index + 2 } else { index + 1 };
        // The variables after one `I` would be those of the payload.
        let is_in_variables = index.checked_sub(1).is_some_and(|around| {
            self.document.node(around).kind == Kind::Attrs && self.index_after(index) < self.index_after(around)
        });
        let has_variables = payload.kind == Kind::Attrs || self.written_encoding(string).is_some() || is_in_variables;
        if has_variables {
            buf.push(b'I');
        }
        buf.push(b'u');
        self.write_class(node.class(), buf);
        self.write_bytes(self.document.bytes(&self.document.node(string)), buf);
        if !has_variables {
            self.assign_number(index);
            return Ok(());
        }
        self.push_frame(WriteFrame::Number { index })?;
        self.push_frame(WriteFrame::Variables { attributes: index + 1, encoded: Some(string) })
    }
}
