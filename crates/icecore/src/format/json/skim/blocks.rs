//! Where a container ends: 64 bytes at a time, with a bit for each byte.
//!
//! A comparison of a block with a character gives a word with a bit where the character is. From
//! the words for quotes and backslashes follows what stands in strings, and brackets outside of
//! those are counted with two instructions. [`walk`] is the readable twin: it goes byte by byte,
//! takes what is left of a block at the end, and must agree.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, u8x64};

const BLOCK: usize = 64;
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// Where in a container the bytes are that come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Inside {
    /// How many containers are open.
    depth: u64,
    is_string: bool,
    /// Whether a backslash stands before.
    is_escaped: bool,
}

/// Goes over a container that begins here, or goes on here: how far, and whether it ended.
pub(super) fn container(bytes: &[u8], inside: &mut Inside) -> (usize, bool) {
    dispatch!(Level::new(), simd => end(simd, bytes, 0, inside))
}

/// Goes over so many items of a list, or in front of one that is not whole in view or that must
/// be looked at: how far. `is_first`: nothing of the list stands before.
pub(super) fn items(bytes: &[u8], left: &mut u64, is_first: bool) -> usize {
    dispatch!(Level::new(), simd => all(simd, bytes, left, is_first))
}

#[inline(always)]
fn all<S: Simd>(simd: S, bytes: &[u8], left: &mut u64, mut is_first: bool) -> usize {
    let mut at = 0;
    while *left > 0 {
        let mut here = blanks(bytes, at);
        if !is_first {
            if bytes.get(here) != Some(&b',') {
                break;
            }
            here = blanks(bytes, here + 1);
        }
        let end = match bytes.get(here) {
            Some(b'{' | b'[') => match end(simd, bytes, here, &mut Inside::default()) {
                (end, true) => end,
                _ => break,
            },
            Some(b'"') => match super::end_of_string(bytes, here + 1) {
                Ok((end, _)) => end,
                Err(_) => break,
            },
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                let rest = bytes.get(here..).unwrap_or(&[]);
                match rest.iter().position(|byte| !super::is_part_of_a_word(*byte)) {
                    Some(len) => here + len,
                    None => break,
                }
            }
            _ => break,
        };
        (at, is_first) = (end, false);
        *left -= 1;
    }
    at
}

#[inline(always)]
fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// From `at` on: where the container ends, or the end of the bytes; and whether it ended.
#[inline(always)]
fn end<S: Simd>(simd: S, bytes: &[u8], mut at: usize, inside: &mut Inside) -> (usize, bool) {
    let mut depth = inside.depth;
    // All bits, or none.
    let mut string = 0u64.wrapping_sub(u64::from(inside.is_string));
    let mut escape = u64::from(inside.is_escaped);
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let bits = Bits::of(simd, block);
        let quotes = bits.quotes & !escaped(bits.backslashes, &mut escape);
        let strings = in_strings(quotes) ^ string;
        string = 0u64.wrapping_sub(strings >> 63);
        let opens = bits.opens & !strings;
        let closes = bits.closes & !strings;
        let closed = u64::from(closes.count_ones());
        if closed >= depth
            && let Some(last) = last_close(opens, closes, depth)
        {
            return (at + last + 1, true);
        }
        depth = depth + u64::from(opens.count_ones()) - closed;
        at += BLOCK;
    }
    *inside = Inside { depth, is_string: string != 0, is_escaped: escape != 0 };
    let (len, is_done) = walk(bytes.get(at..).unwrap_or(&[]), inside);
    (at + len, is_done)
}

/// The bit of the bracket that closes the last of so many containers that are open.
#[inline(always)]
fn last_close(opens: u64, mut closes: u64, depth: u64) -> Option<usize> {
    let mut closed = 0;
    while closes != 0 {
        let bit = closes.trailing_zeros();
        closed += 1;
        let opened = u64::from((opens & ((1 << bit) - 1)).count_ones());
        if depth + opened == closed {
            return Some(bit as usize);
        }
        closes &= closes - 1;
    }
    None
}

