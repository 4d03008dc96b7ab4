//! Base64 (RFC 4648).

use memchr::memchr;

/// The alphabets, which differ in the digits for 62 and 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// `+` and `/`.
    Standard,
    /// `-` and `_`, which have no special meaning in a URL.
    Url,
}

const STANDARD: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The value of a byte that is not a digit. It has a bit that no shifted digit has.
const NO_DIGIT: u32 = 1 << 31;

/// For each place in a group of four, the value of each digit.
type Values = [[u32; 256]; 4];

static STANDARD_VALUES: Values = build_digit_values(&STANDARD);
static URL_VALUES: Values = build_digit_values(&URL);

const fn build_digit_values(digits: &[u8; 64]) -> Values {
    let mut values = [[NO_DIGIT; 256]; 4];
    let mut digit = 0;
    while digit < 64 {
        let mut place = 0;
        while place < 4 {
            values[place][digits[digit] as usize] = (digit as u32) << (18 - 6 * place);
            place += 1;
        }
        digit += 1;
    }
    values
}

impl Alphabet {
    fn digit_values(self) -> &'static Values {
        match self {
            Alphabet::Standard => &STANDARD_VALUES,
            Alphabet::Url => &URL_VALUES,
        }
    }

    /// Returns `true` if this is a digit of the alphabet.
    pub(crate) fn has(self, digit: u8) -> bool {
        self.digit_values()[0][usize::from(digit)] != NO_DIGIT
    }
}

/// Returns the Base64 of bytes, padded.
///
/// ```
/// use icecore::text::{from_base64, to_base64};
/// assert_eq!(to_base64(b"ice"), "aWNl");
/// assert_eq!(from_base64(b"aWNl"), Ok(b"ice".to_vec()));
/// assert_eq!(from_base64(b"aW*l"), Err(2));
/// ```
pub fn to_base64(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    encode_base64(bytes, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Decodes a Base64 text that is padded and has no blanks.
///
/// # Errors
/// The position of the first wrong character.
pub fn from_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    decode_base64(text, &mut out)?;
    Ok(out)
}

/// Appends the Base64 of bytes, padded.
pub(crate) fn encode_base64(bytes: &[u8], out: &mut Vec<u8>) {
    encode_in_alphabet(Alphabet::Standard, true, bytes, out);
}

/// Appends the Base64 of bytes in this alphabet.
pub(crate) fn encode_in_alphabet(alphabet: Alphabet, is_padded: bool, bytes: &[u8], out: &mut Vec<u8>) {
    // `base64_simd` reserves exactly the needed length. Many calls in a row would then move `out` each time.
    out.reserve(bytes.len().div_ceil(3) * 4);
    let engine = match (alphabet, is_padded) {
        (Alphabet::Standard, true) => base64_simd::STANDARD,
        (Alphabet::Standard, false) => base64_simd::STANDARD_NO_PAD,
        (Alphabet::Url, true) => base64_simd::URL_SAFE,
        (Alphabet::Url, false) => base64_simd::URL_SAFE_NO_PAD,
    };
    engine.encode_append(bytes, out);
}

/// Appends the decoded bytes of a Base64 text. `Err` contains the position of the first wrong character; only digits of
/// the alphabet and correct padding are allowed.
pub(crate) fn decode_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    out.reserve(text.len() / 4 * 3);
    if base64_simd::STANDARD.decode_append(text, out).is_ok() {
        return Ok(());
    }
    // `base64_simd` does not report the position of the error.
    if let Some(offset) = text.iter().position(u8::is_ascii_whitespace) {
        return Err(text[..offset].iter().position(|digit| !Alphabet::Standard.has(*digit)).unwrap_or(offset));
    }
    decode_in_alphabet(Alphabet::Standard, text, out)?;
    if text.len().is_multiple_of(4) { Ok(()) } else { Err(text.len()) }
}

/// Number of bytes that are decoded at a time. They fit into the first-level cache.
const PIECE_LEN: usize = 8 << 10;
/// Minimum length for which a call of `base64_simd` pays off.
const MIN_SIMD_LEN: usize = 32;

