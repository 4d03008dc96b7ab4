//! Table cells that a spreadsheet would evaluate.

use crate::printable::is_printable;
use std::borrow::Cow;

/// Returns the cell with a leading `'`, if a spreadsheet would interpret it as a formula.
///
/// ```
/// use icecore::text::spreadsheet_text;
/// assert_eq!(*spreadsheet_text(b" =1+1"), *b"' =1+1");
/// assert_eq!(*spreadsheet_text(b"-5"), *b"-5");
/// ```
pub fn spreadsheet_text(cell: &[u8]) -> Cow<'_, [u8]> {
    if is_formula(cell) { Cow::Owned([b"'", cell].concat()) } else { Cow::Borrowed(cell) }
}

/// Returns `true` if a spreadsheet would interpret a cell as a formula and run it: it begins with the sign of a
/// formula, perhaps after blanks, quotes and invisible characters. A cell that begins with a tab or a line end counts
/// as well (OWASP: CSV injection). Numbers do not: `-5` stays a number.
///
/// ```
/// use icecore::text::is_formula;
/// assert!(is_formula(b"=1+1") && is_formula("\u{a0}\u{ff1d}1".as_bytes()) && is_formula(b"-1+cmd|' /C calc'!A0"));
/// assert!(!is_formula(b"1+1") && !is_formula(b"-1.5e3") && !is_formula(b"a=b"));
/// ```
pub fn is_formula(cell: &[u8]) -> bool {
    match cell.first() {
        // Most cells begin like this.
        None | Some(b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'{' | b'[') => false,
        Some(b'\t' | b'\r' | b'\n') => true,
        _ => begins_formula(cell) && !is_plain_number(cell.trim_ascii()),
    }
}

fn begins_formula(cell: &[u8]) -> bool {
    for chunk in cell.utf8_chunks() {
        if let Some(first) = chunk.valid().chars().find(|c| !is_skipped(*c)) {
            return is_formula_sign(first);
        }
        // As read by a spreadsheet that treats bytes as characters: blanks, controls and marks of UTF-16.
        if !chunk.invalid().iter().all(|byte| matches!(byte, 0x80..=0xa0 | 0xad | 0xfe | 0xff)) {
            return false;
        }
    }
    false
}

/// Returns the signs that begin a formula, including their wide and small forms.
fn is_formula_sign(c: char) -> bool {
    matches!(
        c,
        '=' | '+'
            | '-'
            | '@'
            | '＝'
            | '＋'
            | '－'
            | '＠'
            | '\u{fe66}'
            | '\u{fe62}'
            | '\u{fe63}'
            | '\u{fe6b}'
            | '\u{2212}'
    )
}

/// Characters that a spreadsheet, or a program that cleans cells before it, may remove.
fn is_skipped(c: char) -> bool {
    let is_blank = matches!(
        c,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    );
    c == '"' || c.is_whitespace() || !is_printable(c) || is_blank
}

/// Returns `true` if this is a number in digits: `-5`, `+1.5`, `-1e-7`.
fn is_plain_number(cell: &[u8]) -> bool {
    let unsigned = cell.strip_prefix(b"-").or(cell.strip_prefix(b"+")).unwrap_or(cell);
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let integer_len = digits(unsigned);
    let mut rest = &unsigned[integer_len..];
    let mut count = integer_len;
    if let [b'.', fraction @ ..] = rest {
        count += digits(fraction);
        rest = &fraction[digits(fraction)..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let unsigned = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
        return count > 0 && !unsigned.is_empty() && digits(unsigned) == unsigned.len();
    }
    count > 0 && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_found_after_invisible_characters() {
        let formula = "1+cmd|' /C calc'!A0";
        for sign in ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦", "\u{2212}"] {
            for front in [
                "",
                " ",
                "\u{a0}",
                "\u{feff}",
                "\u{200b}",
                "\u{3000}",
                "\"",
                "\0",
                "\u{b}",
                "\u{c}",
                " \" \u{202e}",
                "\u{3164}",
            ] {
                let cell = format!("{front}{sign}{formula}");
                assert!(is_formula(cell.as_bytes()), "{cell:?}");
            }
        }
        for bytes in [
            &b"\xff\xfe=1"[..],
            b"\xa0=1",
            b"\xef\xbb\xbf=1",
            b"\t1",
            b"\r",
            b"\n-",
            b"-",
            b"-5-5",
            b"-1,5",
            b"+",
            b"--5",
        ] {
            assert!(is_formula(bytes), "{}", bytes.escape_ascii());
        }
        for bytes in [
            &b""[..],
            b" ",
            b"a=1",
            b"1",
            b"-5",
            b"+5.25",
            b"-.5",
            b"-1e-7",
            b" -5 ",
            b"'=1",
            b"\xe9=1",
            b"{\"a\":-1}",
            b"[-1]",
            b"_=1",
            "é=1".as_bytes(),
        ] {
            assert!(!is_formula(bytes), "{}", bytes.escape_ascii());
        }
    }
}
