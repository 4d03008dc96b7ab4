//! Packs numbers and characters.

use super::layout::{Layout, NumberKind};
use super::packer::{BYTES_PER_STEP, PackTask, Packer};
use super::{ber, utf8};
use crate::document::{Kind, Node};
use crate::error::{Error, ErrorKind};
use crate::format::flat::Item;
use crate::num::float128;
use crate::num::numify::{PerlNumber, float_bits};
use crate::output::LossKind;

impl Packer<'_, '_> {
    pub(super) fn pack_numbers(&mut self, task: &PackTask<'_>) -> Result<(), Error> {
        let op = task.op;
        let layout = match op.letter {
            b'C' => Some(Layout { size: 1, value: NumberKind::Uint, is_big_endian: false }),
            letter => Layout::from_letter(letter, op.has_exclamation_mark, op.order),
        };
        let Some(layout) = layout else {
            let found = format!("`{}`", char::from(op.letter).escape_default());
            return Err(super::usage_error(format!("{} at position {} of the template", super::LETTERS, op.offset))
                .finding(found));
        };
        let len = task.len.saturating_mul(layout.size as u64);
        self.check_output_size(len)?;
        self.out.reserve(usize::try_from(len).unwrap_or(0));
        let mut remaining = task.len;
        while remaining > 0 {
            if layout.value != NumberKind::Float {
                remaining -= self.pack_number_run(layout, remaining);
                if remaining == 0 {
                    break;
                }
            }
            self.pack_number(layout, op.letter)?;
            remaining -= 1;
        }
        self.spend_work(usize::try_from(task.len).unwrap_or(usize::MAX) / BYTES_PER_STEP)
    }

    /// Packs integers that fit, while they follow each other in the list: this must be
    /// fast.
    fn pack_number_run(&mut self, layout: Layout, remaining: u64) -> u64 {
        if !self.takes_plain_nodes() {
            return 0;
        }
        let nodes = self.items.peek_leaves(usize::try_from(remaining).unwrap_or(usize::MAX));
        macro_rules! run {
            ($type:ty, $to:ident) => {
                extend(self.out, nodes, |value| <$type>::try_from(value).ok().map(<$type>::$to))
            };
        }
        let count = match (layout.value, layout.size, layout.is_big_endian) {
            (NumberKind::Int, 4, false) => run!(i32, to_le_bytes),
            (NumberKind::Int, 4, true) => run!(i32, to_be_bytes),
            (NumberKind::Uint, 4, false) => run!(u32, to_le_bytes),
            (NumberKind::Uint, 4, true) => run!(u32, to_be_bytes),
            (NumberKind::Int, 2, false) => run!(i16, to_le_bytes),
            (NumberKind::Int, 2, true) => run!(i16, to_be_bytes),
            (NumberKind::Uint, 2, false) => run!(u16, to_le_bytes),
            (NumberKind::Uint, 2, true) => run!(u16, to_be_bytes),
            (NumberKind::Int, 1, _) => run!(i8, to_le_bytes),
            (NumberKind::Uint, 1, _) => run!(u8, to_le_bytes),
            (NumberKind::Int, 8, false) => run!(i64, to_le_bytes),
            (NumberKind::Int, 8, true) => run!(i64, to_be_bytes),
            (NumberKind::Uint, 8, false) => run!(u64, to_le_bytes),
            (NumberKind::Uint, 8, true) => run!(u64, to_be_bytes),
            _ => 0,
        };
        self.items.skip_leaves(count);
        count as u64
    }

    /// Packs the next item as a number.
    fn pack_number(&mut self, layout: Layout, letter: u8) -> Result<(), Error> {
        let (item, node) = self.next_item()?;
        let mut bytes = [0; 16];
        match (layout.value, layout.size) {
            (NumberKind::Float, 4) => {
                let value = self.item_to_float(&item, node);
                let narrow = narrow_to_f32(value);
                if f64::from(narrow) != value && !value.is_nan() {
                    self.items.record_loss_at(LossKind::Precision, node);
                }
                bytes[..4].copy_from_slice(&narrow.to_le_bytes());
            }
            (NumberKind::Float, 8) => bytes[..8].copy_from_slice(&self.item_to_float(&item, node).to_le_bytes()),
            (NumberKind::Float, _) => {
                let x87 = float128::to_x87(&float128::from_f64(self.item_to_float(&item, node)));
                bytes[..10].copy_from_slice(&x87);
            }
            (value, size) => {
                let bits = self.item_to_integer(&item, node, letter)?;
                let spare = 64 - 8 * size.min(8) as u32;
                let fits = match (value, item) {
                    // Too large for a signed field: its bits would look negative.
                    (NumberKind::Int, Item::Uint(_)) => false,
                    (NumberKind::Int, _) => ((bits << spare) as i64) >> spare == bits as i64,
                    (_, Item::Int(number)) if number < 0 => false,
                    _ => (bits << spare) >> spare == bits,
                };
                if !fits {
                    self.items.record_loss_at(LossKind::Wrapped, node);
                }
                bytes[..8].copy_from_slice(&bits.to_le_bytes());
            }
        }
        let bytes = &mut bytes[..layout.size];
        if layout.is_big_endian {
            bytes.reverse();
        }
        self.write_bytes(bytes);
        Ok(())
    }

