//! Chooses the ways of measuring that are tried for a text, and explains a text that was read in one of these ways.

use super::measure::{
    Charset, LineEnds, Measure, MeasureRange, SINGLE_BYTE, Uncertainty, decode_character, encode_single_byte,
};
use crate::document::Explanation;
use std::collections::BTreeSet;

/// Properties of a text that decide which ways of measuring apply.
struct Contents {
    is_ascii: bool,
    is_utf8: bool,
    has_wide: bool,
    has_replaced: bool,
    has_marks: bool,
    has_quotes: bool,
    has_lone_feeds: bool,
    has_pairs: bool,
    has_questions: bool,
}

impl Contents {
    fn from_text(text: &[u8]) -> Contents {
        let has = |byte: u8| memchr::memchr(byte, text).is_some();
        let has_text = |part: &str| memchr::memmem::find(text, part.as_bytes()).is_some();
        let is_lone = |offset: usize| offset.checked_sub(1).and_then(|at| text.get(at)) != Some(&b'\r');
        let utf8 = std::str::from_utf8(text);
        Contents {
            is_ascii: text.is_ascii(),
            is_utf8: utf8.is_ok(),
            has_wide: text.iter().any(|byte| *byte >= 0xF0),
            has_replaced: has_text("\u{FFFD}"),
            has_marks: has(b'&') || has(b'<') || has(b'>'),
            has_quotes: has(b'\''),
            has_lone_feeds: memchr::memchr_iter(b'\n', text).any(is_lone),
            has_pairs: has_text("\r\n"),
            has_questions: has(b'?'),
        }
    }

    fn possible_charsets(&self) -> Vec<Charset<'static>> {
        let mut charsets = vec![Charset::Bytes];
        if self.is_ascii {
            return charsets;
        }
        // No charset contains U+FFFD, so a text with it was not converted from a charset without loss.
        if self.is_utf8 && !self.has_replaced {
            charsets.push(Charset::Characters);
            if self.has_wide {
                charsets.push(Charset::Utf16);
            }
            charsets.extend([false, true].map(|cp1252| Charset::Twice { cp1252 }));
            charsets.extend([false, true].map(|has_kana| Charset::Wide { has_kana }));
        }
        charsets.extend(SINGLE_BYTE.map(Charset::Utf8Of));
        charsets
    }

    fn possible_line_ends(&self) -> impl Iterator<Item = LineEnds> + Clone {
        let lines =
            [(LineEnds::Kept, true), (LineEnds::WasCrlf, self.has_lone_feeds), (LineEnds::WasLf, self.has_pairs)];
        lines.into_iter().filter(|(_, may)| *may).map(|(lines, _)| lines)
    }
}

/// Returns the ways of measuring that can make a difference for this text, the most
/// probable first.
pub(super) fn list_measures(text: &[u8]) -> Vec<Measure<'static>> {
    let contents = Contents::from_text(text);
    let mut measures = Vec::new();
    for lines in contents.possible_line_ends() {
        measures.extend(contents.possible_charsets().into_iter().map(|charset| Measure { charset, lines }));
    }
    if contents.has_replaced {
        measures.push(Measure { charset: Charset::Replaced, lines: LineEnds::Kept });
    }
    if contents.has_marks || contents.has_quotes {
        for (double, single) in [(6, 1), (6, 6), (6, 5), (1, 1)] {
            measures.push(Measure { charset: Charset::Entities { double, single }, lines: LineEnds::Kept });
        }
    }
    measures
}

/// Returns the ways that can make a difference after a change of the whole text was undone.
pub(super) fn list_undone_measures(text: &[u8]) -> Vec<Measure<'static>> {
    let contents = Contents::from_text(text);
    let mut measures: Vec<_> =
        contents.possible_line_ends().map(|lines| Measure { charset: Charset::Bytes, lines }).collect();
    if contents.is_utf8 && !contents.is_ascii {
        measures.extend(contents.possible_line_ends().map(|lines| Measure { charset: Charset::Characters, lines }));
    }
    measures
}

/// Returns the ways that are not certain for each character.
pub(super) fn list_inexact_measures(text: &[u8]) -> Vec<MeasureRange<'static>> {
    let contents = Contents::from_text(text);
    let mut charsets = vec![Charset::Bytes];
    if !contents.is_ascii {
        match contents.is_utf8 {
            true => charsets.push(Charset::Characters),
            false => charsets.extend(SINGLE_BYTE.map(Charset::Utf8Of)),
        }
    }
    let losses = [
        (Uncertainty::SomeCrlf, contents.has_lone_feeds),
        (Uncertainty::SomeLf, contents.has_pairs),
        (Uncertainty::Wide, contents.has_questions),
        (Uncertainty::Any, contents.has_questions),
    ];
    let mut list = Vec::new();
    for (loss, _) in losses.into_iter().filter(|(_, may)| *may) {
        let measure = |charset: &Charset<'static>| MeasureRange {
            measure: Measure { charset: *charset, lines: LineEnds::Kept },
            loss,
        };
        list.extend(charsets.iter().map(measure));
    }
    list
}

