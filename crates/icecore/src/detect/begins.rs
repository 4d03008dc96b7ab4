//! Checks whether a text begins like frozen data. If it does, an error after the beginning is damage; otherwise the
//! text is ordinary text.
//!
//! Detection of complete inputs accepts more. Most values in a table column are ordinary text, so here the beginning
//! must be one that only frozen data has.

use super::Sample;
use super::wrapper::MAX_CONTENT_LEN;
use crate::error::ErrorKind;
use crate::format::{self, Format, Request};
use crate::limits::Limits;
use crate::options::Settings;
use crate::stage::Stage;
use crate::wrap::{self, Wrapper, WrapperEvidence};

/// Returns `true` if bytes that this stage can't read begin as if they were in it: damaged or truncated data, not
/// ordinary text.
///
/// ```
/// let php = icecore::Stage::parse("php")?;
/// let begins = |text: &str| icecore::detect::begins_as(&php, text.as_bytes());
/// assert!(begins("a:2:{i:0;") && begins("s:9:\"short\";"));
/// assert!(!begins("hello") && !begins("a:b") && !begins("i:5"));
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn begins_as(stage: &Stage, input: &[u8]) -> bool {
    let Some(wrapper) = stage.wrappers().first() else { return stage.format().may_begin(input) };
    let wrapper = wrapper.wrapper();
    // Digits are a number, although they may also be hex.
    if wrapper.evidence == WrapperEvidence::Text && input.iter().all(u8::is_ascii_digit) {
        return false;
    }
    // The content decides, if it can be unwrapped.
    let full_head = wrapper.content_head(input, true, MAX_CONTENT_LEN);
    let head = full_head.or_else(|| wrapper.content_head(encoded_prefix(input), false, MAX_CONTENT_LEN));
    let Some(head) = head.filter(|head| !head.bytes.is_empty()) else {
        return wrapper.evidence == WrapperEvidence::Magic && (wrapper.detect)(input);
    };
    // A few bytes before the damage of compressed data say nothing about its format.
    let is_cut_short = head.bytes.len() < MIN_CONTENT_LEN && wrapper.evidence == WrapperEvidence::Magic;
    is_cut_short && (wrapper.detect)(input) || stage.inner().is_some_and(|inner| begins_as(&inner, &head.bytes))
}

/// Minimum number of bytes of compressed data that show its format.
const MIN_CONTENT_LEN: usize = 8;

/// Returns the stage of damaged or truncated bytes that no stage can read completely. JSON is excluded, because many
/// texts begin with a bracket.
///
/// ```
/// let begins = |text: &str| icecore::detect::begins_frozen(text.as_bytes()).map(|stage| stage.name());
/// assert_eq!(begins("O:8:\"stdClass\":1:{").as_deref(), Some("php"));
/// assert_eq!(begins("[gallery ids=\"1,2\"]"), None);
/// ```
pub fn begins_frozen(input: &[u8]) -> Option<Stage> {
    if let Some(format) = find_by_beginning(input) {
        return Some(Stage::of(format));
    }
    // Digits are a number, and short words are words.
    let text = encoded_prefix(input);
    if input.iter().all(u8::is_ascii_digit) || text.len() < MIN_WORD_LEN {
        return None;
    }
    let is_text = |wrapper: &&&Wrapper| wrapper.evidence == WrapperEvidence::Text && (wrapper.detect)(text);
    wrap::all().iter().filter(is_text).find_map(|wrapper| {
        let content = wrapper.content_head(text, false, MAX_CONTENT_LEN)?.bytes;
        let guessed_format = super::guess_format(&content).map(|(_, format)| format);
        // Two matching bytes may be a coincidence.
        let by_beginning = || find_by_beginning(&content).filter(|_| content[0] != 4);
        let format = guessed_format.filter(has_beginning(&content)).or_else(by_beginning)?;
        Some(Stage::of(format).wrapped_in(wrapper, wrapper.settings_for(input)))
    })
}

