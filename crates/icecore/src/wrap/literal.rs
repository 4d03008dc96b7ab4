//! String literals of programming languages, as people copy them from a terminal or a log: `"\x04\b[\x06i\n"`.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "literal",
    title: "a string literal in quotes, as Ruby, Python, PHP, Perl and redis-cli print it",
    extension: "",
    text: Some(true),
    layer: "data in a literal",
    options: &[],
    page: include_str!("literal.md"),
    detect,
    evidence: WrapperEvidence::Text,
    head: Some(decode_head),
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(None),
    unwrap,
    wrap,
};

/// The text between the quotes of a literal.
struct Quoted<'a> {
    /// Offset of the text in the input.
    start: usize,
    /// The text, up to the last quote if there is one.
    text: &'a [u8],
    /// Whether the last byte of the input, without blanks, is the same quote.
    is_closed: bool,
    /// Whether all escapes count. In single quotes without the `b` of Python, a backslash escapes only quotes,
    /// backslashes and NUL.
    has_all_escapes: bool,
}

impl Quoted<'_> {
    /// Finds the quotes.
    fn find(input: &[u8]) -> Option<Quoted<'_>> {
        let literal = input.trim_ascii_end();
        let blanks = literal.len() - literal.trim_ascii_start().len();
        let is_python = matches!(literal.get(blanks..), Some([b'b' | b'B', b'"' | b'\'', ..]));
        let start = blanks + usize::from(is_python);
        let quote = *literal.get(start).filter(|byte| matches!(byte, b'"' | b'\''))?;
        let text = literal.get(start + 1..)?;
        let closed_text = text.strip_suffix(&[quote]);
        Some(Quoted {
            start: start + 1,
            text: closed_text.unwrap_or(text),
            is_closed: closed_text.is_some(),
            has_all_escapes: is_python || quote == b'"',
        })
    }
}

/// Detects a literal that is not a JSON string: JSON has neither single quotes nor bytes as escapes.
fn detect(input: &[u8]) -> bool {
    let Some(quoted) = Quoted::find(input).filter(|quoted| quoted.is_closed && !quoted.text.is_empty()) else {
        return false;
    };
    let is_json = quoted.start == 1 + (input.len() - input.trim_ascii_start().len())
        && input.trim_ascii_start().first() == Some(&b'"')
        && !has_byte_escape(quoted.text);
    !is_json
}

/// Returns whether a text has an escape that JSON does not have.
fn has_byte_escape(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(offset) = memchr::memchr(b'\\', rest) {
        match rest.get(offset + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
            Some(b'u') if rest.get(offset + 2) != Some(&b'{') => {}
            Some(_) => return true,
            None => return false,
        }
        rest = rest.get(offset + 2..).unwrap_or_default();
    }
    false
}

fn decode_head<'a>(input: &'a [u8], is_complete: bool, _: &Settings, max_len: usize) -> Option<ContentHead<'a>> {
    let beginning = input.get(..max_len.saturating_mul(4)).unwrap_or(input);
    let is_all = is_complete && beginning.len() == input.len();
    let mut bytes = Vec::new();
    let result = unescape(&Quoted::find(beginning)?, &mut bytes);
    (result.is_ok() || !is_all).then(|| ContentHead::from_beginning((bytes, is_all)))
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, _: &Limits) -> Result<Unwrapped<'a>, Error> {
    let Some(quoted) = Quoted::find(input) else {
        let blanks = input.len() - input.trim_ascii_start().len();
        return Err(Error::new(ErrorKind::Malformed).at(blanks).expecting("a quote").finding("no quote"));
    };
    let mut bytes = Vec::new();
    unescape(&quoted, &mut bytes)?;
    if !quoted.is_closed {
        return Err(Error::new(ErrorKind::Truncated)
            .at(input.len())
            .expecting("the quote at the end of the literal")
            .finding("the end of the input"));
    }
    Ok(Unwrapped::from_owned(bytes))
}

/// Appends the bytes that the text of a literal means.
fn unescape(quoted: &Quoted<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let quote = if quoted.has_all_escapes { None } else { Some(b'\'') };
    let mut rest = quoted.text;
    loop {
        let plain_len = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        let (plain, escape) = rest.split_at(plain_len);
        out.extend_from_slice(plain);
        if escape.is_empty() {
            return Ok(());
        }
        let offset = quoted.start + quoted.text.len() - escape.len();
        let read_len = match quote {
            Some(_) => read_simple_escape(escape, out),
            None => read_escape(escape, out),
        };
        let read_len = read_len.ok_or_else(|| {
            Error::new(ErrorKind::Malformed).at(offset).expecting("an escape").finding("an incomplete one")
        })?;
        rest = escape.get(read_len..).unwrap_or_default();
    }
}