    /// Returns the 64 bits that perl uses for an item where it needs an integer.
    pub(super) fn item_to_integer(&mut self, item: &Item<'_>, node: u32, letter: u8) -> Result<u64, Error> {
        let number = match *item {
            Item::Int(value) => return Ok(value as u64),
            Item::Uint(value) => return Ok(value),
            Item::Null => return Ok(0),
            Item::Bool(value) => return Ok(u64::from(value)),
            Item::Float(value) => {
                if !value.is_finite() {
                    return Err(self.not_finite_error(item, node, letter));
                }
                let bits = float_bits(value);
                if value.fract() != 0.0 {
                    self.items.record_loss_at(LossKind::Precision, node);
                } else if value < -(2f64.powi(63)) || value >= 2f64.powi(64) {
                    self.items.record_loss_at(LossKind::Wrapped, node);
                }
                return Ok(bits);
            }
            Item::Big(..) => {
                self.items.record_loss_at(LossKind::Wrapped, node);
                PerlNumber::from_text(&item.make_perl_string())
            }
            Item::Bytes(text) | Item::Text(text) => self.numify_text(text, node),
        };
        number.to_bits().ok_or_else(|| self.not_finite_error(item, node, letter))
    }

    #[cold]
    fn not_finite_error(&self, item: &Item<'_>, node: u32, letter: u8) -> Error {
        let found = format!("{} for `{}`", String::from_utf8_lossy(&item.make_perl_string()), char::from(letter));
        self.refused_error(node, "a finite number").finding(found)
    }

    fn numify_text(&mut self, text: &[u8], node: u32) -> PerlNumber {
        let number = PerlNumber::from_text(text);
        if !number.is_number && !text.is_empty() {
            self.items.record_loss_at(LossKind::Numeric, node);
        }
        number
    }

    fn item_to_float(&mut self, item: &Item<'_>, node: u32) -> f64 {
        match *item {
            Item::Int(value) => value as f64,
            Item::Uint(value) => value as f64,
            Item::Null => 0.0,
            Item::Bool(value) => f64::from(u8::from(value)),
            Item::Float(value) => value,
            Item::Big(..) => PerlNumber::from_text(&item.make_perl_string()).float,
            Item::Bytes(text) | Item::Text(text) => self.numify_text(text, node).float,
        }
    }

    #[cold]
    pub(super) fn refused_error(&self, node: u32, expected: &'static str) -> Error {
        Error::new(ErrorKind::Unrepresentable).on_path(self.items.path_at(node)).expecting(expected)
    }

    /// Packs `W` and `U`.
    pub(super) fn pack_characters(&mut self, task: &PackTask<'_>) -> Result<(), Error> {
        let letter = task.op.letter;
        self.check_output_size(task.len)?;
        for _ in 0..task.len {
            let (item, node) = self.next_item()?;
            let value = self.item_to_integer(&item, node, letter)?;
            let is_wide = value > 0xFF;
            if value >= 1 << 63 && (letter == b'U' || !self.is_text || self.has_characters()) {
                return Err(self.refused_error(node, "a character below 2^63").finding(value.to_string()));
            }
            if letter == b'W' && is_wide && !self.is_text {
                self.widen()?;
            }
            let mut bytes = Vec::new();
            match (letter, self.has_characters()) {
                (b'W', true) => utf8::push_character(value, self.out),
                (b'W', false) => {
                    if is_wide {
                        self.items.record_loss_at(LossKind::Wrapped, node);
                    }
                    self.out.push(value as u8);
                }
                (_, false) => utf8::push_character(value, self.out),
                (_, true) => {
                    utf8::push_character(value, &mut bytes);
                    self.write_bytes(&bytes);
                }
            }
            self.spend_work(1)?;
            self.check_output_size(0)?;
        }
        Ok(())
    }

