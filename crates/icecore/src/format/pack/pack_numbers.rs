//! Packs numbers and characters.

use super::layout::{Layout, Value};
use super::packer::{Packer, QUICK, Task};
use super::{ber, utf8};
use crate::document::{Kind, Node};
use crate::error::{Error, ErrorKind};
use crate::format::flat::Item;
use crate::num::float128;
use crate::num::numify::{Numified, float_bits};
use crate::output::LossKind;

impl Packer<'_, '_> {
    pub(super) fn numbers(&mut self, task: &Task<'_>) -> Result<(), Error> {
        let op = task.op;
        let layout = match op.letter {
            b'C' => Some(Layout { size: 1, value: Value::Uint, big: false }),
            letter => Layout::of(letter, op.shriek, op.order),
        };
        let Some(layout) = layout else {
            let found = format!("`{}`", char::from(op.letter).escape_default());
            return Err(
                super::usage(format!("{} at position {} of the template", super::LETTERS, op.at)).finding(found)
            );
        };
        let len = task.len.saturating_mul(layout.size as u64);
        self.room(len)?;
        self.out.reserve(usize::try_from(len).unwrap_or(0));
        let mut left = task.len;
        while left > 0 {
            if layout.value != Value::Float {
                left -= self.run_of(layout, left);
                if left == 0 {
                    break;
                }
            }
            self.number(layout, op.letter)?;
            left -= 1;
        }
        self.spend(usize::try_from(task.len).unwrap_or(usize::MAX) / QUICK)
    }

    /// Packs integers that fit, while they follow each other in the list: this must be
    /// fast.
    fn run_of(&mut self, layout: Layout, left: u64) -> u64 {
        if !self.is_plain() {
            return 0;
        }
        let nodes = self.items.run(usize::try_from(left).unwrap_or(usize::MAX));
        macro_rules! run {
            ($type:ty, $to:ident) => {
                extend(self.out, nodes, |value| <$type>::try_from(value).ok().map(<$type>::$to))
            };
        }
        let count = match (layout.value, layout.size, layout.big) {
            (Value::Int, 4, false) => run!(i32, to_le_bytes),
            (Value::Int, 4, true) => run!(i32, to_be_bytes),
            (Value::Uint, 4, false) => run!(u32, to_le_bytes),
            (Value::Uint, 4, true) => run!(u32, to_be_bytes),
            (Value::Int, 2, false) => run!(i16, to_le_bytes),
            (Value::Int, 2, true) => run!(i16, to_be_bytes),
            (Value::Uint, 2, false) => run!(u16, to_le_bytes),
            (Value::Uint, 2, true) => run!(u16, to_be_bytes),
            (Value::Int, 1, _) => run!(i8, to_le_bytes),
            (Value::Uint, 1, _) => run!(u8, to_le_bytes),
            (Value::Int, 8, false) => run!(i64, to_le_bytes),
            (Value::Int, 8, true) => run!(i64, to_be_bytes),
            (Value::Uint, 8, false) => run!(u64, to_le_bytes),
            (Value::Uint, 8, true) => run!(u64, to_be_bytes),
            _ => 0,
        };
        self.items.skip(count);
        count as u64
    }

    /// Packs the next item as a number.
    fn number(&mut self, layout: Layout, letter: u8) -> Result<(), Error> {
        let (item, at) = self.next()?;
        let mut bytes = [0; 16];
        match (layout.value, layout.size) {
            (Value::Float, 4) => {
                let value = self.float(&item, at);
                let narrow = narrow(value);
                if f64::from(narrow) != value && !value.is_nan() {
                    self.items.lose_at(LossKind::Precision, at);
                }
                bytes[..4].copy_from_slice(&narrow.to_le_bytes());
            }
            (Value::Float, 8) => bytes[..8].copy_from_slice(&self.float(&item, at).to_le_bytes()),
            (Value::Float, _) => {
                let x87 = float128::to_x87(&float128::from_f64(self.float(&item, at)));
                bytes[..10].copy_from_slice(&x87);
            }
            (value, size) => {
                let bits = self.integer(&item, at, letter)?;
                let spare = 64 - 8 * size.min(8) as u32;
                let fits = match (value, item) {
                    // Too large for a signed field: its bits would look negative.
                    (Value::Int, Item::Uint(_)) => false,
                    (Value::Int, _) => ((bits << spare) as i64) >> spare == bits as i64,
                    (_, Item::Int(number)) if number < 0 => false,
                    _ => (bits << spare) >> spare == bits,
                };
                if !fits {
                    self.items.lose_at(LossKind::Wrapped, at);
                }
                bytes[..8].copy_from_slice(&bits.to_le_bytes());
            }
        }
        let bytes = &mut bytes[..layout.size];
        if layout.big {
            bytes.reverse();
        }
        self.push(bytes);
        Ok(())
    }

    /// Returns the 64 bits that perl uses for an item where it needs an integer.
    pub(super) fn integer(&mut self, item: &Item<'_>, at: u32, letter: u8) -> Result<u64, Error> {
        let number = match *item {
            Item::Int(value) => return Ok(value as u64),
            Item::Uint(value) => return Ok(value),
            Item::Null => return Ok(0),
            Item::Bool(value) => return Ok(u64::from(value)),
            Item::Float(value) => {
                if !value.is_finite() {
                    return Err(self.not_finite(item, at, letter));
                }
                let bits = float_bits(value);
                if value.fract() != 0.0 {
                    self.items.lose_at(LossKind::Precision, at);
                } else if value < -(2f64.powi(63)) || value >= 2f64.powi(64) {
                    self.items.lose_at(LossKind::Wrapped, at);
                }
                return Ok(bits);
            }
            Item::Big(..) => {
                self.items.lose_at(LossKind::Wrapped, at);
                Numified::of(&item.string())
            }
            Item::Bytes(text) | Item::Text(text) => self.numified(text, at),
        };
        number.bits().ok_or_else(|| self.not_finite(item, at, letter))
    }