/// As [`container`], byte by byte.
fn walk(bytes: &[u8], inside: &mut Inside) -> (usize, bool) {
    for (at, byte) in bytes.iter().enumerate() {
        // Outside of strings, where JSON has no backslash, one counts before a quote only: as above.
        let was_escaped = std::mem::take(&mut inside.is_escaped);
        match byte {
            b'\\' => inside.is_escaped = !was_escaped,
            b'"' if was_escaped => {}
            b'"' => inside.is_string = !inside.is_string,
            _ if inside.is_string => {}
            b'{' | b'[' => inside.depth += 1,
            b'}' | b']' => {
                inside.depth = inside.depth.saturating_sub(1);
                if inside.depth == 0 {
                    return (at + 1, true);
                }
            }
            _ => {}
        }
    }
    (bytes.len(), false)
}

/// Where in a block the characters are that matter.
struct Bits {
    quotes: u64,
    backslashes: u64,
    opens: u64,
    closes: u64,
}

impl Bits {
    #[inline(always)]
    fn of<S: Simd>(simd: S, block: &[u8; BLOCK]) -> Bits {
        let bytes = u8x64::from_slice(simd, block);
        // The square brackets become the braces, and nothing else does.
        let braces = bytes | u8x64::splat(simd, b'{' ^ b'[');
        let of = |bytes: u8x64<S>, byte| bytes.simd_eq(u8x64::splat(simd, byte)).to_bitmask();
        Bits {
            quotes: of(bytes, b'"'),
            backslashes: of(bytes, b'\\'),
            opens: of(braces, b'{'),
            closes: of(braces, b'}'),
        }
    }
}

/// The bits of bytes that a backslash escapes; `carry` says whether the first one is, and then
/// whether the first one of the next block is.
///
/// A subtraction finds runs of backslashes that begin at odd places from those at even ones: it
/// is the way of simdjson.
#[inline(always)]
fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    if backslashes == 0 {
        return std::mem::take(carry);
    }
    let starts = backslashes & !*carry;
    let ends = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
    let escaped = ends ^ (backslashes | *carry);
    *carry = (ends & backslashes) >> 63;
    escaped
}

/// The bits from each quote up to before the next one.
#[inline(always)]
fn in_strings(quotes: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].iter().fold(quotes, |bits, shift| bits ^ bits << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that a container may have in it, and what it should not have.
    fn text(state: &mut u64, len: usize) -> Vec<u8> {
        let mut next = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) as usize
        };
        let letters = if next().is_multiple_of(2) { &b"[]{}\"\\ a,"[..] } else { b"aaaaaaaa[[]\"\"\\\\" };
        (0..len).map(|_| letters[next() % letters.len()]).collect()
    }

    #[test]
    fn blocks_end_where_a_walk_ends() {
        let mut state = 3;
        for len in (0..400).chain(0..400).chain(0..400) {
            let mut bytes = vec![b'['; len % 7 + 1];
            bytes.extend(text(&mut state, len));
            let (mut quick, mut slow) = (Inside::default(), Inside::default());
            let found = container(&bytes, &mut quick);
            assert_eq!(found, walk(&bytes, &mut slow), "{}", String::from_utf8_lossy(&bytes));
            assert!(found.1 || quick == slow);
            // The same in two parts, and on a machine without wide registers.
            for cut in [0, len / 3, len] {
                let mut parts = Inside::default();
                let (front, is_done) = container(&bytes[..cut], &mut parts);
                let end = if is_done { (front, true) } else { container(&bytes[cut..], &mut parts) };
                let end = if is_done { end } else { (cut + end.0, end.1) };
                assert_eq!(end, found, "{cut} of {}", String::from_utf8_lossy(&bytes));
            }
            let plain = dispatch!(Level::baseline(), simd => end(simd, &bytes, 0, &mut Inside::default()));
            assert_eq!(plain, found);
        }
    }
}