/// Reads an escape in single quotes. Returns its length.
fn read_simple_escape(escape: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    match escape.get(1)? {
        byte @ (b'\\' | b'\'' | b'"') => out.push(*byte),
        b'0' => out.push(0),
        byte => out.extend_from_slice(&[b'\\', *byte]),
    }
    Some(2)
}

/// Reads an escape of Ruby, Python, Perl, PHP, C or JSON. Returns its length.
fn read_escape(escape: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let byte = *escape.get(1)?;
    let plain = match byte {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'e' => 0x1b,
        b'0'..=b'7' => {
            let (value, len) = read_digits(escape.get(1..)?, 8, 3)?;
            // `\777` is the byte 0xFF, as in C.
            out.push(value as u8);
            return Some(1 + len);
        }
        b'x' => {
            let (value, len) = read_digits(escape.get(2..)?, 16, 2)?;
            out.push(value as u8);
            return Some(2 + len);
        }
        b'u' => return read_unicode_escape(escape, out),
        byte => byte,
    };
    out.push(plain);
    Some(2)
}

/// Reads `\u00e4`, `\ud83d\ude00` or `\u{1f600}`. Returns its length.
fn read_unicode_escape(escape: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let mut push = |code: u32| {
        let mut buffer = [0; 4];
        char::from_u32(code).map(|char| out.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes()))
    };
    if let Some(digits) = escape.strip_prefix(b"\\u{") {
        let (code, len) = read_digits(digits, 16, 6)?;
        return (digits.get(len) == Some(&b'}') && push(code).is_some()).then_some(len + 4);
    }
    let unit_at = |at: usize| match read_digits(escape.get(at..)?.strip_prefix(b"\\u")?, 16, 4)? {
        (unit, 4) => Some(unit),
        _ => None,
    };
    let first = unit_at(0)?;
    if (0xD800..0xDC00).contains(&first) {
        let second = unit_at(6).filter(|unit| (0xDC00..0xE000).contains(unit))?;
        push(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))?;
        return Some(12);
    }
    push(first)?;
    Some(6)
}

/// Reads up to `max_len` digits. Returns their value and their number, which is at least 1.
fn read_digits(text: &[u8], radix: u32, max_len: usize) -> Option<(u32, usize)> {
    let digits = text.iter().take(max_len).map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, len) = digits.fold((0, 0), |(value, len), digit| (value * radix + digit, len + 1));
    (len > 0).then_some((value, len))
}

/// Writes only escapes that Ruby, Perl, PHP, Python and redis-cli have in common. `$`, `@` and `#` would begin a
/// variable in some of them.
fn wrap(content: &[u8], _: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(content.len() + content.len() / 4 + 2);
    out.push(b'"');
    for byte in content {
        match byte {
            b'\\' | b'"' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'$' | b'@' | b'#' | ..b' ' | 0x7f.. => {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                out.extend_from_slice(&[b'\\', b'x', DIGITS[high], DIGITS[low]]);
            }
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unescaped(literal: &str) -> Option<Vec<u8>> {
        let content = unwrap(literal.as_bytes(), &Settings::new(), &Limits::default()).ok()?;
        Some(content.bytes.into_owned())
    }

    #[test]
    fn literals_mean_bytes() {
        for (literal, bytes) in [
            (r#""\x04\b[\x06i\n""#, &b"\x04\x08[\x06i\n"[..]),
            (r#""\u00e4\u{1f600}\ud83d\ude00""#, "ä\u{1f600}\u{1f600}".as_bytes()),
            (r#""\0\12\377\e\#{x}""#, b"\0\x0a\xff\x1b#{x}"),
            (r"b'\x80\'\\n'", b"\x80'\\n"),
            (r"'App\Models\\User \'x\' \n'", br"App\Models\User 'x' \n"),
            ("  \"a\" \n", b"a"),
        ] {
            assert_eq!(unescaped(literal).as_deref(), Some(bytes), "{literal}");
        }
        for literal in [r#""\x""#, r#""\u12""#, r#""\ud800""#, r#""\u{}""#, "\"open", "none", "\"\\"] {
            assert_eq!(unescaped(literal), None, "{literal}");
        }
    }

    #[test]
    fn a_json_string_is_not_detected() {
        assert!(!detect(br#""a:1:{i:0;s:1:\"x\";}""#) && !detect(b"\"") && !detect(b"''"));
        assert!(detect(br#""\x04\b0""#) && detect(b"'a:0:{}'") && detect(b"b\"a:0:{}\""));
    }

    #[test]
    fn all_bytes_survive() {
        let all: Vec<u8> = (0..=255).chain(*b"#{x} $x @x").collect();
        let mut literal = Vec::new();
        wrap(&all, &Settings::new(), &mut literal).unwrap();
        assert!(literal.is_ascii());
        assert_eq!(unescaped(std::str::from_utf8(&literal).unwrap()), Some(all));
    }
}
