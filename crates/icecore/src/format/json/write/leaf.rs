//! Values without children.

use super::{Writer, perl};
use crate::base64;
use crate::document::{Document, Kind, Node, NoteReader, Ordinals, flag};
use crate::error::{Error, ErrorKind};
use crate::format::json::NUMBER_TEXT;
use crate::format::json::emitter::CharEncoding;
use crate::format::json::number::{self, canonical_text};
use crate::format::json::options::{BytesAs, Floats, TextAs};
use crate::format::json::perl::number as perl_number;
use crate::num::{bigint, float128};
use crate::output::LossKind;
use std::collections::HashMap;

/// Returns the source texts of numbers whose spelling is not the default.
pub(super) fn collect_number_texts<'d>(document: &'d Document<'_>) -> HashMap<u32, &'d [u8]> {
    let mut texts = HashMap::new();
    let Some(spelling) = document.spelling_of("json").filter(|spelling| !spelling.notes.is_empty()) else {
        return texts;
    };
    let ordinals = Ordinals::from_tape(document.tape());
    let mut notes = NoteReader::new(Some(spelling));
    for (index, node) in (0u32..).zip(document.nodes()) {
        if !matches!(node.kind, Kind::Int | Kind::Uint | Kind::BigInt | Kind::Float | Kind::Float128) {
            continue;
        }
        let node_notes = notes.take_notes(ordinals.node_to_ordinal(index));
        if let Some(note) = node_notes.iter().find(|note| note.code == NUMBER_TEXT) {
            let text = spelling.stored_bytes(note.value);
            if is_text_for_number(text, node, document.bytes(node)) {
                texts.insert(index, text);
            }
        }
    }
    texts
}

/// Returns `true` if the text is JSON for this number, which may have been edited.
fn is_text_for_number(text: &[u8], node: &Node, bytes: &[u8]) -> bool {
    match number::classify_number(text, 0) {
        number::NumberSyntax::Decimal(end) if end == text.len() && node.kind == Kind::Float128 => {
            let wide = |(digits, power): (Vec<u8>, i64)| float128::nearest(text.starts_with(b"-"), &digits, power);
            number::significant_digits(text).is_some_and(|parts| wide(parts)[..] == *bytes)
        }
        number::NumberSyntax::Integer(end)
            if end == text.len() && !matches!(node.kind, Kind::Float | Kind::Float128) =>
        {
            let canonical = canonical_text(node, bytes);
            canonical == text || canonical == b"0" && text == b"-0"
        }
        number::NumberSyntax::Decimal(end) if end == text.len() && node.kind == Kind::Float => {
            number::parse_decimal(text).is_some_and(|value| value.to_bits() == node.payload)
        }
        _ => false,
    }
}

