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
    let Some(head) = full_head.or_else(|| wrapper.content_head(encoded_prefix(input), false, MAX_CONTENT_LEN)) else {
        return false;
    };
    stage.inner().is_some_and(|inner| begins_as(&inner, &head.bytes))
}

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
        // Two matching bytes may be a coincidence.
        let is_sure = |_: &&Format| content[0] != 4 || super::guess_format(&content).is_some();
        let format = find_by_beginning(&content).filter(is_sure)?;
        Some(Stage::of(format).wrapped_in(wrapper, wrapper.settings_for(input)))
    })
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
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let len = input.iter().take_while(|byte| is_part(byte)).count();
    input.get(..len / 4 * 4).unwrap_or(&[])
}
