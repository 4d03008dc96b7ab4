//! Multi-byte encodings: the tables of the Web, with corrections for Ruby.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, SHIFT_JIS};
use std::borrow::Cow;

/// A character of the Web's table, and Ruby's character.
type Corrections = &'static [(char, char)];

/// JIS X 0208, for which Microsoft's table has the wide forms.
const JIS: Corrections = &[
    ('\u{2015}', '\u{2014}'),
    ('\u{FF5E}', '\u{301C}'),
    ('\u{2225}', '\u{2016}'),
    ('\u{FF0D}', '\u{2212}'),
    ('\u{FFE0}', '\u{A2}'),
    ('\u{FFE1}', '\u{A3}'),
    ('\u{FFE2}', '\u{AC}'),
];

const HKSCS: Corrections = &[
    ('\u{2027}', '\u{2022}'),
    ('\u{FE51}', '\u{FF64}'),
    ('\u{AF}', '\u{203E}'),
    ('\u{FF5E}', '\u{223C}'),
    ('\u{2295}', '\u{2641}'),
    ('\u{2299}', '\u{2609}'),
    ('\u{2215}', '\u{FF0F}'),
    ('\u{FE68}', '\u{FF3C}'),
    ('\u{FFE5}', '\u{A5}'),
    ('\u{FFE0}', '\u{A2}'),
    ('\u{FFE1}', '\u{A3}'),
];

/// Decodes text in the encoding with this upper-case name.
pub(super) fn decode_multi_byte<'b>(name: &str, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
    let (encoding, corrections): (&Encoding, Corrections) = match name {
        "SHIFT_JIS" => (SHIFT_JIS, JIS),
        "WINDOWS-31J" | "CP932" | "CSWINDOWS31J" | "SJIS" | "PCK" => (SHIFT_JIS, &[]),
        "EUC-JP" | "EUCJP" => (EUC_JP, JIS),
        "CP51932" | "EUCJP-MS" | "EUC-JP-MS" => (EUC_JP, &[]),
        "ISO-2022-JP" | "ISO2022-JP" => (ISO_2022_JP, JIS),
        "EUC-KR" | "EUCKR" | "CP949" => (EUC_KR, &[]),
        "GB2312" | "EUC-CN" | "EUCCN" | "GBK" | "CP936" => (GBK, &[]),
        "GB18030" => (GB18030, &[]),
        "BIG5" | "CP950" => (BIG5, &[]),
        "BIG5-HKSCS" | "BIG5-HKSCS:2008" => (BIG5, HKSCS),
        _ => return None,
    };
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    let is_wrong = |c: char| corrections.iter().any(|(wrong, _)| *wrong == c);
    if !text.contains(is_wrong) {
        return Some(text);
    }
    // The Web's table maps the tilde of JIS X 0212 and the wave dash of 0208 to one character.
    if std::ptr::eq(encoding, EUC_JP) && bytes.windows(3).any(|three| three == b"\x8f\xa2\xb7") {
        return None;
    }
    let correct = |c: char| corrections.iter().find(|(wrong, _)| *wrong == c).map_or(c, |(_, correct)| *correct);
    Some(Cow::Owned(text.chars().map(correct).collect()))
}
