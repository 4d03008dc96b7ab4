//! A search for bytes that are probably near.

/// Number of words that are checked before a SIMD search begins: that search has a higher startup cost, but is faster
/// for long distances.
const WORDS: usize = 4;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns the position of the first of up to three bytes. Fast if it is near, like quotes and backslashes in an
/// escaped text; never slow.
///
/// ```
/// use icecore::raw::find_byte;
/// assert_eq!(find_byte(br"one\two", [b'\\', b'"']), Some(3));
/// assert_eq!(find_byte(b"one two", [b'\\']), None);
/// ```
#[inline]
pub fn find_byte<const N: usize>(bytes: &[u8], sought: [u8; N]) -> Option<usize> {
    const { assert!(0 < N && N <= 3) }
    let mut offset = 0;
    while offset < WORDS * 8
        && let Some(word) = bytes.get(offset..).and_then(|rest| rest.first_chunk::<8>())
    {
        let word = u64::from_le_bytes(*word);
        let marks = sought.iter().fold(0, |marks, byte| marks | mark_first(word, *byte)) & HIGHS;
        if marks != 0 {
            return Some(offset + (marks.trailing_zeros() / 8) as usize);
        }
        offset += 8;
    }
    find_far(bytes.get(offset..)?, sought).map(|distance| offset + distance)
}

/// Returns the position of the first occurrence of a byte in a word.
///
/// ```
/// use icecore::raw::find_in_word;
/// assert_eq!(find_in_word(*b"say \"hi\"", b'"'), Some(4));
/// ```
#[inline]
pub fn find_in_word(word: [u8; 8], byte: u8) -> Option<usize> {
    let marks = mark_first(u64::from_le_bytes(word), byte) & HIGHS;
    (marks != 0).then(|| (marks.trailing_zeros() / 8) as usize)
}

/// Returns a word in which the first byte with its highest bit set marks the first occurrence of `byte` in `word`. An
/// equal byte becomes zero and borrows, which sets its highest bit. The borrow may affect bytes after it: only the
/// first mark counts.
#[inline]
fn mark_first(word: u64, byte: u8) -> u64 {
    let word = word ^ (ONES * u64::from(byte));
    word.wrapping_sub(ONES) & !word
}

#[inline]
fn find_far<const N: usize>(bytes: &[u8], sought: [u8; N]) -> Option<usize> {
    match sought[..] {
        [one] => memchr::memchr(one, bytes),
        [one, two] => memchr::memchr2(one, two, bytes),
        [one, two, three] => memchr::memchr3(one, two, three, bytes),
        _ => bytes.iter().position(|byte| sought.contains(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::find_byte;

    #[test]
    fn find_byte_agrees_with_a_plain_walk() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        for _ in 0..200_000 {
            // Few different bytes, including bytes that differ by the highest bit or by a borrow.
            let bytes: Vec<u8> =
                (0..next() % 90).map(|_| [b'a', b'\\', b']', b'[', 0xdc, 0, 1, 0x80][next() % 8]).collect();
            let bytes = &bytes[next() % (bytes.len() + 1)..];
            let sought = [b'\\', 0, b'['];
            let walk = |some: &[u8]| bytes.iter().position(|byte| some.contains(byte));
            assert_eq!(find_byte(bytes, [b'\\']), walk(&sought[..1]), "{bytes:?}");
            assert_eq!(find_byte(bytes, [b'\\', 0]), walk(&sought[..2]), "{bytes:?}");
            assert_eq!(find_byte(bytes, sought), walk(&sought), "{bytes:?}");
        }
    }
}
