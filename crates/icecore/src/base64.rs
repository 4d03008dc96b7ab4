//! Base64, as RFC 4648 has it.

/// The digits that stand for 62 and 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// `+` and `/`.
    Standard,
    /// `-` and `_`, which mean nothing in an address.
    Url,
}

const STANDARD: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What is no digit. It has a bit that no shifted digit has.
const WRONG: u32 = 1 << 31;

/// For each place in a group of four, what each digit means there.
type Values = [[u32; 256]; 4];

static STANDARD_VALUES: Values = values(&STANDARD);
static URL_VALUES: Values = values(&URL);

const fn values(digits: &[u8; 64]) -> Values {
    let mut values = [[WRONG; 256]; 4];
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
    fn digits(self) -> &'static [u8; 64] {
        match self {
            Alphabet::Standard => &STANDARD,
            Alphabet::Url => &URL,
        }
    }

    fn values(self) -> &'static Values {
        match self {
            Alphabet::Standard => &STANDARD_VALUES,
            Alphabet::Url => &URL_VALUES,
        }
    }

    /// Whether this is one of its digits.
    pub(crate) fn has(self, digit: u8) -> bool {
        self.values()[0][usize::from(digit)] != WRONG
    }
}

/// The Base64 of bytes, padded.
///
/// ```
/// use icecore::text::{from_base64, to_base64};
/// assert_eq!(to_base64(b"ice"), "aWNl");
/// assert_eq!(from_base64(b"aWNl"), Ok(b"ice".to_vec()));
/// assert_eq!(from_base64(b"aW*l"), Err(2));
/// ```
pub fn to_base64(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    encode(bytes, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The bytes that a Base64 text stands for, padded and without blanks.
///
/// # Errors
/// The position of the first character that is wrong.
pub fn from_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    decode(text, &mut out)?;
    Ok(out)
}

/// Appends the Base64 of bytes, padded.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    encode_in(Alphabet::Standard, true, bytes, out);
}

/// Appends the Base64 of bytes in this alphabet.
pub(crate) fn encode_in(alphabet: Alphabet, is_padded: bool, bytes: &[u8], out: &mut Vec<u8>) {
    let digits = alphabet.digits();
    let digit = |word: u32, place: u32| digits[(word >> (18 - 6 * place)) as usize & 0x3F];
    let (whole, rest) = bytes.split_at(bytes.len() / 3 * 3);
    let start = out.len();
    out.resize(start + whole.len() / 3 * 4, 0);
    for (group, from) in out[start..].chunks_exact_mut(4).zip(whole.chunks_exact(3)) {
        let word = u32::from_be_bytes([0, from[0], from[1], from[2]]);
        group.copy_from_slice(&[digit(word, 0), digit(word, 1), digit(word, 2), digit(word, 3)]);
    }
    let (word, count) = match *rest {
        [a] => (u32::from_be_bytes([0, a, 0, 0]), 2),
        [a, b] => (u32::from_be_bytes([0, a, b, 0]), 3),
        _ => return,
    };
    out.extend((0..count).map(|place| digit(word, place)));
    if is_padded {
        out.extend((count..4).map(|_| b'='));
    }
}

/// Appends the bytes that a Base64 text stands for. `Err` has the position of
/// the first character that is wrong; nothing but the alphabet and the right
/// padding is allowed.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    if let Some(at) = text.iter().position(u8::is_ascii_whitespace) {
        return Err(text[..at].iter().position(|digit| !Alphabet::Standard.has(*digit)).unwrap_or(at));
    }
    decode_in(Alphabet::Standard, text, out)?;
    if text.len().is_multiple_of(4) { Ok(()) } else { Err(text.len()) }
}

/// As [`decode`], in this alphabet. White space may stand anywhere, and padding may
/// be missing.
pub(crate) fn decode_in(alphabet: Alphabet, text: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    let values = alphabet.values();
    out.reserve(text.len() / 4 * 3 + 3);
    let mut at = 0;
    loop {
        at += run(values, &text[at..], out);
        // Something is special in the next four digits: white space, the end, or
        // what is wrong.
        let (mut word, mut count, mut last) = (0, 0, at);
        while count < 4 {
            let Some(byte) = text.get(at) else { break };
            let value = values[count][usize::from(*byte)];
            if value != WRONG {
                (word, count, last) = (word | value, count + 1, at);
            } else if !byte.is_ascii_whitespace() {
                padding(&text[at..], count).map_err(|by| at + by)?;
                at = text.len();
                break;
            }
            at += 1;
        }
        let [_, bytes @ ..] = word.to_be_bytes();
        match count {
            0 => return Ok(()),
            1 => return Err(at),
            2 | 3 if bytes[count - 1..].iter().any(|byte| *byte != 0) => return Err(last),
            2..=4 => out.extend_from_slice(&bytes[..count - 1]),
            _ => {}
        }
        if count < 4 {
            return Ok(());
        }
    }
}

