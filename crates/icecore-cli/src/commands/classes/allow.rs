//! Classes as the option that allows them, in each language.
//!
//! Pasted into a program it allows these classes and no others: names come from the data.

use super::{Name, Row};
use crate::cli::Language;
use std::fmt::Write;

/// What allows others as well, where a name stands in a list.
const WILDCARD: u8 = b'*';

/// The list, and the classes that can't stand in it.
pub fn list(rows: &[Row], language: Language) -> (String, Vec<&Row>) {
    // A name that is a mere value makes nothing.
    let built = rows.iter().filter(|row| !row.kind.ends_with("-name"));
    let (refused, built): (Vec<&Row>, Vec<&Row>) = built.partition(|row| row.name.bytes.contains(&WILDCARD));
    let mut names: Vec<_> = built.into_iter().map(|row| quoted(&row.name, language)).collect();
    names.dedup();
    let list = names.join(", ");
    let text = match language {
        Language::Perl => format!("classes => [{list}]\n"),
        Language::Php => format!("'classes' => [{list}]\n"),
        Language::Ruby => format!("classes: [{list}]\n"),
    };
    (text, refused)
}

/// Why a class is not in the list.
pub fn refusal(row: &Row) -> String {
    format!(
        "the class `{}` at {} is not in the list: `*` in a list allows every name that fits; no program names a class \
         so, look where this data comes from",
        row.class, row.path
    )
}

/// The name as a string of the language, in ASCII.
fn quoted(name: &Name, language: Language) -> String {
    let Name { bytes, is_text } = name;
    let mut out = String::new();
    if bytes.iter().all(|byte| matches!(byte, 0x20..=0x7e)) {
        out.push('\'');
        for byte in bytes {
            if matches!(byte, b'\'' | b'\\') {
                out.push('\\');
            }
            out.push(char::from(*byte));
        }
        out.push('\'');
        return out;
    }
    out.push('"');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":_- ".contains(c);
    // In Perl, characters and the bytes of their UTF-8 are not the same.
    let text = std::str::from_utf8(bytes).ok().filter(|_| *is_text || language != Language::Perl);
    let characters = text.into_iter().flat_map(str::chars);
    let bytes = if text.is_some() { &[][..] } else { bytes };
    for c in characters {
        let _ = match (is_plain(c), language) {
            (true, _) => write!(out, "{c}"),
            (false, Language::Perl) => write!(out, "\\x{{{:x}}}", u32::from(c)),
            (false, _) => write!(out, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    for byte in bytes {
        let _ = match is_plain(char::from(*byte)) {
            true => write!(out, "{}", char::from(*byte)),
            false => write!(out, "\\x{byte:02x}"),
        };
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &[u8], language: Language) -> String {
        let is_text = std::str::from_utf8(name).is_ok();
        quoted(&Name { bytes: name.to_vec(), is_text }, language)
    }

    #[test]
    fn names_are_quoted_as_each_language_does() {
        assert_eq!(said(b"My::Thing", Language::Perl), "'My::Thing'");
        assert_eq!(said(b"My\\Thing's", Language::Php), "'My\\\\Thing\\'s'");
        assert_eq!(said("Caf\u{e9}".as_bytes(), Language::Perl), "\"Caf\\x{e9}\"");
        assert_eq!(said("Caf\u{e9}".as_bytes(), Language::Ruby), "\"Caf\\u{e9}\"");
        assert_eq!(said(b"Caf\xe9", Language::Perl), "\"Caf\\xe9\"");
        assert_eq!(said(b"a\n$b", Language::Php), "\"a\\u{a}\\u{24}b\"");
        let bytes = Name { bytes: b"Caf\xc3\xa9".to_vec(), is_text: false };
        assert_eq!(quoted(&bytes, Language::Perl), "\"Caf\\xc3\\xa9\"");
    }
}