    #[cold]
    fn not_finite(&self, item: &Item<'_>, at: u32, letter: u8) -> Error {
        let found = format!("{} for `{}`", String::from_utf8_lossy(&item.string()), char::from(letter));
        self.refused(at, "a finite number").finding(found)
    }

    fn numified(&mut self, text: &[u8], at: u32) -> Numified {
        let number = Numified::of(text);
        if !number.is_number && !text.is_empty() {
            self.items.lose_at(LossKind::Numeric, at);
        }
        number
    }

    fn float(&mut self, item: &Item<'_>, at: u32) -> f64 {
        match *item {
            Item::Int(value) => value as f64,
            Item::Uint(value) => value as f64,
            Item::Null => 0.0,
            Item::Bool(value) => f64::from(u8::from(value)),
            Item::Float(value) => value,
            Item::Big(..) => Numified::of(&item.string()).float,
            Item::Bytes(text) | Item::Text(text) => self.numified(text, at).float,
        }
    }

    #[cold]
    pub(super) fn refused(&self, at: u32, expected: &'static str) -> Error {
        Error::new(ErrorKind::Unrepresentable).on_path(self.items.path(at)).expecting(expected)
    }

    /// Packs `W` and `U`.
    pub(super) fn characters(&mut self, task: &Task<'_>) -> Result<(), Error> {
        let letter = task.op.letter;
        self.room(task.len)?;
        for _ in 0..task.len {
            let (item, at) = self.next()?;
            let value = self.integer(&item, at, letter)?;
            let is_wide = value > 0xFF;
            if value >= 1 << 63 && (letter == b'U' || !self.is_text || self.has_characters()) {
                return Err(self.refused(at, "a character below 2^63").finding(value.to_string()));
            }
            if letter == b'W' && is_wide && !self.is_text {
                self.widen()?;
            }
            let mut bytes = Vec::new();
            match (letter, self.has_characters()) {
                (b'W', true) => utf8::push(value, self.out),
                (b'W', false) => {
                    if is_wide {
                        self.items.lose_at(LossKind::Wrapped, at);
                    }
                    self.out.push(value as u8);
                }
                (_, false) => utf8::push(value, self.out),
                (_, true) => {
                    utf8::push(value, &mut bytes);
                    self.push(&bytes);
                }
            }
            self.spend(1)?;
            self.room(0)?;
        }
        Ok(())
    }

    /// Packs `w`.
    pub(super) fn compressed(&mut self, len: u64) -> Result<(), Error> {
        self.room(len)?;
        for _ in 0..len {
            let (item, at) = self.next()?;
            let magnitude = self.magnitude(&item, at)?;
            let mut bytes = Vec::new();
            ber::push(&magnitude, &mut bytes);
            self.push(&bytes);
            self.spend(bytes.len())?;
            self.room(0)?;
        }
        Ok(())
    }

    /// Returns the bytes of an integer, least significant first.
    fn magnitude(&mut self, item: &Item<'_>, at: u32) -> Result<Vec<u8>, Error> {
        let float = self.float(item, at);
        let is_integer = matches!(item, Item::Int(_) | Item::Uint(_));
        let is_special = match *item {
            Item::Float(value) => !value.is_finite(),
            Item::Bytes(text) | Item::Text(text) => Numified::of(text).is_special,
            _ => false,
        };
        if is_special {
            return Err(self.not_finite(item, at, b'w'));
        }
        if float < 0.0 {
            return Err(self.refused(at, "a number of 0 or more").finding("one below zero for `w`"));
        }
        if is_integer || float < 2f64.powi(64) {
            return Ok(self.integer(item, at, b'w')?.to_le_bytes().to_vec());
        }
        match *item {
            Item::Float(value) => Ok(magnitude_of(value)),
            Item::Big(_, magnitude) => Ok(magnitude.to_vec()),
            _ => self.digits_of(&item.string(), at),
        }
    }

    /// Returns the magnitude of a text that perl takes for a long integer.
    fn digits_of(&mut self, text: &[u8], at: u32) -> Result<Vec<u8>, Error> {
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
                _ => return Err(self.refused(at, "only digits in a long number for `w`").finding("other characters")),
            }
        }
        if digits.len() as u64 > u64::from(self.limits.digits) {
            return Err(self.limits.too_many_digits().on_path(self.items.path(at)));
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
    const PART: usize = 256;
    let mut part = [[0; N]; PART];
    let mut count = 0;
    for nodes in nodes.chunks(PART) {
        let mut fit = 0;
        for (node, place) in nodes.iter().zip(&mut part) {
            match bytes(node.payload as i64) {
                Some(bytes) if node.kind == Kind::Int => *place = bytes,
                _ => break,
            }
            fit += 1;
        }
        out.extend_from_slice(part[..fit].as_flattened());
        count += fit;
        if fit < nodes.len() {
            break;
        }
    }
    count
}

/// Converts to a 32-bit float as perl does: too large values become infinite.
fn narrow(value: f64) -> f32 {
    if value > f64::from(f32::MAX) {
        f32::INFINITY
    } else if value < f64::from(f32::MIN) {
        f32::NEG_INFINITY
    } else {
        value as f32
    }
}

/// Returns the magnitude of a float of 2^64 or more.
fn magnitude_of(value: f64) -> Vec<u8> {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as usize - 1075;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52) << (exponent % 8);
    let mut magnitude = vec![0; exponent / 8];
    magnitude.extend_from_slice(&mantissa.to_le_bytes()[..8]);
    magnitude
}
