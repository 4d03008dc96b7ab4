//! SQL values as cells.

use crate::rows::batch::CellKind;
use icecore::rewrite::Escaping;
use icecore_sql::{Content, Dialect, Kind, Table};
use std::ops::Range;

/// How a column interprets values in quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Type {
    #[default]
    Any,
    /// As numbers, if they look like numbers.
    Number,
    /// As the bytes of a number.
    Bits,
    /// As binary digits, in PostgreSQL.
    BitString,
    /// As the booleans `t` and `f`.
    Bool,
}

impl Type {
    pub fn from_column(table: &Table, column: Option<u32>, dialect: Option<Dialect>) -> Type {
        let Some(column) = column.and_then(|column| table.columns().get(column as usize)) else {
            return if dialect == Some(Dialect::Postgres) { Type::BitString } else { Type::Any };
        };
        match (dialect, column.declared_type()) {
            // SQLite writes numbers without quotes.
            (Some(Dialect::Sqlite), _) => Type::Any,
            (Some(Dialect::Postgres), "bool" | "boolean") => Type::Bool,
            (Some(Dialect::Postgres), "bit") => Type::BitString,
            (_, "bit") => Type::Bits,
            (Some(Dialect::Postgres), _) if column.kind() != Kind::Number => Type::BitString,
            _ if column.kind() == Kind::Number => Type::Number,
            _ => Type::Any,
        }
    }
}

/// Writes the content of a value, and returns the kind of cell. An expression is written as its text. Its kind is
/// `None`.
pub fn write_content(
    window: &[u8],
    range: Range<usize>,
    content: Content,
    column_type: Type,
    out: &mut Vec<u8>,
) -> Option<CellKind> {
    let text = window.get(range).unwrap_or_default();
    Some(match content {
        Content::Literal(body, quoting) => {
            let raw = window.get(body).unwrap_or_default();
            let Some(decoded) = quoting.decode(raw) else {
                out.extend_from_slice(text);
                return None;
            };
            write_literal(decoded.text(), column_type, out)
        }
        Content::Number => write_number(text, out),
        Content::Bool(value) => {
            out.extend_from_slice(if value { b"true" } else { b"false" });
            CellKind::Plain
        }
        Content::Null => CellKind::Null,
        Content::Absent => CellKind::Absent,
        Content::Bits(digits) => write_bits(window.get(digits).unwrap_or_default(), column_type, out),
        _ => {
            out.extend_from_slice(text);
            return None;
        }
    })
}

fn write_literal(text: &[u8], column_type: Type, out: &mut Vec<u8>) -> CellKind {
    match (column_type, text) {
        (Type::Bool, b"t" | b"true") => out.extend_from_slice(b"true"),
        (Type::Bool, b"f" | b"false") => out.extend_from_slice(b"false"),
        (Type::Number, _) if is_json_number(text) => out.extend_from_slice(text),
        (Type::Bits, _) if text.len() <= 8 => {
            let value = text.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
            out.extend_from_slice(value.to_string().as_bytes());
        }
        _ => {
            out.extend_from_slice(text);
            return CellKind::Text;
        }
    }
    CellKind::Plain
}

/// Writes an SQL number as a JSON number, with all its digits.
pub fn write_number(text: &[u8], out: &mut Vec<u8>) -> CellKind {
    if is_json_number(text) {
        out.extend_from_slice(text);
        return CellKind::Plain;
    }
    let (is_negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if is_negative {
        out.push(b'-');
    }
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (integer_part, rest) = rest.split_at(digits(rest));
    let zeros = integer_part.iter().take_while(|byte| **byte == b'0').count();
    match integer_part.get(zeros..).unwrap_or_default() {
        [] => out.push(b'0'),
        significant => out.extend_from_slice(significant),
    }
    match rest {
        // In JSON, digits must follow the point.
        [b'.', exponent @ ..] if digits(exponent) == 0 => out.extend_from_slice(exponent),
        rest => out.extend_from_slice(rest),
    }
    CellKind::Plain
}

/// Returns whether the text is a valid JSON number.
fn is_json_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let integer_len = digits(text);
    if integer_len == 0 || integer_len > 1 && text.first() == Some(&b'0') {
        return false;
    }
    let mut rest = text.get(integer_len..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix(b".") {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = fraction.get(len..).unwrap_or_default();
    }
    let [b'e' | b'E', exponent @ ..] = rest else { return rest.is_empty() };
    let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
    !exponent.is_empty() && digits(exponent) == exponent.len()
}

/// Writes `b'101'` as a number. In PostgreSQL it remains a text of digits.
fn write_bits(digits: &[u8], column_type: Type, out: &mut Vec<u8>) -> CellKind {
    let value = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 2).ok());
    match value.filter(|_| column_type != Type::BitString) {
        Some(value) => {
            out.extend_from_slice(value.to_string().as_bytes());
            CellKind::Plain
        }
        None => {
            out.extend_from_slice(digits);
            CellKind::Text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        for (sql, json) in [
            ("0", "0"),
            ("-12.50", "-12.50"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("00042", "42"),
            ("-000", "-0"),
            ("+7", "7"),
            (".5", "0.5"),
            ("-.5e3", "-0.5e3"),
            ("1.", "1"),
            ("1.e+9", "1e+9"),
            ("9.0e+999", "9.0e+999"),
        ] {
            let mut out = Vec::new();
            assert_eq!(write_number(sql.as_bytes(), &mut out), CellKind::Plain);
            assert_eq!(String::from_utf8(out).unwrap(), json, "{sql}");
            assert!(is_json_number(json.as_bytes()), "{json}");
        }
        for other in ["", "-", "01", "1.", ".5", "1e", "NaN", "1 "] {
            assert!(!is_json_number(other.as_bytes()), "{other}");
        }
    }
}