/// Returns `true` if bytes that no stage can read completely are damaged or truncated data, not ordinary text: those
/// of [`begins_frozen`], compressed data, and JSON objects and lists of strings or containers. A word in brackets and a
/// token of several Base64 texts are ordinary text.
///
/// ```
/// let is_damaged = |text: &str| icecore::detect::is_damaged_data(text.as_bytes());
/// assert!(is_damaged("O:8:\"stdClass\":1:{") && is_damaged("{\"id\": 7, \"tags\": [1,") && is_damaged("H4sIAAAAAAAAA0vO"));
/// assert!(!is_damaged("[gallery ids=\"1,2\"]") && !is_damaged("{name}, hello"));
/// ```
pub fn is_damaged_data(input: &[u8]) -> bool {
    let is_compressed_or_json = |bytes: &[u8]| find_compression(bytes).is_some() || begins_with_json_item(bytes);
    if begins_frozen(input).is_some() || is_compressed_or_json(input) {
        return true;
    }
    let text = encoded_prefix(input);
    let is_only_encoded = || input.trim_ascii().iter().all(|byte| is_encoded(byte) || *byte == b'=');
    let content_of = |wrapper: &&Wrapper| {
        let is_text = wrapper.evidence == WrapperEvidence::Text && wrapper.head.is_some() && (wrapper.detect)(text);
        if is_text { wrapper.content_head(text, false, MAX_CONTENT_LEN) } else { None }
    };
    text.len() >= MIN_WORD_LEN
        && is_only_encoded()
        && wrap::all().iter().filter_map(content_of).any(|content| is_compressed_or_json(&content.bytes))
}

/// Returns the stage of bytes that [`is_damaged_data`] accepts.
pub(super) fn damaged_stage(input: &[u8]) -> Option<Stage> {
    let text_format = || {
        let is_begun = |format: &&Format| super::supported::is_one_text(format) && format.may_begin(input);
        format::all().iter().copied().find(is_begun).filter(|_| begins_with_json_item(input)).map(Stage::of)
    };
    begins_frozen(input).or_else(text_format)
}

/// Returns the compression whose magic number the input has.
fn find_compression(input: &[u8]) -> Option<&'static Wrapper> {
    wrap::all().iter().copied().find(|wrapper| wrapper.evidence == WrapperEvidence::Magic && (wrapper.detect)(input))
}

/// Returns whether the input begins with a JSON object that has a key, or with a list whose first item is such an
/// object or a string with a comma after it.
fn begins_with_json_item(input: &[u8]) -> bool {
    let mut rest = input.trim_ascii_start();
    let mut is_list = false;
    while let [b'[', after @ ..] = rest {
        (rest, is_list) = (after.trim_ascii_start(), true);
    }
    let (text, mark) = match rest {
        [b'{', after @ ..] => (after.trim_ascii_start(), b':'),
        _ if is_list => (rest, b','),
        _ => return false,
    };
    skip_json_string(text).is_some_and(|after| after.trim_ascii_start().first() == Some(&mark))
}

/// Returns what follows a JSON string at the start of the input.
fn skip_json_string(input: &[u8]) -> Option<&[u8]> {
    let mut rest = input.strip_prefix(b"\"")?;
    loop {
        rest = &rest[memchr::memchr2(b'"', b'\\', rest)?..];
        match rest {
            [b'"', after @ ..] => return Some(after),
            [b'\\', _, after @ ..] => rest = after,
            _ => return None,
        }
    }
}

/// Minimum length of a Base64 or hex text, so that it is not an ordinary word.
const MIN_WORD_LEN: usize = 8;

/// Returns the format whose distinctive beginning the input has.
fn find_by_beginning(input: &[u8]) -> Option<&'static Format> {
    format::all().iter().copied().find(has_beginning(input))
}

/// Returns a function that is true for formats with distinctive beginnings, if the input has that of the format.
fn has_beginning(input: &[u8]) -> impl Fn(&&'static Format) -> bool {
    move |format| format.can.evidence == format::Evidence::Beginning && format.may_begin(input)
}

/// Returns the format of a long input of which only the beginning is known, by that beginning. Its reader may refuse
/// such a beginning: if its first container promises more items than the rest can hold.
pub(super) fn format_of_long_head(sample: &Sample<'_>) -> Option<&'static Format> {
    /// Number of bytes after which the input counts as long.
    const MIN_HEAD_LEN: usize = 4096;
    if sample.is_complete || sample.bytes.len() < MIN_HEAD_LEN {
        return None;
    }
    // Some beginnings are those of two formats.
    let ends_early = |format: &&Format| {
        let outcome = format.read(sample.bytes, &Settings::new(), Request::new(&Limits::default()));
        outcome.error.is_some_and(|error| matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Limit))
    };
    format::all().iter().copied().filter(has_beginning(sample.bytes)).find(ends_early)
}

/// Returns the part of a text that may be Base64 or hex, for a text that is damaged after it.
fn encoded_prefix(input: &[u8]) -> &[u8] {
    let len = input.iter().take_while(|byte| is_encoded(byte)).count();
    input.get(..len / 4 * 4).unwrap_or(&[])
}

/// Returns whether a byte may be a digit of Base64, also of its form for addresses, or of hex.
fn is_encoded(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