/// Explains a text with lengths that count in this way.
pub(super) fn explain_measure(measure: Measure<'_>, text: &[u8]) -> Explanation {
    let charset = match measure.charset {
        Charset::Bytes => Explanation::new_empty(),
        Charset::Characters => explain_characters(text),
        Charset::Utf16 => Explanation::new("utf-16", "the lengths count units of UTF-16, and the text is UTF-8"),
        Charset::Twice { .. } => Explanation::new(
            "twice-utf-8",
            "the lengths count characters of a single-byte charset, and the text was converted to UTF-8 twice",
        ),
        Charset::Wide { has_kana } => Explanation::new(
            if has_kana { "shift-jis" } else { "double-byte" },
            "the lengths count the bytes of a double-byte charset, as Shift_JIS, GBK or Big5, and the text is UTF-8 now",
        ),
        Charset::Utf8Of(charset) => Explanation::new(
            format!("utf-8-to-{}", charset.name),
            format!("the lengths count UTF-8, and the text is {} now", charset.name),
        ),
        Charset::Replaced => Explanation::new("bytes-replaced", "bytes that were not UTF-8 were replaced by U+FFFD"),
        // `replaced.rs` explains a replacement, because only that file knows the changes.
        Charset::Rewritten { .. } => Explanation::new_empty(),
        Charset::Entities { .. } => Explanation::new(
            "entities-decoded",
            "the lengths count entities of HTML, and the text has their characters now",
        ),
    };
    charset.and(match measure.lines {
        LineEnds::Kept => Explanation::new_empty(),
        LineEnds::WasCrlf => Explanation::new("line-ends", "line ends were CR LF and are LF now"),
        LineEnds::WasLf => Explanation::new("line-ends", "line ends were LF and are CR LF now"),
    })
}

/// Explains a text with lengths between two numbers.
pub(super) fn explain_inexact(between: MeasureRange<'_>, text: &[u8]) -> Explanation {
    let mut explanation = explain_measure(between.measure, text).and(match between.loss {
        Uncertainty::SomeCrlf => Explanation::new("line-ends", "some line ends were CR LF, and all are LF now"),
        Uncertainty::SomeLf => Explanation::new("line-ends", "some line ends were LF, and all are CR LF now"),
        Uncertainty::Wide => Explanation::new("characters-lost", "characters of four bytes became question marks"),
        Uncertainty::Any => Explanation::new("characters-lost", "characters became question marks"),
    });
    // This is a guess, because it is not known what each single character counted.
    explanation.is_guess = true;
    explanation
}

/// Names the charset in which each character of the text is one byte.
fn explain_characters(text: &[u8]) -> Explanation {
    let mut letters = BTreeSet::new();
    let mut offset = 0;
    while let Some(next) = text[offset..].iter().position(|byte| *byte >= 0x80) {
        offset += next;
        let Some(letter) = decode_character(&text[offset..]) else { break };
        letters.insert(letter);
        offset += letter.len_utf8();
        // A charset of one byte for each character has at most 128 characters beyond ASCII.
        if letters.len() > 128 {
            break;
        }
    }
    let any = |range: std::ops::RangeInclusive<char>| letters.iter().any(|letter| range.contains(letter));
    let all = |cp1252| letters.iter().all(|letter| encode_single_byte(*letter, cp1252).is_some());
    let (name, charset) = if all(false) {
        ("latin1", "latin1")
    } else if all(true) {
        ("cp1252", "cp1252")
    } else if letters.len() > 128 || any('\u{10000}'..=char::MAX) {
        return Explanation::new("characters", "the lengths count characters, and not the bytes of UTF-8");
    } else if any('\u{400}'..='\u{45F}') {
        ("cyrillic", "a Cyrillic charset, as cp1251 or KOI8-R")
    } else if any('\u{370}'..='\u{3FF}') {
        ("greek", "a Greek charset, as cp1253 or ISO-8859-7")
    } else {
        ("single-byte", "a single-byte charset")
    };
    Explanation::new(name, format!("the lengths count characters of {charset}, and the text is UTF-8 now"))
}
