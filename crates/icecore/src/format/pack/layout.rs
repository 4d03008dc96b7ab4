//! The letters for numbers of fixed size.

use super::template::Order;

/// Form of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Number of bytes.
    pub(super) size: usize,
    pub(super) value: NumberKind,
    pub(super) is_big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    Int,
    Uint,
    Float,
}

impl Layout {
    /// Returns the layout of a letter, on a machine with 64 bits and little-endian
    /// numbers. Returns `None` if the letter is not that of such a number.
    pub(super) fn from_letter(letter: u8, has_exclamation_mark: bool, order: Order) -> Option<Layout> {
        use NumberKind::{Float, Int, Uint};
        let (size, value) = match (letter, has_exclamation_mark) {
            (b'c', _) => (1, Int),
            (b's', _) => (2, Int),
            (b'S', _) => (2, Uint),
            (b'i', _) | (b'l', false) => (4, Int),
            (b'I', _) | (b'L', false) => (4, Uint),
            (b'l', true) | (b'q' | b'j', _) => (8, Int),
            (b'L', true) | (b'Q' | b'J', _) => (8, Uint),
            (b'n' | b'v', true) => (2, Int),
            (b'n' | b'v', false) => (2, Uint),
            (b'N' | b'V', true) => (4, Int),
            (b'N' | b'V', false) => (4, Uint),
            (b'f', _) => (4, Float),
            (b'd' | b'F', _) => (8, Float),
            (b'D', _) => (16, Float),
            _ => return None,
        };
        let is_big_endian = matches!(letter, b'n' | b'N') || order == Order::Big;
        Some(Layout { size, value, is_big_endian })
    }

    /// Returns the bits of an integer, sign-extended if it has a sign.
    pub(super) fn decode_bits(&self, bytes: &[u8]) -> u64 {
        let fold = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        let bits = if self.is_big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) };
        let spare = 64 - 8 * self.size.min(8) as u32;
        match self.value {
            NumberKind::Int => (((bits << spare) as i64) >> spare) as u64,
            _ => bits,
        }
    }
}