    /// Packs `w`.
    pub(super) fn pack_compressed(&mut self, len: u64) -> Result<(), Error> {
        self.check_output_size(len)?;
        for _ in 0..len {
            let (item, node) = self.next_item()?;
            let magnitude = self.item_to_magnitude(&item, node)?;
            let mut bytes = Vec::new();
            ber::push_compressed(&magnitude, &mut bytes);
            self.write_bytes(&bytes);
            self.spend_work(bytes.len())?;
            self.check_output_size(0)?;
        }
        Ok(())
    }

    /// Returns the bytes of an integer, least significant first.
    fn item_to_magnitude(&mut self, item: &Item<'_>, node: u32) -> Result<Vec<u8>, Error> {
        let float = self.item_to_float(item, node);
        let is_integer = matches!(item, Item::Int(_) | Item::Uint(_));
        let is_special = match *item {
            Item::Float(value) => !value.is_finite(),
            Item::Bytes(text) | Item::Text(text) => PerlNumber::from_text(text).is_special,
            _ => false,
        };
        if is_special {
            return Err(self.not_finite_error(item, node, b'w'));
        }
        if float < 0.0 {
            return Err(self.refused_error(node, "a number of 0 or more").finding("one below zero for `w`"));
        }
        if is_integer || float < 2f64.powi(64) {
            return Ok(self.item_to_integer(item, node, b'w')?.to_le_bytes().to_vec());
        }
        match *item {
            Item::Float(value) => Ok(float_to_magnitude(value)),
            Item::Big(_, magnitude) => Ok(magnitude.to_vec()),
            _ => self.digits_to_magnitude(&item.make_perl_string(), node),
        }
    }

    /// Returns the magnitude of a text that perl takes for a long integer.
    fn digits_to_magnitude(&mut self, text: &[u8], node: u32) -> Result<Vec<u8>, Error> {
        let text = text.split(|byte| *byte == 0).next().unwrap_or(&[]);
        let mut digits = Vec::new();
        let (mut is_past_point, mut has_digit) = (false, false);
        for byte in text {
            match byte {
                b' ' => {}
                b'+' if !has_digit => {}
                b'.' => is_past_point = true,
                b'0'..=b'9' => {
                    has_digit = true;
                    if !is_past_point {
                        digits.push(*byte);
                    }
                }
                _ => {
                    return Err(self
                        .refused_error(node, "only digits in a long number for `w`")
                        .finding("other characters"));
                }
            }
        }
        if digits.len() as u64 > u64::from(self.limits.digits) {
            return Err(self.limits.too_many_digits().on_path(self.items.path_at(node)));
        }
        use crate::num::bigint::Integer;
        Ok(match Integer::parse(&digits) {
            Some(Integer::Int(value)) => value.to_le_bytes().to_vec(),
            Some(Integer::Uint(value)) => value.to_le_bytes().to_vec(),
            Some(Integer::Big { magnitude, .. }) => magnitude,
            None => vec![0],
        })
    }
}

/// Appends integers while they fit; returns how many did.
#[inline(always)]
fn extend<const N: usize>(out: &mut Vec<u8>, nodes: &[Node], bytes: impl Fn(i64) -> Option<[u8; N]>) -> usize {
    const CHUNK: usize = 256;
    let mut chunk = [[0; N]; CHUNK];
    let mut count = 0;
    for nodes in nodes.chunks(CHUNK) {
        let mut fitting = 0;
        for (node, place) in nodes.iter().zip(&mut chunk) {
            match bytes(node.payload as i64) {
                Some(bytes) if node.kind == Kind::Int => *place = bytes,
                _ => break,
            }
            fitting += 1;
        }
        out.extend_from_slice(chunk[..fitting].as_flattened());
        count += fitting;
        if fitting < nodes.len() {
            break;
        }
    }
    count
}

/// Converts to a 32-bit float as perl does: too large values become infinite.
fn narrow_to_f32(value: f64) -> f32 {
    if value > f64::from(f32::MAX) {
        f32::INFINITY
    } else if value < f64::from(f32::MIN) {
        f32::NEG_INFINITY
    } else {
        value as f32
    }
}

/// Returns the magnitude of a float of 2^64 or more.
fn float_to_magnitude(value: f64) -> Vec<u8> {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as usize - 1075;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52) << (exponent % 8);
    let mut magnitude = vec![0; exponent / 8];
    magnitude.extend_from_slice(&mantissa.to_le_bytes()[..8]);
    magnitude
}
