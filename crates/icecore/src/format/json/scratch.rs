//! Writes small tokens into a buffer of fixed size, the scratch. Offsets are only compared
//! with its constant size, and copies have a constant length, so optimization removes most
//! checks.

use super::string::{is_special, non_ascii_mask, special_byte_mask};
use crate::num::FloatText;

/// Size of a scratch: the longest string, the longest rendered key, and slack for copies that
/// write more than they keep.
pub(super) const SCRATCH_LEN: usize = 640;
/// Maximum length of a string that is written into a scratch.
pub(super) const MAX_STRING_LEN: usize = 480;

/// A buffer of fixed size. Tokens start at the given offset, which must be below `SCRATCH -
/// MAX_STRING_LEN - 64`. The offset after them is returned.
pub(super) type Scratch = [u8; SCRATCH_LEN];

/// The two digits of each number below 100: one division gives two digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

const TENS: [u64; 20] = {
    let mut tens = [0; 20];
    let (mut i, mut ten) = (1, 10u64);
    while i < 20 {
        tens[i] = ten;
        ten = ten.wrapping_mul(10);
        i += 1;
    }
    tens
};

/// Returns how many decimal digits a number has.
#[inline]
fn count_digits(value: u64) -> usize {
    // 1233 / 4096 is a little more than log10(2).
    let estimate = ((64 - (value | 1).leading_zeros() as usize) * 1233) >> 12;
    estimate + usize::from(value >= TENS[estimate])
}

#[inline]
pub(super) fn write_uint(scratch: &mut Scratch, offset: usize, mut value: u64) -> usize {
    let end = offset + count_digits(value);
    let mut position = end;
    while value >= 100 {
        position -= 2;
        scratch[position..position + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    if value >= 10 {
        scratch[offset..offset + 2].copy_from_slice(&PAIRS[value as usize]);
    } else {
        scratch[offset] = b'0' + value as u8;
    }
    end
}

#[inline]
pub(super) fn write_int(scratch: &mut Scratch, offset: usize, value: i64) -> usize {
    scratch[offset] = b'-';
    write_uint(scratch, offset + usize::from(value < 0), value.unsigned_abs())
}

/// Writes a finite float: the shortest text that reads back as the same float, always with a
/// point or an exponent.
// Not inlined: the buffer for the digits would enlarge the stack frame of every writer of
// leaves.
#[inline(never)]
pub(super) fn write_float(scratch: &mut Scratch, offset: usize, value: f64) -> usize {
    let mut buffer = FloatText::new();
    let text = buffer.print(value);
    scratch[offset..offset + text.len()].copy_from_slice(text);
    offset + text.len()
}

#[inline]
pub(super) fn write_word(scratch: &mut Scratch, offset: usize, word: &str) -> usize {
    scratch[offset..offset + word.len()].copy_from_slice(word.as_bytes());
    offset + word.len()
}

/// Writes a short string of plain ASCII, in quotes. Returns `None` for any other string; then
/// nothing of it counts.
///
/// The string is `base[start..start + len]`; up to seven bytes after it are read.
#[inline]
pub(super) fn write_plain_string(
    scratch: &mut Scratch,
    offset: usize,
    base: &[u8],
    start: usize,
    len: usize,
) -> Option<usize> {
    if len > MAX_STRING_LEN {
        return None;
    }
    // Whole words: up to seven bytes after the string are copied, and overwritten later.
    let Some(source) = base.get(start..start + len.next_multiple_of(8)) else {
        return write_plain_at_end(scratch, offset, base.get(start..start + len)?);
    };
    let target = &mut scratch[offset + 1..offset + 1 + source.len()];
    let mut remaining = len;
    for (from, to) in source.chunks_exact(8).zip(target.chunks_exact_mut(8)) {
        let word = u64::from_le_bytes(from.try_into().unwrap_or_default());
        let mut found = special_byte_mask(word) | non_ascii_mask(word);
        // Ignore the bytes after the string.
        if remaining < 8 {
            found &= u64::MAX >> (64 - 8 * remaining);
        }
        if found != 0 {
            return None;
        }
        to.copy_from_slice(from);
        remaining = remaining.saturating_sub(8);
    }
    scratch[offset] = b'"';
    scratch[offset + len + 1] = b'"';
    Some(offset + len + 2)
}

/// Like [`write_plain_string`], for a string with less than seven bytes after it, as in a small document.
fn write_plain_at_end(scratch: &mut Scratch, offset: usize, string: &[u8]) -> Option<usize> {
    let len = string.len();
    if string.iter().any(|byte| is_special(*byte) || *byte > 0x7F) {
        return None;
    }
    scratch[offset + 1..offset + 1 + len].copy_from_slice(string);
    scratch[offset] = b'"';
    scratch[offset + len + 1] = b'"';
    Some(offset + len + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_with(write: impl FnOnce(&mut Scratch) -> usize) -> String {
        let mut scratch = [0; SCRATCH_LEN];
        let end = write(&mut scratch);
        String::from_utf8(scratch[..end].to_vec()).unwrap()
    }

    #[test]
    fn integers_are_written_like_rust_does() {
        for value in [0, 1, 9, 10, 99, 100, 12345, i64::MAX, i64::MIN, -1, -10] {
            assert_eq!(format_with(|scratch| write_int(scratch, 0, value)), value.to_string());
        }
        for power in 0..20 {
            let value = 10u64.pow(power);
            assert_eq!(format_with(|scratch| write_uint(scratch, 0, value)), value.to_string());
            assert_eq!(format_with(|scratch| write_uint(scratch, 0, value - 1)), (value - 1).to_string());
        }
        for bits in 0..64 {
            let value = u64::MAX >> bits;
            assert_eq!(format_with(|scratch| write_uint(scratch, 0, value)), value.to_string());
        }
    }

    #[test]
    fn only_plain_strings_are_written() {
        let base = b"Employee_123456\"}, and more behind";
        assert_eq!(format_with(|scratch| write_plain_string(scratch, 0, base, 0, 15).unwrap()), "\"Employee_123456\"");
        assert_eq!(format_with(|scratch| write_plain_string(scratch, 0, base, 3, 0).unwrap()), "\"\"");
        let mut scratch = [0; SCRATCH_LEN];
        assert_eq!(write_plain_string(&mut scratch, 0, base, 0, 16), None);
        assert_eq!(write_plain_string(&mut scratch, 0, "éeeeeeee".as_bytes(), 0, 2), None);
        assert_eq!(format_with(|scratch| write_plain_string(scratch, 0, b"a short", 2, 5).unwrap()), "\"short\"");
        assert_eq!(write_plain_string(&mut scratch, 0, b"sho\"t", 0, 5), None);
        assert_eq!(write_plain_string(&mut scratch, 0, "é".as_bytes(), 0, 2), None);
        assert_eq!(write_plain_string(&mut scratch, 0, b"short", 0, 6), None);
        let long = [b'x'; 1000];
        assert_eq!(write_plain_string(&mut scratch, 80, &long, 0, MAX_STRING_LEN), Some(80 + MAX_STRING_LEN + 2));
        assert_eq!(write_plain_string(&mut scratch, 80, &long, 0, MAX_STRING_LEN + 1), None);
    }
}