impl Writer<'_, '_, '_> {
    /// Writes any leaf. For a link, returns the value to continue with.
    pub(super) fn write_rare_leaf(&mut self, index: u32, node: &Node) -> Result<Option<u32>, Error> {
        if let Some(text) = self.number_texts.get(&index) {
            self.emitter.write_raw(text)?;
            return Ok(None);
        }
        match node.kind {
            Kind::Link | Kind::Alias | Kind::Copy => return self.follow_link(index, node),
            Kind::Int => self.emitter.write_int(node.payload as i64),
            Kind::Uint => self.emitter.write_uint(node.payload),
            Kind::BigInt => self.write_big_int(index, node)?,
            Kind::Float => self.write_float(index, f64::from_bits(node.payload))?,
            Kind::Float32 => self.write_float(index, f64::from(f32::from_bits(node.payload as u32)))?,
            Kind::Float128 => self.write_float128(index, node)?,
            Kind::Text | Kind::Bytes => self.write_string(index, node)?,
            Kind::Encoded => {
                self.record_encoding_loss(node, index);
                self.write_string(index, node)?;
            }
            Kind::Symbol => {
                self.record_loss(LossKind::Symbol, index);
                self.write_string(index, node)?;
            }
            Kind::Module | Kind::EnumCase => {
                self.record_loss(LossKind::Name, index);
                self.write_string(index, node)?;
            }
            Kind::Bool => self.emitter.write_word(if node.payload != 0 { "true" } else { "false" }),
            Kind::Hole => {
                self.record_loss(LossKind::Hole, index);
                self.emitter.write_word("null");
            }
            _ => self.emitter.write_word("null"),
        }
        Ok(None)
    }

    /// Reports the encoding of a string as lost; an unknown encoding leaves the bytes
    /// as they are.
    pub(super) fn record_encoding_loss(&mut self, node: &Node, index: u32) {
        self.record_loss(LossKind::Encoding, index);
        if !self.document.has_utf8_encoding(node) {
            self.record_loss(LossKind::Undecoded, index);
        }
    }

    /// Returns the target of a link, an alias or a copy, to be written again.
    fn follow_link(&mut self, index: u32, node: &Node) -> Result<Option<u32>, Error> {
        let target = u32::try_from(node.payload).ok().filter(|target| (*target as usize) < self.nodes.len());
        let Some(target) = target else {
            return Err(Error::new(ErrorKind::BadLink).on_path(self.document.path(index)).finding("a link to nothing"));
        };
        if self.repeated.is_open(target) {
            self.write_cycle(index)?;
            return Ok(None);
        }
        if node.kind != Kind::Copy || self.document.tape().has_shared_content(target) {
            self.record_loss(LossKind::Sharing, index);
        }
        if !self.repeated.count_values(self.document.tape().index_after(target) - target) {
            return Err(self.limits.too_expanded(self.repeated.max_values).on_path(self.document.path(index)));
        }
        Ok(Some(target))
    }

    fn write_big_int(&mut self, index: u32, node: &Node) -> Result<(), Error> {
        let magnitude = self.document.bytes(node);
        if bigint::exceeds(magnitude, self.limits.digits) {
            return Err(self.limits.too_many_digits().on_path(self.document.path(index)));
        }
        let mut text = Vec::new();
        bigint::push_decimal(node.has(flag::NEGATIVE), magnitude, &mut text);
        self.emitter.write_raw(&text)
    }

    fn write_float(&mut self, index: u32, value: f64) -> Result<(), Error> {
        if !value.is_finite() {
            self.record_loss(LossKind::Float, index);
            return self.write_non_finite(value);
        }
        match self.options.floats {
            Floats::Shortest => {
                self.emitter.write_float(value);
                Ok(())
            }
            floats => self.emitter.write_raw(perl_number::format_float(value, floats == Floats::Cpanel).as_bytes()),
        }
    }

    fn write_float128(&mut self, index: u32, node: &Node) -> Result<(), Error> {
        let bytes = self.document.bytes(node).try_into().unwrap_or([0; 16]);
        if self.options.floats != Floats::Shortest {
            return self.write_float(index, float128::to_f64(&bytes));
        }
        let mut text = Vec::new();
        match float128::push_decimal(&bytes, &mut text) {
            // This many digits distinguish it from all others.
            Some(_) => self.emitter.write_raw(&text),
            None => self.write_float(index, f64::NAN),
        }
    }

    /// Writes any string.
    pub(super) fn write_string(&mut self, index: u32, node: &Node) -> Result<(), Error> {
        let bytes = self.document.bytes(node);
        let text = self.encode_text(node.kind, bytes);
        let lost = text.is_lossy.then_some(LossKind::Bytes);
        self.record_text_loss(index, lost)?;
        self.emitter.write_quoted(&text.bytes, text.chars)
    }

    /// Returns how the bytes of a string are written.
    pub(super) fn encode_text<'b>(&self, kind: Kind, bytes: &'b [u8]) -> EncodedText<'b> {
        let lossless = |chars| EncodedText { bytes: bytes.into(), chars, is_lossy: false };
        let is_bytes = kind == Kind::Bytes;
        if is_bytes && self.options.text == TextAs::Latin1 {
            return lossless(CharEncoding::Latin1);
        }
        if std::str::from_utf8(bytes).is_ok() || self.options.perl && perl::is_perl_text(bytes) {
            return lossless(CharEncoding::Utf8);
        }
        let lossy = |bytes: Vec<u8>| EncodedText { bytes: bytes.into(), chars: CharEncoding::Utf8, is_lossy: true };
        match self.options.bytes {
            // Perl text that Unicode does not allow is not Latin-1.
            BytesAs::Latin1 | BytesAs::Error if kind != Kind::Text => {
                EncodedText { bytes: bytes.into(), chars: CharEncoding::Latin1, is_lossy: true }
            }
            BytesAs::Base64 if kind != Kind::Text => {
                let mut text = Vec::new();
                base64::encode_base64(bytes, &mut text);
                lossy(text)
            }
            BytesAs::Hex if kind != Kind::Text => {
                let digit = |value: u8| char::from_digit(u32::from(value), 16).map_or(b'0', |digit| digit as u8);
                lossy(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0F)]).collect())
            }
            _ => lossy(String::from_utf8_lossy(bytes).into_owned().into_bytes()),
        }
    }

    /// Counts the loss of a string, or refuses it.
    pub(super) fn record_text_loss(&mut self, index: u32, lost: Option<LossKind>) -> Result<(), Error> {
        let Some(kind) = lost else { return Ok(()) };
        if kind == LossKind::Bytes && self.options.bytes == BytesAs::Error {
            return Err(self.unrepresentable_error(
                index,
                "a string that is not UTF-8",
                "`bytes=latin1`, `base64`, `hex` and `replace` write it; `json:typed` can represent it",
            ));
        }
        self.record_loss(kind, index);
        Ok(())
    }

    /// Writes a regular expression as Perl shows it: `(?^ix:pattern)`.
    pub(super) fn write_regexp(&mut self, index: u32) -> Result<(), Error> {
        let regexp = self.document.at(index);
        let mut parts = regexp.iter().flat_map(|regexp| regexp.children()).map(|part| part.target());
        let (pattern, flags) = (parts.next(), parts.next());
        self.emitter.make_space()?;
        self.emitter.write_word("\"(?^");
        for (part, suffix) in [(flags, ":"), (pattern, ")\"")] {
            if let Some(part) = part
                && part.node().kind.is_string()
            {
                let text = self.encode_text(part.kind(), part.as_bytes().unwrap_or(&[]));
                self.record_text_loss(part.index(), text.is_lossy.then_some(LossKind::Bytes))?;
                self.emitter.write_string_part(&text.bytes, text.chars)?;
            }
            self.emitter.write_word(suffix);
        }
        Ok(())
    }
}

/// A string to be written.
pub(super) struct EncodedText<'b> {
    pub(super) bytes: std::borrow::Cow<'b, [u8]>,
    pub(super) chars: CharEncoding,
    /// Whether another string may have the same text.
    pub(super) is_lossy: bool,
}