/// Like [`decode_base64`], in this alphabet. White space is allowed anywhere, and padding may be missing.
pub(crate) fn decode_in_alphabet(alphabet: Alphabet, text: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    out.reserve(text.len() / 4 * 3 + 3);
    // The fast path does not handle padding.
    let end = text.trim_ascii_end();
    let end = end.len() - end.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let mut joined = Vec::new();
    let mut offset = 0;
    while end.saturating_sub(offset) >= MIN_SIMD_LEN {
        let until = end.min(offset + PIECE_LEN);
        let piece = &text[offset..until];
        offset = match decode_groups(alphabet, piece, out).or_else(|| decode_lines(alphabet, piece, &mut joined, out)) {
            Some(consumed) => offset + consumed,
            None => decode_by_digits(alphabet, text, offset, until, out)?,
        };
    }
    decode_by_digits(alphabet, text, offset, text.len(), out).map(|_| ())
}

/// Appends the decoded complete groups of a part of a text. Returns their length. Appends nothing and returns
/// `None` if they contain anything but digits.
fn decode_groups(alphabet: Alphabet, piece: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let engine = match alphabet {
        Alphabet::Standard => base64_simd::STANDARD_NO_PAD,
        Alphabet::Url => base64_simd::URL_SAFE_NO_PAD,
    };
    let complete_len = piece.len() / 4 * 4;
    engine.decode_append(&piece[..complete_len], out).ok().map(|()| complete_len)
}

/// Like [`decode_groups`], for the complete lines of a part of a text, up to the last one that ends with a group.
/// They are joined first, because a line is too short for a call of its own.
fn decode_lines(alphabet: Alphabet, piece: &[u8], joined: &mut Vec<u8>, out: &mut Vec<u8>) -> Option<usize> {
    joined.clear();
    joined.reserve(piece.len());
    let (mut offset, mut consumed, mut digits) = (0, 0, 0);
    while let Some(end) = memchr(b'\n', &piece[offset..]) {
        joined.extend_from_slice(piece[offset..offset + end].trim_ascii());
        offset += end + 1;
        if joined.len().is_multiple_of(4) {
            (consumed, digits) = (offset, joined.len());
        }
    }
    (consumed > 0).then_some(())?;
    decode_groups(alphabet, &joined[..digits], out).map(|_| consumed)
}

/// Like [`decode_in_alphabet`], digit by digit: the readable version. Begins at a group and ends after the first
/// group that ends at or after `until`; returns its end.
fn decode_by_digits(
    alphabet: Alphabet,
    text: &[u8],
    mut offset: usize,
    until: usize,
    out: &mut Vec<u8>,
) -> Result<usize, usize> {
    let values = alphabet.digit_values();
    while offset < until {
        offset += decode_digit_run(values, &text[offset..until], out);
        // One of the next four bytes is not a digit. It is white space, the end of the text, or an error.
        let (mut word, mut count, mut last_digit) = (0, 0, offset);
        while count < 4 {
            let Some(byte) = text.get(offset) else { break };
            let value = values[count][usize::from(*byte)];
            if value != NO_DIGIT {
                (word, count, last_digit) = (word | value, count + 1, offset);
            } else if !byte.is_ascii_whitespace() {
                check_padding(&text[offset..], count).map_err(|relative_offset| offset + relative_offset)?;
                offset = text.len();
                break;
            }
            offset += 1;
        }
        let [_, bytes @ ..] = word.to_be_bytes();
        match count {
            0 => {}
            1 => return Err(offset),
            2 | 3 if bytes[count - 1..].iter().any(|byte| *byte != 0) => return Err(last_digit),
            _ => out.extend_from_slice(&bytes[..count - 1]),
        }
    }
    Ok(offset)
}

/// Checks that the rest, after this number of digits of a group, is correct padding. `Err` contains the position of the
/// error.
fn check_padding(rest: &[u8], count: usize) -> Result<(), usize> {
    let mut wanted = match count {
        2 | 3 => 4 - count,
        _ => 0,
    };
    for (offset, byte) in rest.iter().enumerate() {
        match byte {
            b'=' if wanted > 0 => wanted -= 1,
            byte if byte.is_ascii_whitespace() => {}
            _ => return Err(offset),
        }
    }
    // No padding is correct, and so is complete padding.
    if wanted == 0 { Ok(()) } else { Err(rest.len()) }
}

