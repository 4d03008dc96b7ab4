//! `%32C`: a sum instead of values.

use crate::document::Node;
use crate::error::{Error, ErrorKind};

/// The sum of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checksum {
    /// Number of bits; 0 if no sum is wanted.
    pub(super) bits: u64,
    sum: u64,
    float: f64,
}

impl Checksum {
    pub(super) fn new(bits: u64) -> Checksum {
        Checksum { bits, ..Checksum::default() }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.bits > 0
    }

    /// Returns `true` if it is kept as a float, as perl does for more than 64 bits.
    fn is_float(&self) -> bool {
        self.bits > 64
    }

    pub(super) fn add_int(&mut self, value: i64) {
        if self.is_float() {
            self.float += value as f64;
        } else {
            self.sum = self.sum.wrapping_add(value as u64);
        }
    }

    pub(super) fn add_uint(&mut self, value: u64) {
        if self.is_float() {
            self.float += value as f64;
        } else {
            self.sum = self.sum.wrapping_add(value);
        }
    }

    /// Counts set bits, whatever the size of the sum.
    pub(super) fn add_bit_count(&mut self, bits: u64) {
        self.sum = self.sum.wrapping_add(bits);
    }

    pub(super) fn add_float(&mut self, value: f64) {
        self.float += value;
    }

    /// Returns the sum, after a field of this letter.
    pub(super) fn make_node(&self, letter: u8) -> Result<Node, Error> {
        let is_float = b"fFdD".contains(&letter) || self.is_float() && b"cCsSiIlLnNUWvVqQjJ".contains(&letter);
        if is_float {
            return reduce_sum(self.float, self.bits).map(Node::float);
        }
        let mask = if self.bits < 64 { (1 << self.bits) - 1 } else { u64::MAX };
        Ok(Node::uint(self.sum & mask))
    }
}

/// Returns the sum without the part beyond its bits.
fn reduce_sum(mut sum: f64, bits: u64) -> Result<f64, Error> {
    let modulus = 2f64.powi(i32::try_from(bits.min(2000)).unwrap_or(2000));
    if sum < 0.0 {
        // Perl adds the modulus until the sum is not below zero: forever, if the sum is
        // so large that adding changes nothing.
        if sum.is_infinite() && modulus.is_finite() || -sum > modulus * 2f64.powi(53) {
            return Err(Error::new(ErrorKind::Unsupported)
                .expecting("a sum that fits its bits")
                .finding("one so far below zero that perl does not come to an end"));
        }
        let rest = sum % modulus;
        sum = if rest == 0.0 { 0.0 } else { rest + modulus };
    }
    Ok((sum / modulus).fract() * modulus)
}