/// Whether the rest, behind so many digits of a group, is the right padding. `Err`
/// has the position of what is wrong.
fn padding(rest: &[u8], count: usize) -> Result<(), usize> {
    let mut wanted = match count {
        2 | 3 => 4 - count,
        _ => 0,
    };
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'=' if wanted > 0 => wanted -= 1,
            byte if byte.is_ascii_whitespace() => {}
            _ => return Err(at),
        }
    }
    // None is right, and all of it.
    if wanted == 0 { Ok(()) } else { Err(rest.len()) }
}

/// Appends what groups of digits mean as long as there is nothing else; says how
/// much of the text that was.
fn run(values: &Values, text: &[u8], out: &mut Vec<u8>) -> usize {
    /// How many groups are looked at together: what is wrong shows afterwards.
    const GROUPS: usize = 8;
    let mut at = 0;
    for chunk in text.chunks_exact(4 * GROUPS) {
        let mut bytes = [0; 3 * GROUPS];
        let mut all = 0;
        for (group, to) in chunk.chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
            let word = meaning(values, group);
            all |= word;
            to.copy_from_slice(&word.to_be_bytes()[1..]);
        }
        if all & WRONG != 0 {
            break;
        }
        out.extend_from_slice(&bytes);
        at += chunk.len();
    }
    for group in text[at..].chunks_exact(4) {
        let word = meaning(values, group);
        if word & WRONG != 0 {
            break;
        }
        out.extend_from_slice(&word.to_be_bytes()[1..]);
        at += 4;
    }
    at
}

fn meaning(values: &Values, group: &[u8]) -> u32 {
    values[0][usize::from(group[0])]
        | values[1][usize::from(group[1])]
        | values[2][usize::from(group[2])]
        | values[3][usize::from(group[3])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
            encode(bytes.as_bytes(), &mut encoded);
            assert_eq!(encoded, text.as_bytes());
            assert_eq!(decode(text.as_bytes(), &mut decoded), Ok(()));
            assert_eq!(decoded, bytes.as_bytes());
        }
    }

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        for (alphabet, is_padded) in [(Alphabet::Standard, true), (Alphabet::Url, false)] {
            for len in 0..bytes.len() {
                let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
                encode_in(alphabet, is_padded, &bytes[len..], &mut encoded);
                decode_in(alphabet, &encoded, &mut decoded).unwrap();
                assert_eq!(decoded, bytes[len..]);
                // Broken into lines of every length.
                let lines: Vec<u8> = encoded.chunks(len % 70 + 1).flat_map(|line| [line, b"\r\n"].concat()).collect();
                decoded.clear();
                decode_in(alphabet, &lines, &mut decoded).unwrap();
                assert_eq!(decoded, bytes[len..]);
            }
        }
    }

    #[test]
    fn wrong_text_is_refused_where_it_is_wrong() {
        for (text, at) in [("Zg", 2), ("Zg=", 3), ("Z===", 1), ("Zh==", 1), ("Zm9=", 2), ("Zm v", 2), ("Zg==Zg==", 4)] {
            assert_eq!(decode(text.as_bytes(), &mut Vec::new()), Err(at), "{text}");
        }
        for (text, at) in [("Zg=", 3), ("Z===", 1), ("Z", 1), ("Zm9v=", 4), ("Zg===", 4), ("Zg== Zg", 5), ("Zm9v*", 4)]
        {
            assert_eq!(decode_in(Alphabet::Standard, text.as_bytes(), &mut Vec::new()), Err(at), "{text}");
        }
        // A wrong character at each place, in the fast loop and behind it.
        for at in 0..50 {
            let mut text = vec![b'A'; 48];
            text.insert(at.min(48), b'-');
            let found = decode_in(Alphabet::Standard, &text, &mut Vec::new());
            assert_eq!(found, Err(at.min(48)));
        }
    }
}
