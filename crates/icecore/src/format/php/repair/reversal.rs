//! Undoes a change of the whole text: slashes, doubled quotes, entities, or other spellings of NUL bytes. Then the
//! result has right lengths, or its lengths can be explained by another way of measuring.

use crate::document::Explanation;
use crate::html_entities::decode_entities;
use memchr::memmem;

/// Maximum number of changes of the whole text that are undone one after another.
const MAX_STEPS: usize = 3;
/// Number of texts that are tried.
const MAX_TEXTS: usize = 24;

/// A change that happens to whole texts.
struct Cause {
    name: &'static str,
    sentence: &'static str,
    /// Undoes the change. Returns `None` if it did not happen to this text.
    undo: fn(&[u8]) -> Option<Vec<u8>>,
}

static CAUSES: [Cause; 9] = [
    Cause {
        name: "slashed",
        sentence: "backslashes were put before quotes and backslashes of the whole text",
        undo: |text| unescape(text, &EscapeStyle::SLASHES),
    },
    Cause {
        name: "escaped-sql",
        sentence: "the whole text was escaped for a statement of SQL",
        undo: |text| unescape(text, &EscapeStyle::SQL),
    },
    Cause {
        name: "escaped-json",
        sentence: "the whole text was escaped as a string of JSON",
        undo: |text| unescape(text, &EscapeStyle::JSON),
    },
    Cause {
        name: "slashed-single",
        sentence: "backslashes were put before single quotes and backslashes of the whole text",
        undo: |text| unescape(text, &EscapeStyle::SINGLE),
    },
    Cause {
        name: "doubled-quotes",
        sentence: "the double quotes of the whole text were doubled",
        undo: |text| halve_quotes(text, b'"'),
    },
    Cause {
        name: "doubled-quotes",
        sentence: "the whole text was quoted, and its double quotes were doubled",
        undo: |text| halve_quotes(text.strip_prefix(b"\"")?.strip_suffix(b"\"")?, b'"'),
    },
    Cause {
        name: "doubled-single-quotes",
        sentence: "the single quotes of the whole text were doubled",
        undo: |text| halve_quotes(text, b'\''),
    },
    Cause { name: "entities", sentence: "characters of the whole text became entities of HTML", undo: decode_entities },
    Cause { name: "nul-spelled", sentence: "NUL bytes became other characters", undo: restore_nuls },
];

/// A text before the change that the explanation names.
pub(super) struct UndoneChange {
    pub(super) text: Vec<u8>,
    pub(super) explanation: Explanation,
}

/// Passes on each text from which a change of the whole text may have made this one.
pub(super) fn each_undone(text: &[u8], receive: &mut dyn FnMut(UndoneChange)) {
    let mut remaining = MAX_TEXTS;
    undo_more(text, &Explanation::new_empty(), MAX_STEPS, &mut remaining, receive);
}

fn undo_more(
    text: &[u8],
    previous: &Explanation,
    steps: usize,
    remaining: &mut usize,
    receive: &mut dyn FnMut(UndoneChange),
) {
    for cause in &CAUSES {
        if *remaining == 0 {
            return;
        }
        let Some(undone) = (cause.undo)(text) else { continue };
        *remaining -= 1;
        let explanation = previous.clone().and(Explanation::new(cause.name, cause.sentence));
        if steps > 1 {
            undo_more(&undone, &explanation, steps - 1, remaining, receive);
        }
        receive(UndoneChange { text: undone, explanation });
    }
}

/// A style of escapes with a backslash.
struct EscapeStyle {
    /// The bytes after a backslash, and their meaning.
    escapes: &'static [(u8, u8)],
    /// This byte never occurs without a backslash.
    quote: u8,
    /// Whether `\u` and four digits are a character.
    has_unicode_escapes: bool,
}

impl EscapeStyle {
    const SLASHES: EscapeStyle = EscapeStyle {
        escapes: &[(b'\'', b'\''), (b'"', b'"'), (b'\\', b'\\'), (b'0', 0)],
        quote: b'"',
        has_unicode_escapes: false,
    };
    const SQL: EscapeStyle = EscapeStyle {
        escapes: &[
            (b'\'', b'\''),
            (b'"', b'"'),
            (b'\\', b'\\'),
            (b'0', 0),
            (b'n', b'\n'),
            (b'r', b'\r'),
            (b'Z', 0x1A),
            (b't', b'\t'),
        ],
        quote: b'"',
        has_unicode_escapes: false,
    };
    const JSON: EscapeStyle = EscapeStyle {
        escapes: &[
            (b'"', b'"'),
            (b'\\', b'\\'),
            (b'/', b'/'),
            (b'n', b'\n'),
            (b'r', b'\r'),
            (b't', b'\t'),
            (b'b', 8),
            (b'f', 12),
        ],
        quote: b'"',
        has_unicode_escapes: true,
    };
    const SINGLE: EscapeStyle =
        EscapeStyle { escapes: &[(b'\'', b'\''), (b'\\', b'\\')], quote: b'\'', has_unicode_escapes: false };
}

