//! `w`: integers of any size, with seven bits in each byte.

use super::read::Unpacker;
use crate::document::{Kind, Node, Sink};
use crate::error::{Error, ErrorKind};
use crate::num::bigint;

/// Maximum number of bytes of an integer that perl does not return as a string of digits.
const MAX_INTEGER_BYTES: usize = 8;

impl<S: Sink> Unpacker<'_, S> {
    pub(super) fn read_compressed(&mut self, len: u64) -> Result<(), Error> {
        let in_characters = self.current_frame().counts_characters;
        let mut digits: Vec<u8> = Vec::new();
        let mut remaining = len.min(self.bytes_left() as u64);
        while remaining > 0 && self.position < self.data.len() {
            digits.clear();
            loop {
                let Some(byte) = self.read_byte(in_characters)? else {
                    return Err(Error::new(ErrorKind::Truncated)
                        .expecting("the last byte of a compressed integer")
                        .finding("the end"));
                };
                digits.push(byte & 0x7F);
                // A decimal digit has more than three bits.
                if digits.len() as u64 * 7 > u64::from(self.limits.digits) * 10 / 3 + 64 {
                    return Err(self.limits.too_many_digits());
                }
                if byte < 0x80 {
                    break;
                }
            }
            self.spend_work(digits.len())?;
            if digits.len() <= MAX_INTEGER_BYTES {
                let value = digits.iter().fold(0, |value, digit| value << 7 | u64::from(*digit));
                self.push_value(Node::uint(value))?;
            } else {
                self.push_digits(&digits)?;
            }
            remaining -= 1;
        }
        Ok(())
    }

    /// Pushes the digits: perl returns long integers as text without leading zeros, so
    /// zero is empty.
    fn push_digits(&mut self, digits: &[u8]) -> Result<(), Error> {
        let magnitude = magnitude_from_digits(digits);
        if bigint::exceeds(&magnitude, self.limits.digits) {
            return Err(self.limits.too_many_digits());
        }
        let tape = self.sink.tape();
        let start = tape.arena.len();
        if magnitude.iter().any(|byte| *byte != 0) {
            bigint::push_decimal(false, &magnitude, &mut tape.arena);
        }
        self.push_owned_string(start)
    }

    /// Pushes a byte string of everything in the arena from `start` on.
    pub(super) fn push_owned_string(&mut self, start: usize) -> Result<(), Error> {
        let len = self.sink.tape().arena.len() - start;
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64));
        }
        let tape = self.sink.tape();
        let node = tape.new_string_at(Kind::Bytes, crate::document::Location::Arena(start as u64), len);
        self.push_value(node)
    }
}

/// Converts groups of seven bits, most significant first, to bytes, least significant
/// first.
fn magnitude_from_digits(digits: &[u8]) -> Vec<u8> {
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(digits.len()), 0u32, 0);
    for digit in digits.iter().rev() {
        bits |= u32::from(*digit) << count;
        count += 7;
        if count >= 8 {
            bytes.push(bits as u8);
            bits >>= 8;
            count -= 8;
        }
    }
    bytes.push(bits as u8);
    bytes
}

/// Appends an integer with this magnitude, least significant byte first.
pub(super) fn push_compressed(magnitude: &[u8], out: &mut Vec<u8>) {
    let (mut digits, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for byte in magnitude {
        bits |= u32::from(*byte) << count;
        count += 8;
        while count >= 7 {
            digits.push((bits & 0x7F) as u8);
            bits >>= 7;
            count -= 7;
        }
    }
    digits.push(bits as u8);
    while digits.len() > 1 && digits.last() == Some(&0) {
        digits.pop();
    }
    let last = digits.len() - 1;
    out.extend(digits.iter().rev().enumerate().map(|(index, digit)| if index == last { *digit } else { digit | 0x80 }));
}

#[cfg(test)]
mod tests {
    #[test]
    fn magnitudes_round_trip() {
        for magnitude in
            [&[0u8][..], &[0x7F], &[0x80], &[0xFF; 9], &[0, 0, 0, 0, 0, 0, 0, 0, 1], &[1, 2, 3, 4, 5, 6, 7]]
        {
            let mut bytes = Vec::new();
            super::push_compressed(magnitude, &mut bytes);
            let digits: Vec<u8> = bytes.iter().map(|byte| byte & 0x7F).collect();
            let decoded = super::magnitude_from_digits(&digits);
            let trimmed = |bytes: &[u8]| {
                bytes.iter().rposition(|byte| *byte != 0).map_or(vec![], |index| bytes[..=index].to_vec())
            };
            assert_eq!(trimmed(&decoded), trimmed(magnitude));
        }
    }
}
