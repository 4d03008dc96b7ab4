//! Numbers, keys and names as PHP writes them, for PHP's text formats.

pub(crate) use crate::num::php::{push_float, push_number, push_uint};

/// Appends `i:…;`.
#[inline]
pub(crate) fn push_integer(value: i64, buf: &mut Vec<u8>) {
    push_number(if value < 0 { b"i:-" } else { b"i:" }, value.unsigned_abs(), b";", buf);
}

/// Returns the integer that PHP makes of this array key: the key must be its exact decimal text.
pub(crate) fn integer_key(key: &[u8]) -> Option<i64> {
    let digits = key.strip_prefix(b"-").unwrap_or(key);
    match digits {
        [b'0'] if key.len() == 1 => Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 && digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(key).ok()?.parse().ok()
        }
        _ => None,
    }
}

/// Returns `true` if PHP accepts this as the name of a class.
pub(crate) fn is_class_name(name: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\\') || *byte >= 0x80;
    !name.is_empty() && name[0] != b'\\' && name.iter().all(is_word)
}

/// Returns `true` if PHP code can use this as a class name; `unserialize()` accepts more. `self` and the
/// like are other classes, or none.
pub(crate) fn is_class_in_code(name: &[u8]) -> bool {
    let is_part = |part: &[u8]| part.first().is_some_and(|first| !first.is_ascii_digit());
    let is_relative = [&b"self"[..], b"parent", b"static"].iter().any(|word| name.eq_ignore_ascii_case(word));
    is_class_name(name) && !is_relative && name.split(|byte| *byte == b'\\').all(is_part)
}

/// Returns `true` if `number` is the last number in a head. It is not if the document was edited after
/// the head was recorded.
pub(crate) fn states_number(head: &[u8], number: u64) -> bool {
    // After a class, no digits or only a sign mean 0.
    if let Some(before) = head.strip_suffix(b":{")
        && !before.ends_with(b"\"")
        && before.last().is_some_and(|last| !last.is_ascii_digit())
    {
        return number == 0;
    }
    let end = head.iter().rposition(u8::is_ascii_digit).map_or(0, |index| index + 1);
    let start = head[..end].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |index| index + 1);
    std::str::from_utf8(&head[start..end]).ok().and_then(|digits| digits.parse().ok()) == Some(number)
}

/// Returns `true` if the head of an object names this class.
pub(crate) fn names_class(head: &[u8], class: &[u8]) -> bool {
    let quoted = head.splitn(2, |byte| *byte == b'"').nth(1);
    let rest = quoted.and_then(|quoted| quoted.strip_prefix(class));
    rest.is_some_and(|rest| rest.starts_with(b"\""))
}

/// Returns `true` if this is `Class:Case`.
pub(crate) fn is_enum_case(name: &[u8]) -> bool {
    let colon = name.iter().position(|byte| *byte == b':');
    colon.is_some_and(|colon| is_class_name(&name[..colon]) && colon + 1 < name.len())
}

/// Returns `true` if this is the text of a float: digits with or without a point, and an optional
/// exponent.
pub(crate) fn is_float_text(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"+").or(text.strip_prefix(b"-")).unwrap_or(text);
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let integer_len = digits(unsigned);
    let mut rest = &unsigned[integer_len..];
    let mut count = integer_len;
    if let [b'.', after_point @ ..] = rest {
        let fraction = digits(after_point);
        count += fraction;
        rest = &after_point[fraction..];
    }
    if count == 0 {
        return false;
    }
    if let [b'e' | b'E', exponent_text @ ..] = rest {
        let exponent = exponent_text.strip_prefix(b"+").or(exponent_text.strip_prefix(b"-")).unwrap_or(exponent_text);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_like_php() {
        for (value, text) in [
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.00001, "1.0E-5"),
            (1e15, "1000000000000000"),
            (1e16, "10000000000000000"),
            (12345.678, "12345.678"),
            (1e17, "1.0E+17"),
            (1.5e300, "1.5E+300"),
            (5e-324, "5.0E-324"),
            (-0.0, "-0"),
            (100.0, "100"),
            (f64::NEG_INFINITY, "-INF"),
        ] {
            let mut buf = Vec::new();
            push_float(value, &mut buf);
            assert_eq!(String::from_utf8_lossy(&buf), text);
        }
    }

    #[test]
    fn only_canonical_integers_are_integer_keys() {
        assert_eq!(integer_key(b"0"), Some(0));
        assert_eq!(integer_key(b"-5"), Some(-5));
        assert_eq!(integer_key(b"9223372036854775807"), Some(i64::MAX));
        for text in [&b"-0"[..], b"05", b"", b"-", b"+5", b"9223372036854775808", b"5x"] {
            assert_eq!(integer_key(text), None);
        }
    }
}
