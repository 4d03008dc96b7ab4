//! Base64 as RFC 4648 has it, with padding.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the Base64 of bytes.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().enumerate().fold(0, |word, (i, byte)| word | u32::from(*byte) << (16 - 8 * i));
        for digit in 0..4 {
            out.push(if digit > chunk.len() { b'=' } else { DIGITS[(word >> (18 - 6 * digit)) as usize & 0x3F] });
        }
    }
}

/// Appends the bytes that a Base64 text stands for. `Err` has the position of
/// the first character that is wrong; nothing but the alphabet and the right
/// padding is allowed.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    let digits = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    if !text.len().is_multiple_of(4) {
        let wrong = digits.iter().position(|digit| value(*digit).is_none());
        return Err(wrong.unwrap_or(text.len()));
    }
    for (i, chunk) in digits.chunks(4).enumerate() {
        let mut word = 0;
        for (j, digit) in chunk.iter().enumerate() {
            word = word << 6 | value(*digit).ok_or(4 * i + j)?;
        }
        word <<= 6 * (4 - chunk.len());
        let [_, bytes @ ..] = word.to_be_bytes();
        let (kept, rest) = bytes.split_at(chunk.len() - 1);
        if rest.iter().any(|byte| *byte != 0) {
            return Err(4 * i + chunk.len() - 1);
        }
        out.extend_from_slice(kept);
    }
    Ok(())
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
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
        let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
        encode(&bytes, &mut encoded);
        decode(&encoded, &mut decoded).unwrap();
        assert_eq!(decoded, bytes);
    }

    #[test]
    fn wrong_text_is_refused_where_it_is_wrong() {
        for (text, at) in [("Zg", 2), ("Zg=", 3), ("Z===", 1), ("Zh==", 1), ("Zm9=", 2), ("Zm v", 2), ("Zg==Zg==", 2)] {
            assert_eq!(decode(text.as_bytes(), &mut Vec::new()), Err(at), "{text}");
        }
    }
}
