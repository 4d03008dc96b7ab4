//! UTF-8 as perl has it: numbers above those of Unicode, and surrogates, are
//! characters too.

/// The first character of `bytes` and its length; `None` if it is malformed.
pub(super) fn decode(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    // Of 13 bytes are the characters that begin with FF.
    let len = match first.leading_ones() {
        2..=7 => first.leading_ones() as usize,
        8 => 13,
        _ => return None,
    };
    let mut code = if len < 7 { u64::from(first) & (0x7F >> len) } else { 0 };
    for byte in bytes.get(1..len)? {
        if byte & 0xC0 != 0x80 || code >> 58 != 0 {
            return None;
        }
        code = code << 6 | u64::from(byte & 0x3F);
    }
    (code >= least(len)).then_some((code, len))
}

/// The least character that needs so many bytes.
fn least(len: usize) -> u64 {
    match len {
        1 => 0,
        2 => 0x80,
        13 => 1 << 36,
        _ => 1 << (5 * len - 4),
    }
}

/// Whether all of it is well-formed.
pub(super) fn is_valid(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() || chars(bytes).map(|(_, len)| len).sum::<usize>() == bytes.len()
}

/// The characters up to the first malformed one, with their lengths.
pub(super) fn chars(mut bytes: &[u8]) -> impl Iterator<Item = (u64, usize)> {
    std::iter::from_fn(move || {
        let (code, len) = decode(bytes)?;
        bytes = bytes.get(len..)?;
        Some((code, len))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_perl() {
        for (bytes, code) in [
            (&b"a"[..], 0x61),
            (b"\xC3\xA9", 0xE9),
            (b"\xE2\x98\xBA", 0x263A),
            (b"\xED\xA0\x80", 0xD800),
            (b"\xF4\x90\x80\x80", 0x11_0000),
            (b"\xFE\x83\xBF\xBF\xBF\xBF\xBF", 0xFFFF_FFFF),
            (b"\xFF\x80\x80\x80\x80\x80\x81\x80\x80\x80\x80\x80\x80", 1 << 36),
            (b"\xFF\x80\x87\xBF\xBF\xBF\xBF\xBF\xBF\xBF\xBF\xBF\xBF", i64::MAX as u64),
        ] {
            assert_eq!(decode(bytes), Some((code, bytes.len())), "{bytes:x?}");
        }
        for bytes in [&b""[..], b"\x80", b"\xC3", b"\xC1\x81", b"\xE0\x80\x80", b"\xC3a", b"\xE2\x98"] {
            assert_eq!(decode(bytes), None, "{bytes:x?}");
        }
    }
}
