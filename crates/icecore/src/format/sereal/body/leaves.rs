//! Numbers and strings.

use super::super::keys::text_if_not_ascii;
use super::super::spelling::{StringOf, code, pad_place, string_tag, tracked};
use super::super::tag;
use super::super::write::fits_in_f32;
use super::{Body, PrecedingTag};
use crate::document::{Kind, Node, flag};
use crate::error::Error;
use crate::num::{bigint, float128};
use crate::output::LossKind;

/// Minimum length of a string that `dedupe_strings` examines.
const MIN_DEDUPED_LEN: usize = 4;

impl<'d> Body<'d, '_> {
    pub(super) fn write_leaf(&mut self, index: u32, node: &'d Node, preceding_tag: PrecedingTag) -> Result<(), Error> {
        if node.has(flag::WEAK) {
            // Only a reference can be weak, and a leaf is written here.
            self.record_loss(LossKind::Weak, index);
        }
        self.write_pads(index, pad_place::FIRST)?;
        if node.kind.has_bytes() && node.kind != Kind::Float128 {
            return self.write_string_leaf(index, node, preceding_tag);
        }
        let track = self.begin_variable(index) | self.extra_track_bit(index, tracked::MAIN);
        self.end_leaf_referents(index, false);
        let noted = self.noted_value(index, code::TAG).and_then(|tag| u8::try_from(tag).ok());
        match node.kind {
            Kind::Int => self.write_int(index, node.payload as i64, noted, track),
            Kind::Uint => self.write_tagged_varint(index, tag::VARINT | track, node.payload),
            Kind::Float => self.write_float(f64::from_bits(node.payload), noted, index, track),
            Kind::Float32 => self.write_float32(f32::from_bits(node.payload as u32), track),
            Kind::Float128 => self.write_wide_float(index, node, noted, track),
            Kind::Bool => {
                let own = node.has(flag::OWN).then_some(tag::TRUE);
                self.write_bool(index, node.payload != 0, noted.or(own), track)
            }
            Kind::Hole => {
                self.record_loss(LossKind::Hole, index);
                self.bytes.push_byte(tag::CANONICAL_UNDEF | track)
            }
            _ => {
                let own = node.has(flag::OWN) && self.plan.version >= 3;
                let default = if own { tag::CANONICAL_UNDEF } else { tag::UNDEF };
                let tag = noted.filter(|tag| *tag == tag::CANONICAL_UNDEF).unwrap_or(default);
                self.bytes.push_byte(tag | track)
            }
        }
    }

    fn write_tagged_varint(&mut self, index: u32, tag: u8, value: u64) -> Result<(), Error> {
        self.bytes.push_byte(tag)?;
        let width = self.noted_width(index, code::WIDTH);
        self.bytes.push_varint(value, width)
    }

    fn write_int(&mut self, index: u32, value: i64, noted: Option<u8>, track: u8) -> Result<(), Error> {
        let zigzag = (value << 1 ^ value >> 63) as u64;
        match (noted, value) {
            (Some(tag::VARINT), 0..) => self.write_tagged_varint(index, tag::VARINT | track, value as u64),
            (Some(tag::ZIGZAG), _) => self.write_tagged_varint(index, tag::ZIGZAG | track, zigzag),
            (_, 0..=15) => self.bytes.push_byte(value as u8 | track),
            (_, 16..) => self.write_tagged_varint(index, tag::VARINT | track, value as u64),
            (_, -16..) => self.bytes.push_byte((value + 32) as u8 | track),
            _ => self.write_tagged_varint(index, tag::ZIGZAG | track, zigzag),
        }
    }

    fn write_float(&mut self, value: f64, noted: Option<u8>, index: u32, track: u8) -> Result<(), Error> {
        match noted {
            Some(tag::LONG_DOUBLE) => {
                self.bytes.push_byte(tag::LONG_DOUBLE | track)?;
                self.write_long_double(index, &float128::from_f64(value))
            }
            Some(tag::FLOAT_128) => {
                self.bytes.push_byte(tag::FLOAT_128 | track)?;
                self.bytes.push_slice(&float128::from_f64(value))
            }
            None if fits_in_f32(value) => self.write_float32(value as f32, track),
            _ => {
                self.bytes.push_byte(tag::DOUBLE | track)?;
                self.bytes.push_slice(&value.to_le_bytes())
            }
        }
    }

    fn write_float32(&mut self, value: f32, track: u8) -> Result<(), Error> {
        self.bytes.push_byte(tag::FLOAT | track)?;
        self.bytes.push_slice(&value.to_le_bytes())
    }

    fn write_wide_float(&mut self, index: u32, node: &Node, noted: Option<u8>, track: u8) -> Result<(), Error> {
        let wide: [u8; 16] = self.document.bytes(node).try_into().unwrap_or([0; 16]);
        let exact = float128::to_f64_exact(&wide);
        if self.plan.options.use_standard_double || self.replay.is_none() && exact.is_some() {
            if exact.is_none() {
                self.record_loss(LossKind::Precision, index);
            }
            return self.write_float(float128::to_f64(&wide), None, index, track);
        }
        let fits = float128::from_x87(&float128::to_x87(&wide)) == wide;
        let tag = match noted {
            Some(tag::FLOAT_128) => tag::FLOAT_128,
            // Few perls can read FLOAT_128, so it is used only to replay spelling.
            _ if fits || self.plan.version < 5 || self.replay.is_none() => tag::LONG_DOUBLE,
            _ => tag::FLOAT_128,
        };
        self.bytes.push_byte(tag | track)?;
        if tag == tag::FLOAT_128 {
            return self.bytes.push_slice(&wide);
        }
        // Most perls use doubles, so they lose the additional digits of this float when they read it.
        if !fits || self.replay.is_none() {
            self.record_loss(LossKind::Precision, index);
        }
        self.write_long_double(index, &wide)
    }

    fn write_long_double(&mut self, index: u32, wide: &[u8; 16]) -> Result<(), Error> {
        let kept = self.replay.as_ref().and_then(|replay| replay.kept_bytes(index, code::PADDING));
        if let Some(kept) = kept.filter(|kept| kept.len() == 16) {
            return self.bytes.push_slice(kept);
        }
        self.bytes.push_slice(&float128::to_x87(wide))?;
        self.bytes.push_slice(kept.filter(|kept| kept.len() == 6).unwrap_or(&[0; 6]))
    }

    fn write_bool(&mut self, index: u32, value: bool, noted: Option<u8>, track: u8) -> Result<(), Error> {
        let (yes, no) = match noted {
            Some(tag::TRUE | tag::FALSE) => (tag::TRUE, tag::FALSE),
            _ if self.plan.version >= 5 || self.replay.is_some() => (tag::YES, tag::NO),
            _ => {
                self.record_loss(LossKind::Bool, index);
                (tag::POS | 1, tag::SHORT_BINARY)
            }
        };
        self.bytes.push_byte(if value { yes } else { no } | track)
    }

    fn write_string_leaf(&mut self, index: u32, node: &'d Node, preceding_tag: PrecedingTag) -> Result<(), Error> {
        let bytes = self.document.bytes(node);
        let (kind, loss) = match node.kind {
            Kind::Bytes | Kind::Text => (node.kind, None),
            Kind::Symbol => (text_if_not_ascii(bytes), Some(LossKind::Symbol)),
            Kind::Module | Kind::EnumCase => (text_if_not_ascii(bytes), Some(LossKind::Name)),
            Kind::BigInt => return self.write_big_int(index, bytes, node.has(flag::NEGATIVE)),
            _ => (Kind::Bytes, Some(LossKind::Encoding)),
        };
        if let Some(loss) = loss {
            self.record_loss(loss, index);
        }
        self.write_text(index, kind, bytes, preceding_tag)
    }

    /// Writes an integer beyond 64 bits as a string of digits, because Perl does not have such integers.
    fn write_big_int(&mut self, index: u32, magnitude: &[u8], negative: bool) -> Result<(), Error> {
        if bigint::exceeds(magnitude, self.plan.limits.digits) {
            return Err(self.plan.limits.too_many_digits().on_path(self.document.path(index)));
        }
        self.record_loss(LossKind::BigInt, index);
        let mut digits = Vec::new();
        bigint::push_decimal(negative, magnitude, &mut digits);
        let track = self.begin_variable(index);
        self.end_leaf_referents(index, true);
        self.write_spelled_string(index, StringOf::Value, Kind::Bytes, &digits, track)
    }

    fn write_text(
        &mut self,
        index: u32,
        kind: Kind,
        bytes: &'d [u8],
        preceding_tag: PrecedingTag,
    ) -> Result<(), Error> {
        let is_only_itself = self.pending_variables.is_empty();
        let named = self.begin_variable(index);
        let options = self.plan.options;
        if let Some(offset) = self.copy_source_offset(index, kind, bytes) {
            self.end_string_referents(index, Some(offset));
            let track = named | self.extra_track_bit(index, tracked::MAIN);
            return self.write_copy(index, offset, track);
        }
        let dedupes = options.dedupe_strings || options.aliased_dedupe_strings;
        if dedupes && bytes.len() >= MIN_DEDUPED_LEN {
            let offset = self.offset();
            let first = self.find_first_string(kind == Kind::Text, bytes);
            let first = first.filter(|(_, node)| !self.has_pending_alias(*node)).map(|(offset, _)| offset);
            self.end_string_referents(index, Some(first.unwrap_or(offset)));
            match first {
                Some(first) if options.aliased_dedupe_strings && preceding_tag == PrecedingTag::Item && named == 0 => {
                    self.late_tracks.push(first - self.first_offset);
                    return self.bytes.push_tagged_varint(tag::ALIAS, first);
                }
                Some(first) => return self.bytes.push_tagged_varint(tag::COPY | named, first),
                None if is_only_itself => {
                    self.strings.entry((kind == Kind::Text, bytes)).or_insert((offset, index));
                }
                None => {}
            }
        } else {
            self.end_leaf_referents(index, true);
        }
        let track = named | self.extra_track_bit(index, tracked::MAIN);
        self.write_spelled_string(index, StringOf::Value, kind, bytes, track)
    }

    /// Returns where an equal string was written.
    fn find_first_string(&mut self, is_text: bool, bytes: &'d [u8]) -> Option<(u64, u32)> {
        if let Some((_, offset, node)) = self.long_strings.get(bytes).filter(|(known, ..)| *known == is_text) {
            return Some((offset, node));
        }
        let first = self.strings.get(&(is_text, bytes)).copied();
        if let Some((offset, node)) = first {
            self.long_strings.set(bytes, (is_text, offset, node));
        }
        first
    }

    /// Returns `true` if an alias of the string at `index` follows later. When a decoder reads a COPY of a tracked
    /// string, it tracks the copy in the place of the first string. The alias would then refer to the copy.
    fn has_pending_alias(&self, index: u32) -> bool {
        let named = self.links.as_ref().and_then(|links| links.variables.get(&index));
        named.is_some_and(|named| named.remaining > 0)
    }

    /// Returns the offset of the string of which this one was a COPY, if both are still equal.
    pub(super) fn copy_source_offset(&self, index: u32, kind: Kind, bytes: &[u8]) -> Option<u64> {
        let target = self.noted_value(index, code::COPY)?;
        self.replay.as_ref()?.offset_of(target, kind, bytes)
    }

    pub(super) fn write_copy(&mut self, index: u32, offset: u64, track: u8) -> Result<(), Error> {
        self.bytes.push_byte(tag::COPY | track)?;
        let width = self.noted_width(index, code::COPY_WIDTH);
        self.bytes.push_varint(offset, width)
    }

    /// Writes a string in full.
    pub(super) fn write_spelled_string(
        &mut self,
        index: u32,
        part: StringOf,
        kind: Kind,
        bytes: &[u8],
        track: u8,
    ) -> Result<(), Error> {
        let offset = self.offset();
        let (tag_code, width_code) = match part {
            StringOf::Value => (code::TAG, code::WIDTH),
            StringOf::Key => (code::KEY_TAG, code::KEY_WIDTH),
            StringOf::Class => (code::CLASS_TAG, code::CLASS_WIDTH),
        };
        let mut tag = string_tag(kind, bytes.len());
        let mut width = 0;
        if let Some(replay) = &mut self.replay {
            replay.record_string(index, part, kind, bytes, offset);
            if kind != Kind::Text && replay.note(index, tag_code) == Some(u64::from(tag::BINARY)) {
                tag = tag::BINARY;
            }
            width = self.noted_width(index, width_code);
        }
        if tag == tag::SHORT_BINARY {
            self.bytes.push_byte(tag | bytes.len() as u8 | track)?;
        } else {
            self.bytes.push_byte(tag | track)?;
            self.bytes.push_varint(bytes.len() as u64, width)?;
        }
        self.bytes.push_slice(bytes)
    }
}