/// Returns the text without its backslashes. Returns `None` if a byte that needs a backslash lacks it, or if a
/// backslash is before a byte that never has one. Then the text was not escaped in this style.
fn unescape(text: &[u8], style: &EscapeStyle) -> Option<Vec<u8>> {
    memchr::memchr(b'\\', text)?;
    let mut out = Vec::with_capacity(text.len());
    let mut offset = 0;
    while let Some(next) = memchr::memchr2(b'\\', style.quote, &text[offset..]) {
        out.extend_from_slice(&text[offset..offset + next]);
        offset += next;
        if text[offset] == style.quote {
            return None;
        }
        let escaped = *text.get(offset + 1)?;
        if style.has_unicode_escapes && escaped == b'u' {
            let (letter, len) = unicode_escape(&text[offset..])?;
            out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            offset += len;
            continue;
        }
        let (_, meant) = style.escapes.iter().find(|(byte, _)| *byte == escaped)?;
        out.push(*meant);
        offset += 2;
    }
    out.extend_from_slice(&text[offset..]);
    Some(out)
}

/// Returns the character of `\u00e9` or of a pair of surrogates, and the size of the
/// escape.
fn unicode_escape(text: &[u8]) -> Option<(char, usize)> {
    let unit = |offset: usize| {
        let digits = text.get(offset..offset + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    match char::from_u32(u32::from(first)) {
        Some(letter) => Some((letter, 6)),
        None => char::decode_utf16([first, unit(6)?]).next()?.ok().map(|letter| (letter, 12)),
    }
}

/// Returns the text with each doubled quote halved; `None` if a quote is single.
fn halve_quotes(text: &[u8], quote: u8) -> Option<Vec<u8>> {
    memchr::memchr(quote, text)?;
    let mut out = Vec::with_capacity(text.len());
    let mut offset = 0;
    while let Some(next) = memchr::memchr(quote, &text[offset..]) {
        out.extend_from_slice(&text[offset..=offset + next]);
        offset += next + 2;
        if text.get(offset - 1) != Some(&quote) {
            return None;
        }
    }
    out.extend_from_slice(&text[offset..]);
    Some(out)
}

/// Spellings of NUL bytes where they are not allowed.
pub(super) const NUL_SPELLINGS: [&[u8]; 7] =
    ["\u{FFFD}".as_bytes(), b"\\0", b"\\x00", b"\\u0000", b"%00", b"&#0;", "\u{2400}".as_bytes()];

/// Returns the text with NUL bytes in the place of one of these spellings.
fn restore_nuls(text: &[u8]) -> Option<Vec<u8>> {
    let spelling = NUL_SPELLINGS.into_iter().find(|spelling| memmem::find(text, spelling).is_some())?;
    let mut out = Vec::with_capacity(text.len());
    let mut offset = 0;
    for next in memmem::find_iter(text, spelling) {
        out.extend_from_slice(&text[offset..next]);
        out.push(0);
        offset = next + spelling.len();
    }
    out.extend_from_slice(&text[offset..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undo_replacement(text: &str, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_undone(text.as_bytes(), &mut |undone| {
            if undone.explanation.name == name {
                found.push(undone.text.escape_ascii().to_string());
            }
        });
        found
    }

    #[test]
    fn changes_of_the_whole_text_are_undone() {
        for (name, text, expected) in [
            ("slashed", r#"s:4:\"\0it\\\";"#, r#"s:4:\"\x00it\\\";"#),
            ("slashed+slashed", r#"s:2:\\\"it\\\";"#, r#"s:2:\"it\";"#),
            ("escaped-sql", r#"s:3:\"a\nb\";"#, r#"s:3:\"a\nb\";"#),
            ("escaped-json", r#"s:2:\"\u00fc\";"#, r#"s:2:\"\xc3\xbc\";"#),
            ("slashed-single", r#"s:4:"it\'s";"#, r#"s:4:\"it\'s\";"#),
            ("doubled-quotes", r#"s:0:"""";"#, r#"s:0:\"\";"#),
            ("doubled-single-quotes", "s:4:\"it''s\";", r#"s:4:\"it\'s\";"#),
            ("entities", "s:1:&quot;&amp;&quot;;", r#"s:1:\"&\";"#),
            ("nul-spelled", "s:4:\"\u{FFFD}*\u{FFFD}a\";", r#"s:4:\"\x00*\x00a\";"#),
        ] {
            assert_eq!(undo_replacement(text, name), [expected], "{text}");
        }
        // Not applied as a whole.
        assert_eq!(undo_replacement(r#"s:4:"a\"b";"#, "slashed"), [""; 0]);
        assert_eq!(undo_replacement(r#"s:3:""ab";"#, "doubled-quotes"), [""; 0]);
        assert_eq!(undo_replacement(r#"s:4:\"\nit\";"#, "slashed"), [""; 0]);
    }
}
