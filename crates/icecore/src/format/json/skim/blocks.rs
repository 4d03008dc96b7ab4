//! Finds the end of a container: 64 bytes at a time, with one bit for each byte.
//!
//! A comparison of a block with a character gives a word whose bits show where the character is.
//! The words for quotes and backslashes show which bytes are in strings; brackets outside of
//! strings are then counted with two instructions. [`walk_bytes`] is the readable version: it goes byte by
//! byte, handles the rest after the last whole block, and must agree.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, u8x64};

const BLOCK: usize = 64;
const ODD_BITS: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// State inside a container before the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContainerState {
    /// Number of containers that are open.
    depth: u64,
    is_string: bool,
    /// Whether the previous byte is a backslash.
    is_escaped: bool,
}

/// Skips a container that begins or continues here. Returns the number of skipped bytes, and
/// `true` if the container ended.
pub(super) fn skip_container(bytes: &[u8], container: &mut ContainerState) -> (usize, bool) {
    dispatch!(Level::new(), simd => skip_container_simd(simd, bytes, 0, container))
}

/// Skips `remaining` items of a list, but stops before one that is not completely in view or needs a
/// closer look. Returns the number of skipped bytes. `is_first` states that no item of the list was
/// skipped before.
pub(super) fn skip_items(bytes: &[u8], remaining: &mut u64, is_first: bool) -> usize {
    dispatch!(Level::new(), simd => skip_items_simd(simd, bytes, remaining, is_first))
}

#[inline(always)]
fn skip_items_simd<S: Simd>(simd: S, bytes: &[u8], remaining: &mut u64, mut is_first: bool) -> usize {
    let mut offset = 0;
    while *remaining > 0 {
        let mut start = skip_blanks(bytes, offset);
        if !is_first {
            if bytes.get(start) != Some(&b',') {
                break;
            }
            start = skip_blanks(bytes, start + 1);
        }
        let end = match bytes.get(start) {
            Some(b'{' | b'[') => match skip_container_simd(simd, bytes, start, &mut ContainerState::default()) {
                (end, true) => end,
                _ => break,
            },
            Some(b'"') => match super::find_string_end(bytes, start + 1) {
                Ok((end, _)) => end,
                Err(_) => break,
            },
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                let rest = bytes.get(start..).unwrap_or(&[]);
                match rest.iter().position(|byte| !super::is_word_byte(*byte)) {
                    Some(len) => start + len,
                    None => break,
                }
            }
            _ => break,
        };
        (offset, is_first) = (end, false);
        *remaining -= 1;
    }
    offset
}

#[inline(always)]
fn skip_blanks(bytes: &[u8], mut offset: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(offset) {
        offset += 1;
    }
    offset
}

/// Returns the end of the container from `offset` on, or the end of the bytes; and whether it ended.
#[inline(always)]
fn skip_container_simd<S: Simd>(
    simd: S,
    bytes: &[u8],
    mut offset: usize,
    container: &mut ContainerState,
) -> (usize, bool) {
    let mut depth = container.depth;
    // All bits, or none.
    let mut string = 0u64.wrapping_sub(u64::from(container.is_string));
    let mut escape = u64::from(container.is_escaped);
    while let Some(block) = bytes.get(offset..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let bits = BlockBits::from_block(simd, block);
        let quotes = bits.quotes & !escaped_mask(bits.backslashes, &mut escape);
        let strings = string_mask(quotes) ^ string;
        string = 0u64.wrapping_sub(strings >> 63);
        let opens = bits.opens & !strings;
        let closes = bits.closes & !strings;
        let closed = u64::from(closes.count_ones());
        if closed >= depth
            && let Some(last) = find_last_close(opens, closes, depth)
        {
            return (offset + last + 1, true);
        }
        depth = depth + u64::from(opens.count_ones()) - closed;
        offset += BLOCK;
    }
    *container = ContainerState { depth, is_string: string != 0, is_escaped: escape != 0 };
    let (len, is_done) = walk_bytes(bytes.get(offset..).unwrap_or(&[]), container);
    (offset + len, is_done)
}

