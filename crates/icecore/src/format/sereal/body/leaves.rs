//! Numbers and strings.

use super::super::keys::text_if_not_ascii;
use super::super::spelling::{Part, code, string_tag, tracked};
use super::super::tag;
use super::super::write::is_float;
use super::{After, Body};
use crate::document::{Kind, Node, flag};
use crate::error::Error;
use crate::num::{bigint, float128};
use crate::output::LossKind;

/// Shortest string that `dedupe_strings` examines.
const LEAST_DEDUPED: usize = 4;

impl<'d> Body<'d, '_> {
    pub(super) fn leaf(&mut self, at: u32, node: &'d Node, after: After) -> Result<(), Error> {
        if node.has(flag::WEAK) {
            // There is no reference that could be weak.
            self.lose(LossKind::Weak, at);
        }
        self.pads(at, 0)?;
        if node.kind.has_bytes() && node.kind != Kind::Float128 {
            return self.string_leaf(at, node, after);
        }
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        self.no_inner_tag(at, false);
        let noted = self.noted(at, code::TAG).and_then(|tag| u8::try_from(tag).ok());
        match node.kind {
            Kind::Int => self.int(at, node.payload as i64, noted, track),
            Kind::Uint => self.tagged(at, tag::VARINT | track, node.payload),
            Kind::Float => self.float(f64::from_bits(node.payload), noted, at, track),
            Kind::Float32 => self.float32(f32::from_bits(node.payload as u32), track),
            Kind::Float128 => self.wide_float(at, node, noted, track),
            Kind::Bool => {
                let own = node.has(flag::OWN).then_some(tag::TRUE);
                self.bool(at, node.payload != 0, noted.or(own), track)
            }
            Kind::Hole => {
                self.lose(LossKind::Hole, at);
                self.bytes.byte(tag::CANONICAL_UNDEF | track)
            }
            _ => {
                let own = node.has(flag::OWN) && self.plan.version >= 3;
                let default = if own { tag::CANONICAL_UNDEF } else { tag::UNDEF };
                let tag = noted.filter(|tag| *tag == tag::CANONICAL_UNDEF).unwrap_or(default);
                self.bytes.byte(tag | track)
            }
        }
    }

    fn tagged(&mut self, at: u32, tag: u8, value: u64) -> Result<(), Error> {
        self.bytes.byte(tag)?;
        let width = self.noted_width(at, code::WIDTH);
        self.bytes.varint(value, width)
    }

    fn int(&mut self, at: u32, value: i64, noted: Option<u8>, track: u8) -> Result<(), Error> {
        let zigzag = (value << 1 ^ value >> 63) as u64;
        match (noted, value) {
            (Some(tag::VARINT), 0..) => self.tagged(at, tag::VARINT | track, value as u64),
            (Some(tag::ZIGZAG), _) => self.tagged(at, tag::ZIGZAG | track, zigzag),
            (_, 0..=15) => self.bytes.byte(value as u8 | track),
            (_, 16..) => self.tagged(at, tag::VARINT | track, value as u64),
            (_, -16..) => self.bytes.byte((value + 32) as u8 | track),
            _ => self.tagged(at, tag::ZIGZAG | track, zigzag),
        }
    }

    fn float(&mut self, value: f64, noted: Option<u8>, at: u32, track: u8) -> Result<(), Error> {
        match noted {
            Some(tag::LONG_DOUBLE) => {
                self.bytes.byte(tag::LONG_DOUBLE | track)?;
                self.long_double(at, &float128::from_f64(value))
            }
            Some(tag::FLOAT_128) => {
                self.bytes.byte(tag::FLOAT_128 | track)?;
                self.bytes.slice(&float128::from_f64(value))
            }
            None if is_float(value) => self.float32(value as f32, track),
            _ => {
                self.bytes.byte(tag::DOUBLE | track)?;
                self.bytes.slice(&value.to_le_bytes())
            }
        }
    }

    fn float32(&mut self, value: f32, track: u8) -> Result<(), Error> {
        self.bytes.byte(tag::FLOAT | track)?;
        self.bytes.slice(&value.to_le_bytes())
    }

    fn wide_float(&mut self, at: u32, node: &Node, noted: Option<u8>, track: u8) -> Result<(), Error> {
        let wide: [u8; 16] = self.document.bytes(node).try_into().unwrap_or([0; 16]);
        let exact = float128::to_f64_exact(&wide);
        if self.plan.options.use_standard_double || self.spelled.is_none() && exact.is_some() {
            if exact.is_none() {
                self.lose(LossKind::Precision, at);
            }
            return self.float(float128::to_f64(&wide), None, at, track);
        }
        let fits = float128::from_x87(&float128::to_x87(&wide)) == wide;
        let tag = match noted {
            Some(tag::FLOAT_128) => tag::FLOAT_128,
            // Few perls can read the other tag.
            _ if fits || self.plan.version < 5 || self.spelled.is_none() => tag::LONG_DOUBLE,
            _ => tag::FLOAT_128,
        };
        self.bytes.byte(tag | track)?;
        if tag == tag::FLOAT_128 {
            return self.bytes.slice(&wide);
        }
        // Most perls use doubles, and lose the additional digits.
        if !fits || self.spelled.is_none() {
            self.lose(LossKind::Precision, at);
        }
        self.long_double(at, &wide)
    }

    fn long_double(&mut self, at: u32, wide: &[u8; 16]) -> Result<(), Error> {
        let kept = self.spelled.as_ref().and_then(|spelled| spelled.kept(at, code::PADDING));
        if let Some(kept) = kept.filter(|kept| kept.len() == 16) {
            return self.bytes.slice(kept);
        }
        self.bytes.slice(&float128::to_x87(wide))?;
        self.bytes.slice(kept.filter(|kept| kept.len() == 6).unwrap_or(&[0; 6]))
    }

    fn bool(&mut self, at: u32, value: bool, noted: Option<u8>, track: u8) -> Result<(), Error> {
        let (yes, no) = match noted {
            Some(tag::TRUE | tag::FALSE) => (tag::TRUE, tag::FALSE),
            _ if self.plan.version >= 5 || self.spelled.is_some() => (tag::YES, tag::NO),
            _ => {
                self.lose(LossKind::Bool, at);
                (tag::POS | 1, tag::SHORT_BINARY)
            }
        };
        self.bytes.byte(if value { yes } else { no } | track)
    }

    fn string_leaf(&mut self, at: u32, node: &'d Node, after: After) -> Result<(), Error> {
        let bytes = self.document.bytes(node);
        let (kind, loss) = match node.kind {
            Kind::Bytes | Kind::Text => (node.kind, None),
            Kind::Symbol => (text_if_not_ascii(bytes), Some(LossKind::Symbol)),
            Kind::Module | Kind::EnumCase => (text_if_not_ascii(bytes), Some(LossKind::Name)),
            Kind::BigInt => return self.big_int(at, bytes, node.has(flag::NEGATIVE)),
            _ => (Kind::Bytes, Some(LossKind::Encoding)),
        };
        if let Some(loss) = loss {
            self.lose(loss, at);
        }
        self.text(at, kind, bytes, after)
    }

    /// Perl has no such numbers, but strings that are numbers.
    fn big_int(&mut self, at: u32, magnitude: &[u8], negative: bool) -> Result<(), Error> {
        if bigint::exceeds(magnitude, self.plan.limits.digits) {
            return Err(self.plan.limits.too_many_digits().on_path(self.document.path(at)));
        }
        self.lose(LossKind::BigInt, at);
        let mut digits = Vec::new();
        bigint::push_decimal(negative, magnitude, &mut digits);
        let track = self.first_tag(at);
        self.no_inner_tag(at, true);
        self.spelled_string(at, Part::Value, Kind::Bytes, &digits, track)
    }

    fn text(&mut self, at: u32, kind: Kind, bytes: &'d [u8], after: After) -> Result<(), Error> {
        let is_only_itself = self.pending_variables.is_empty();
        let named = self.first_tag(at);
        let options = self.plan.options;
        if let Some(offset) = self.copied_from(at, kind, bytes) {
            self.no_inner_tag_but(at, Some(offset));
            let track = named | self.extra_track(at, tracked::MAIN);
            return self.copy(at, offset, track);
        }
        let dedupes = options.dedupe_strings || options.aliased_dedupe_strings;
        if dedupes && bytes.len() >= LEAST_DEDUPED {
            let offset = self.offset();
            let first = self.first_of(kind == Kind::Text, bytes);
            let first = first.filter(|(_, node)| !self.is_still_named(*node)).map(|(offset, _)| offset);
            self.no_inner_tag_but(at, Some(first.unwrap_or(offset)));
            match first {
                Some(first) if options.aliased_dedupe_strings && after == After::Item && named == 0 => {
                    self.late_tracks.push(first - self.first);
                    return self.bytes.tagged(tag::ALIAS, first);
                }
                Some(first) => return self.bytes.tagged(tag::COPY | named, first),
                None if is_only_itself => {
                    self.strings.entry((kind == Kind::Text, bytes)).or_insert((offset, at));
                }
                None => {}
            }
        } else {
            self.no_inner_tag(at, true);
        }
        let track = named | self.extra_track(at, tracked::MAIN);
        self.spelled_string(at, Part::Value, kind, bytes, track)
    }

    /// Returns where an equal string was written.
    fn first_of(&mut self, is_text: bool, bytes: &'d [u8]) -> Option<(u64, u32)> {
        if let Some((_, offset, at)) = self.places.get(bytes).filter(|(known, ..)| *known == is_text) {
            return Some((offset, at));
        }
        let first = self.strings.get(&(is_text, bytes)).copied();
        if let Some((offset, at)) = first {
            self.places.set(bytes, (is_text, offset, at));
        }
        first
    }

    /// Whether an alias of the string at `at` is still to come. Reading a COPY of the
    /// string tracks the copy in its place, so the alias would then refer to the copy.
    fn is_still_named(&self, at: u32) -> bool {
        let named = self.links.as_ref().and_then(|links| links.variables.get(&at));
        named.is_some_and(|named| named.left > 0)
    }

    /// Returns where the string is of which this one was, and still is, a COPY.
    pub(super) fn copied_from(&self, at: u32, kind: Kind, bytes: &[u8]) -> Option<u64> {
        let target = self.noted(at, code::COPY)?;
        self.spelled.as_ref()?.offset_of(target, kind, bytes)
    }

    pub(super) fn copy(&mut self, at: u32, offset: u64, track: u8) -> Result<(), Error> {
        self.bytes.byte(tag::COPY | track)?;
        let width = self.noted_width(at, code::COPY_WIDTH);
        self.bytes.varint(offset, width)
    }

    /// Writes a string in full.
    pub(super) fn spelled_string(
        &mut self,
        at: u32,
        part: Part,
        kind: Kind,
        bytes: &[u8],
        track: u8,
    ) -> Result<(), Error> {
        let offset = self.offset();
        let (tag_code, width_code) = match part {
            Part::Value => (code::TAG, code::WIDTH),
            Part::Key => (code::KEY_TAG, code::KEY_WIDTH),
            Part::Class => (code::CLASS_TAG, code::CLASS_WIDTH),
        };
        let mut tag = string_tag(kind, bytes.len());
        let mut width = 0;
        if let Some(spelled) = &mut self.spelled {
            spelled.written(at, part, kind, bytes, offset);
            if kind != Kind::Text && spelled.note(at, tag_code) == Some(u64::from(tag::BINARY)) {
                tag = tag::BINARY;
            }
            width = self.noted_width(at, width_code);
        }
        if tag == tag::SHORT_BINARY {
            self.bytes.byte(tag | bytes.len() as u8 | track)?;
        } else {
            self.bytes.byte(tag | track)?;
            self.bytes.varint(bytes.len() as u64, width)?;
        }
        self.bytes.slice(bytes)
    }
}
