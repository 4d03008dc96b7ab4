//! Finds the end of a string, and decodes its escapes.

/// The place where a scan stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanEnd {
    /// The offset of the quote, backslash or control character; the length of
    /// the input if there is none.
    pub(super) offset: usize,
    /// Whether a byte above 0x7F was passed.
    pub(super) has_non_ascii: bool,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns the high bits of the bytes that are a quote, a backslash or a control
/// character. Bits above the lowest set one may be wrong.
///
/// Eight bytes at a time. The exclusive or turns a quote (a backslash) into zero, so all
/// three tests are "below n". A byte below `n` borrows in `word - n`, which sets its high
/// bit; `!word` removes bytes that had it before. A borrow may corrupt the byte above,
/// but that one is after the first hit, and only the first hit is used.
#[inline]
pub(super) fn special_byte_mask(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
    (below(word, 0x20) | below(quote, 1) | below(backslash, 1)) & HIGHS
}

/// Returns the high bits of the bytes above 0x7F.
#[inline]
pub(super) fn non_ascii_mask(word: u64) -> u64 {
    word & HIGHS
}

/// Returns `true` if a byte must be escaped in a string.
#[inline]
pub(super) fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1F)
}

/// Finds the end of a run that needs no escapes.
#[inline]
pub(super) fn find_special<const FAST: bool>(input: &[u8], mut offset: usize) -> ScanEnd {
    let mut passed = 0;
    if FAST {
        while let Some(word) = input.get(offset..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*word);
            let found = special_byte_mask(word);
            if found != 0 {
                // The lowest byte is the first one. Only bytes before the hit count as
                // beyond ASCII. A shift by 64 would overflow, so an empty run is a
                // separate case.
                let len = found.trailing_zeros() / 8;
                let before = if len == 0 { 0 } else { word & (u64::MAX >> (64 - 8 * len)) };
                return ScanEnd { offset: offset + len as usize, has_non_ascii: non_ascii_mask(passed | before) != 0 };
            }
            // High bits are collected, so one test at the end shows if UTF-8 must be
            // checked at all.
            passed |= word;
            offset += 8;
        }
    }
    let mut beyond = non_ascii_mask(passed) != 0;
    while let Some(byte) = input.get(offset).filter(|byte| !is_special(**byte)) {
        beyond |= *byte > 0x7F;
        offset += 1;
    }
    ScanEnd { offset, has_non_ascii: beyond }
}

/// Returns the value of the four hex digits of a `\u` escape.
pub(super) fn parse_hex4(digits: &[u8; 4]) -> Option<u16> {
    digits.iter().try_fold(0, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | value as u16)
    })
}

/// Returns the character of a short escape.
pub(super) fn decode_short_escape(letter: u8) -> Option<u8> {
    Some(match letter {
        b'"' | b'\\' | b'/' => letter,
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// Appends a code point in the encoding of UTF-8, surrogates too.
pub(super) fn push_code_point(code: u32, out: &mut Vec<u8>) {
    match char::from_u32(code) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let bits = |shift: u32| (code >> shift) as u8 & 0x3F | 0x80;
            out.extend_from_slice(&[0xE0 | (code >> 12) as u8 & 0x0F, bits(6), bits(0)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_searches_stop_at_the_same_byte() {
        for special in 0..=255u8 {
            for len in 0..40 {
                for filler in [b'a', 0x7F, 0x80, 0xFF, b'!', b'#', b'[', b']'] {
                    let mut input = vec![filler; len];
                    input.push(special);
                    input.extend_from_slice(b"zz\"\x01zzzzzzzz");
                    let fast = find_special::<true>(&input, 0);
                    assert_eq!(fast, find_special::<false>(&input, 0), "{special} behind {len} times {filler}");
                    if is_special(special) {
                        assert_eq!(fast.offset, len);
                    }
                }
            }
        }
        assert_eq!(find_special::<true>(b"abcdefghijk", 2), ScanEnd { offset: 11, has_non_ascii: false });
    }
}
