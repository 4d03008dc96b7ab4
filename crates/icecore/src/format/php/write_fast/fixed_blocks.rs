//! Puts texts into the chunk of the fast writer, each as a block of fixed size.
//!
//! Each offset is masked, so a block is always inside of the chunk, and the compiler needs no check of bounds. The
//! mask never changes an offset, because the writer puts at most [`SLACK`] bytes between two checks whether the chunk
//! is full.

use crate::format::php::position::Position;
use crate::format::php::text::push_float;
use crate::num::decimal::{POWERS, few_digits};

/// Number of bytes that are collected before they are passed to the output.
pub(super) const FLUSH_LEN: usize = 8 << 10;
/// Maximum number of bytes between two checks whether the chunk is full. A run of entries is the longest such text:
/// 32 keys of at most 64 bytes, and 32 strings of at most 512 bytes with their lengths and quotes.
const SLACK: usize = 22 << 10;
const MASK: usize = 4 * FLUSH_LEN - 1;
/// The longest block.
const BLOCK: usize = 64;
/// Size of a chunk. A block at the largest offset, `MASK`, still fits into it.
pub(super) const CHUNK_SIZE: usize = MASK + 1 + BLOCK;

const _: () = assert!(FLUSH_LEN + SLACK < MASK);

pub(super) type Chunk = [u8; CHUNK_SIZE];