/// Appends decoded groups of digits up to the first byte that is not a digit; returns the length of the decoded text.
fn decode_digit_run(values: &Values, text: &[u8], out: &mut Vec<u8>) -> usize {
    /// Number of groups that are processed together. Errors are checked after all of them, with one branch.
    const GROUPS: usize = 8;
    let mut offset = 0;
    for chunk in text.chunks_exact(4 * GROUPS) {
        let mut bytes = [0; 3 * GROUPS];
        let mut all = 0;
        for (group, decoded) in chunk.chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
            let word = lookup_group(values, group);
            all |= word;
            decoded.copy_from_slice(&word.to_be_bytes()[1..]);
        }
        if all & NO_DIGIT != 0 {
            break;
        }
        out.extend_from_slice(&bytes);
        offset += chunk.len();
    }
    for group in text[offset..].chunks_exact(4) {
        let word = lookup_group(values, group);
        if word & NO_DIGIT != 0 {
            break;
        }
        out.extend_from_slice(&word.to_be_bytes()[1..]);
        offset += 4;
    }
    offset
}

fn lookup_group(values: &Values, group: &[u8]) -> u32 {
    values[0][usize::from(group[0])]
        | values[1][usize::from(group[1])]
        | values[2][usize::from(group[2])]
        | values[3][usize::from(group[3])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_standard_are_encoded_and_decoded() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
            encode_base64(bytes.as_bytes(), &mut encoded);
            assert_eq!(encoded, text.as_bytes());
            assert_eq!(decode_base64(text.as_bytes(), &mut decoded), Ok(()));
            assert_eq!(decoded, bytes.as_bytes());
        }
    }

    #[test]
    fn every_byte_round_trips() {
        let bytes: Vec<u8> = (0..=255).collect();
        for (alphabet, is_padded) in [(Alphabet::Standard, true), (Alphabet::Url, false)] {
            for len in 0..bytes.len() {
                let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
                encode_in_alphabet(alphabet, is_padded, &bytes[len..], &mut encoded);
                decode_in_alphabet(alphabet, &encoded, &mut decoded).unwrap();
                assert_eq!(decoded, bytes[len..]);
                // Broken into lines of every length.
                let lines: Vec<u8> = encoded.chunks(len % 70 + 1).flat_map(|line| [line, b"\r\n"].concat()).collect();
                decoded.clear();
                decode_in_alphabet(alphabet, &lines, &mut decoded).unwrap();
                assert_eq!(decoded, bytes[len..]);
            }
        }
    }

    #[test]
    fn invalid_text_is_refused_with_its_offset() {
        for (text, offset) in
            [("Zg", 2), ("Zg=", 3), ("Z===", 1), ("Zh==", 1), ("Zm9=", 2), ("Zm v", 2), ("Zg==Zg==", 4)]
        {
            assert_eq!(decode_base64(text.as_bytes(), &mut Vec::new()), Err(offset), "{text}");
        }
        for (text, offset) in
            [("Zg=", 3), ("Z===", 1), ("Z", 1), ("Zm9v=", 4), ("Zg===", 4), ("Zg== Zg", 5), ("Zm9v*", 4)]
        {
            assert_eq!(decode_in_alphabet(Alphabet::Standard, text.as_bytes(), &mut Vec::new()), Err(offset), "{text}");
        }
        // A wrong character at each place, in the fast loop and after it.
        for offset in 0..50 {
            let mut text = vec![b'A'; 48];
            text.insert(offset.min(48), b'-');
            let result = decode_in_alphabet(Alphabet::Standard, &text, &mut Vec::new());
            assert_eq!(result, Err(offset.min(48)));
        }
    }

    /// Pseudo-random numbers, the same in each run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % bound
        }

        /// Returns a text of random bytes: with or without line breaks, blanks and padding.
        fn text(&mut self, alphabet: Alphabet) -> (Vec<u8>, Vec<u8>) {
            let max_len = [8, 200, 3 * PIECE_LEN][self.below(3)];
            let bytes: Vec<u8> = (0..self.below(max_len)).map(|_| self.below(256) as u8).collect();
            let mut digits = Vec::new();
            encode_in_alphabet(alphabet, self.below(2) == 0, &bytes, &mut digits);
            let width = [60, 64, 76, 1 + self.below(100), digits.len().max(1)][self.below(5)];
            let end: &[u8] = [&b"\n"[..], b"\r\n", b" \t\n ", b" ", b""][self.below(5)];
            let mut text: Vec<u8> = digits.chunks(width).flat_map(|line| [line, end].concat()).collect();
            for _ in 0..[0, 0, 1, 20][self.below(4)] {
                text.insert(self.below(text.len() + 1), b" \t\r\n\x0C"[self.below(5)]);
            }
            (bytes, text)
        }

        fn damage(&mut self, text: &mut Vec<u8>) {
            let offset = self.below(text.len() + 1);
            match self.below(4) {
                0 => text.truncate(offset),
                1 => text.insert(offset, b"=A+/-_*\0\xFF"[self.below(9)]),
                2 if offset < text.len() => text[offset] = self.below(256) as u8,
                3 if offset < text.len() => drop(text.remove(offset)),
                _ => text.extend_from_slice([&b"="[..], b"==", b"===", b"\n=\n"][self.below(4)]),
            }
        }
    }

    /// In both cases, existing bytes stay.
    const BEFORE: &[u8] = b"before";

    fn decode_with(decode: impl FnOnce(&mut Vec<u8>) -> Result<(), usize>) -> (Result<(), usize>, Vec<u8>) {
        let mut out = BEFORE.to_vec();
        let result = decode(&mut out);
        (result, out)
    }

    #[test]
    fn fast_and_reference_decoders_agree() {
        let mut random = Random(1);
        for _ in 0..4000 {
            let alphabet = [Alphabet::Standard, Alphabet::Url][random.below(2)];
            let (bytes, mut text) = random.text(alphabet);
            assert_eq!(
                decode_with(|out| decode_in_alphabet(alphabet, &text, out)),
                (Ok(()), [BEFORE, &bytes].concat())
            );
            for _ in 0..random.below(4) {
                let by_digits = decode_with(|out| decode_by_digits(alphabet, &text, 0, text.len(), out).map(|_| ()));
                assert_eq!(
                    decode_with(|out| decode_in_alphabet(alphabet, &text, out)),
                    by_digits,
                    "{:?}",
                    text.escape_ascii()
                );
                // The strict decoder: no white space, complete padding.
                if alphabet == Alphabet::Standard && !text.iter().any(u8::is_ascii_whitespace) {
                    let is_padded = text.len().is_multiple_of(4);
                    let expected = by_digits.0.and(if is_padded { Ok(()) } else { Err(text.len()) });
                    assert_eq!(decode_base64(&text, &mut Vec::new()), expected, "{:?}", text.escape_ascii());
                }
                random.damage(&mut text);
            }
        }
    }

    #[test]
    fn the_encoder_agrees_with_encoding_digit_by_digit() {
        let mut random = Random(2);
        for len in 0..300 {
            let bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
            for (alphabet, digits) in [(Alphabet::Standard, &STANDARD), (Alphabet::Url, &URL)] {
                let mut expected = BEFORE.to_vec();
                for group in bytes.chunks(3) {
                    let mut three = [0; 3];
                    three[..group.len()].copy_from_slice(group);
                    let word = u32::from_be_bytes([0, three[0], three[1], three[2]]);
                    expected.extend((0..=group.len()).map(|place| digits[(word >> (18 - 6 * place)) as usize & 0x3F]));
                }
                let mut out = BEFORE.to_vec();
                encode_in_alphabet(alphabet, false, &bytes, &mut out);
                assert_eq!(out, expected);
                expected.extend(std::iter::repeat_n(b'=', (3 - len % 3) % 3));
                out.truncate(BEFORE.len());
                encode_in_alphabet(alphabet, true, &bytes, &mut out);
                assert_eq!(out, expected);
            }
        }
    }
}