/// Returns the bit of the bracket that closes the last of `depth` open containers.
#[inline(always)]
fn find_last_close(opens: u64, mut closes: u64, depth: u64) -> Option<usize> {
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

/// Like [`skip_container`], byte by byte.
fn walk_bytes(bytes: &[u8], container: &mut ContainerState) -> (usize, bool) {
    for (offset, byte) in bytes.iter().enumerate() {
        // Outside of strings, where JSON has no backslash, one only counts before a quote: as above.
        let was_escaped = std::mem::take(&mut container.is_escaped);
        match byte {
            b'\\' => container.is_escaped = !was_escaped,
            b'"' if was_escaped => {}
            b'"' => container.is_string = !container.is_string,
            _ if container.is_string => {}
            b'{' | b'[' => container.depth += 1,
            b'}' | b']' => {
                container.depth = container.depth.saturating_sub(1);
                if container.depth == 0 {
                    return (offset + 1, true);
                }
            }
            _ => {}
        }
    }
    (bytes.len(), false)
}

/// Positions of the characters in a block that matter.
struct BlockBits {
    quotes: u64,
    backslashes: u64,
    opens: u64,
    closes: u64,
}

impl BlockBits {
    #[inline(always)]
    fn from_block<S: Simd>(simd: S, block: &[u8; BLOCK]) -> BlockBits {
        let bytes = u8x64::from_slice(simd, block);
        // Square brackets become braces, and nothing else does.
        let braces = bytes | u8x64::splat(simd, b'{' ^ b'[');
        let mask_of = |bytes: u8x64<S>, byte| bytes.simd_eq(u8x64::splat(simd, byte)).to_bitmask();
        BlockBits {
            quotes: mask_of(bytes, b'"'),
            backslashes: mask_of(bytes, b'\\'),
            opens: mask_of(braces, b'{'),
            closes: mask_of(braces, b'}'),
        }
    }
}

/// Returns the bits of bytes that a backslash escapes. `carry` states whether the first byte is
/// escaped; on return, whether the first byte of the next block is.
///
/// A subtraction separates runs of backslashes that begin at odd positions from those at even ones,
/// as in simdjson.
#[inline(always)]
fn escaped_mask(backslashes: u64, carry: &mut u64) -> u64 {
    if backslashes == 0 {
        return std::mem::take(carry);
    }
    let starts = backslashes & !*carry;
    let ends = (starts << 1 | ODD_BITS).wrapping_sub(starts) ^ ODD_BITS;
    let escaped = ends ^ (backslashes | *carry);
    *carry = (ends & backslashes) >> 63;
    escaped
}

/// Returns the bits from each quote up to before the next one.
#[inline(always)]
fn string_mask(quotes: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].iter().fold(quotes, |bits, shift| bits ^ bits << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that a container may contain, and what it should not.
    fn text(state: &mut u64, len: usize) -> Vec<u8> {
        let mut next = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) as usize
        };
        let letters = if next().is_multiple_of(2) { &b"[]{}\"\\ a,"[..] } else { b"aaaaaaaa[[]\"\"\\\\" };
        (0..len).map(|_| letters[next() % letters.len()]).collect()
    }

    #[test]
    fn blocks_and_bytes_find_the_same_end() {
        let mut state = 3;
        for len in (0..400).chain(0..400).chain(0..400) {
            let mut bytes = vec![b'['; len % 7 + 1];
            bytes.extend(text(&mut state, len));
            let (mut quick, mut slow) = (ContainerState::default(), ContainerState::default());
            let found = skip_container(&bytes, &mut quick);
            assert_eq!(found, walk_bytes(&bytes, &mut slow), "{}", String::from_utf8_lossy(&bytes));
            assert!(found.1 || quick == slow);
            // The result is the same in two parts, and on a machine without wide registers.
            for cut in [0, len / 3, len] {
                let mut parts = ContainerState::default();
                let (skipped_len, is_done) = skip_container(&bytes[..cut], &mut parts);
                let end = if is_done { (skipped_len, true) } else { skip_container(&bytes[cut..], &mut parts) };
                let end = if is_done { end } else { (cut + end.0, end.1) };
                assert_eq!(end, found, "{cut} of {}", String::from_utf8_lossy(&bytes));
            }
            let baseline = dispatch!(Level::baseline(), simd => skip_container_simd(simd, &bytes, 0, &mut ContainerState::default()));
            assert_eq!(baseline, found);
        }
    }
}