/// `00` to `99`.
const PAIRS: [u16; 100] = {
    let mut pairs = [0; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = u16::from_le_bytes([b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
        number += 1;
    }
    pairs
};

/// `s:7:"` for each length of up to two digits; the last byte is the length of this text.
const HEADS: [u64; 128] = {
    let mut heads = [0; 128];
    let mut len = 0;
    while len < 100 {
        let (high, low) = (b'0' + (len / 10) as u8, b'0' + (len % 10) as u8);
        let text =
            if len < 10 { [b's', b':', low, b':', b'"', 0, 0, 5] } else { [b's', b':', high, low, b':', b'"', 0, 6] };
        heads[len] = u64::from_le_bytes(text);
        len += 1;
    }
    heads
};

/// Puts a block, of which only the first `len` bytes count. The next block overwrites the others.
#[inline(always)]
pub(super) fn put_block<const N: usize>(chunk: &mut Chunk, filled: usize, block: &[u8; N], len: usize) -> usize {
    const { assert!(N <= BLOCK) };
    let filled = filled & MASK;
    chunk[filled..filled + N].copy_from_slice(block);
    filled + len
}

/// Puts a block of which all bytes count.
#[inline(always)]
pub(super) fn put_all<const N: usize>(chunk: &mut Chunk, filled: usize, block: &[u8; N]) -> usize {
    put_block(chunk, filled, block, N)
}

/// Puts at most [`SLACK`] bytes.
#[inline(always)]
pub(super) fn put_slice(chunk: &mut Chunk, filled: usize, bytes: &[u8]) -> usize {
    let filled = filled & MASK;
    match chunk.get_mut(filled..filled + bytes.len()) {
        Some(target) => target.copy_from_slice(bytes),
        None => debug_assert!(false, "no room was looked for"),
    }
    filled + bytes.len()
}

/// Returns the text of a number with four digits as an integer. Its lowest byte is the first digit.
#[inline(always)]
fn four_digits(value: u32) -> u32 {
    let (high, low) = (value as usize / 100, value as usize % 100);
    u32::from(PAIRS[high % 100]) | (u32::from(PAIRS[low]) << 16)
}

#[inline(always)]
pub(super) fn put_digits(chunk: &mut Chunk, filled: usize, value: u64) -> usize {
    if value < 10 {
        return put_all(chunk, filled, &[b'0' + value as u8]);
    }
    if value < 10_000 {
        // Number of leading zeros among the four digits. They are in the lowest bytes, so a shift removes them.
        let unused = if value < 100 { 2 } else { u32::from(value < 1000) };
        return put_block(
            chunk,
            filled,
            &(four_digits(value as u32) >> (8 * unused)).to_le_bytes(),
            4 - unused as usize,
        );
    }
    if value < 100_000_000 {
        let (text, len) = eight_digits(value as u32);
        return put_block(chunk, filled, &text.to_le_bytes(), len);
    }
    put_many_digits(chunk, filled, value)
}

/// Returns the text of a number of five to eight digits as an integer, and its length.
#[inline(always)]
fn eight_digits(value: u32) -> (u64, usize) {
    let text = u64::from(four_digits(value / 10_000)) | (u64::from(four_digits(value % 10_000)) << 32);
    // The XOR turns each digit `0` into a zero byte. The first digit is in the lowest byte, so the trailing zero
    // bytes are the leading zeros of the number.
    let unused = ((text ^ 0x3030_3030_3030_3030).trailing_zeros() / 8) & 7;
    (text >> (8 * unused), 8 - unused as usize)
}

#[inline(never)]
fn put_many_digits(chunk: &mut Chunk, filled: usize, value: u64) -> usize {
    let (high, low) = (value / 100_000_000, (value % 100_000_000) as u32);
    let filled = put_digits(chunk, filled, high);
    let text = u64::from(four_digits(low / 10_000)) | (u64::from(four_digits(low % 10_000)) << 32);
    put_all(chunk, filled, &text.to_le_bytes())
}

/// Puts `i:5;`.
#[inline(always)]
pub(super) fn put_integer(chunk: &mut Chunk, filled: usize, value: i64) -> usize {
    const INTEGER_PREFIX: u64 = u16::from_le_bytes(*b"i:") as u64;
    if (0..100).contains(&value) {
        let unused = u32::from(value < 10);
        let text = (u64::from(PAIRS[value as usize]) | (u64::from(b';') << 16)) >> (8 * unused);
        return put_block(chunk, filled, &(INTEGER_PREFIX | (text << 16)).to_le_bytes(), 5 - unused as usize);
    }
    if (0..10_000).contains(&value) {
        let unused = u32::from(value < 1000);
        let text = (u64::from(four_digits(value as u32)) | (u64::from(b';') << 32)) >> (8 * unused);
        return put_block(chunk, filled, &(INTEGER_PREFIX | (text << 16)).to_le_bytes(), 7 - unused as usize);
    }
    let filled = if value < 0 { put_all(chunk, filled, b"i:-") } else { put_all(chunk, filled, b"i:") };
    let filled = put_digits(chunk, filled, value.unsigned_abs());
    put_all(chunk, filled, b";")
}

/// Puts `s:5:"` for a string of less than a hundred bytes.
#[inline(always)]
pub(super) fn put_short_string_head(chunk: &mut Chunk, filled: usize, len: usize) -> usize {
    let head = HEADS[len & 127];
    put_block(chunk, filled, &head.to_le_bytes(), (head >> 56) as usize)
}

/// Puts `s:5:"`, or the same with another letter.
#[inline(always)]
pub(super) fn put_string_head(chunk: &mut Chunk, filled: usize, letter: u8, len: usize) -> usize {
    let filled = put_all(chunk, filled, &[letter, b':']);
    let filled = put_digits(chunk, filled, len as u64);
    put_all(chunk, filled, b":\"")
}

/// Puts `d:0.5;`. A float that needs many digits is formatted at the end of `buf`, which is
/// then truncated again.
#[inline(never)]
pub(super) fn put_float(chunk: &mut Chunk, filled: usize, value: f64, buf: &mut Vec<u8>) -> usize {
    let mut filled = put_all(chunk, filled, b"d:");
    match few_digits(value.abs()) {
        Some((digits, scale)) if scale > 0 => {
            if value < 0.0 {
                filled = put_all(chunk, filled, b"-");
            }
            let ten = POWERS[scale];
            filled = self::put_digits(chunk, filled, (digits / ten) as u64);
            let point = filled & MASK;
            // The leading 1 keeps zeros after the point, and is replaced by the point.
            filled = self::put_digits(chunk, filled, (ten + digits % ten) as u64);
            chunk[point] = b'.';
        }
        _ => {
            let before = buf.len();
            push_float(value, buf);
            filled = put_slice(chunk, filled, &buf[before..]);
            buf.truncate(before);
        }
    }
    put_all(chunk, filled, b";")
}

/// Puts the position of an item of a list.
#[inline(always)]
pub(super) fn put_position(chunk: &mut Chunk, filled: usize, position: &Position) -> usize {
    let (text, len) = position.as_word();
    if len == 0 {
        return put_integer(chunk, filled, i64::from(position.number()));
    }
    put_block(chunk, filled, &text.to_le_bytes(), len)
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_SIZE, Position, put_digits, put_float, put_integer, put_position};

    #[test]
    fn integers_are_written_like_rust_does() {
        let mut chunk = [0; CHUNK_SIZE];
        let around = |power: u32| 10u64.pow(power).saturating_sub(2)..10u64.pow(power) + 2;
        let values = (0..20).flat_map(around).chain(0..20_000).chain([u64::MAX, i64::MAX as u64, 1 << 63]);
        for value in values {
            let filled = put_digits(&mut chunk, 7, value);
            assert_eq!(String::from_utf8_lossy(&chunk[7..filled]), value.to_string());
            for signed in [value as i64, (value as i64).wrapping_neg()] {
                let filled = put_integer(&mut chunk, 0, signed);
                assert_eq!(String::from_utf8_lossy(&chunk[..filled]), format!("i:{signed};"));
            }
        }
    }

    #[test]
    fn floats_are_written_like_the_machine_does() {
        let (mut chunk, mut buf) = ([0; CHUNK_SIZE], Vec::new());
        let mut number = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0..100_000 {
            number = number.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
            let value = (number >> (20 + round % 43)) as f64 / 10f64.powi((round % 20) - 9);
            for value in [value, -value, f64::from_bits(number)] {
                let filled = put_float(&mut chunk, 0, value, &mut buf);
                let (digits, point) = crate::num::shortest_digits(value.abs());
                let text = String::from_utf8_lossy(&chunk[2..filled - 1]);
                assert!(buf.is_empty());
                if value.is_finite() && value != 0.0 {
                    assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
                    let written: String = text.split(['E']).next().unwrap().replace(['-', '.'], "");
                    let shortest = String::from_utf8(digits).unwrap();
                    assert_eq!(written.trim_matches('0'), shortest.trim_matches('0'), "{value} {point}");
                }
            }
        }
    }

    #[test]
    fn positions_are_written_and_counted() {
        let mut chunk = [0; CHUNK_SIZE];
        let mut position = Position::from_number(0);
        for number in 0..120_000 {
            let filled = put_position(&mut chunk, 0, &position);
            assert_eq!(String::from_utf8_lossy(&chunk[..filled]), format!("i:{number};"));
            position.increment();
        }
    }
}
