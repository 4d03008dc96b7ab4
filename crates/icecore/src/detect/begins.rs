//! Whether a text begins as frozen data: then an error behind its beginning is damage, and
//! the text is not an ordinary one that was never frozen.
//!
//! Detection of whole inputs accepts more. In a column of a table most values are ordinary
//! text, so here the beginning must be one that only frozen data has.

use super::wrapper::INSIDE;
use crate::format::{self, Format};
use crate::stage::Stage;
use crate::wrap::{self, Evidence, Wrapper};

/// Whether bytes that this stage can't read begin as if they were meant for it: damaged
/// or cut off, and not an ordinary text.
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
    // Digits are a number, whatever they are in hex.
    if wrapper.evidence == Evidence::Text && input.iter().all(u8::is_ascii_digit) {
        return false;
    }
    // What is inside decides, as far as it can be taken out.
    let whole = wrapper.head(input, true, INSIDE);
    let Some(head) = whole.or_else(|| wrapper.head(text_of(input), false, INSIDE)) else { return false };
    stage.inner().is_some_and(|inner| begins_as(&inner, &head.bytes))
}

/// The stage that bytes were meant for which no stage reads as a whole: damaged or cut
/// off. JSON is not counted, as many texts begin with a bracket.
///
/// ```
/// let begins = |text: &str| icecore::detect::begins_frozen(text.as_bytes()).map(|stage| stage.name());
/// assert_eq!(begins("O:8:\"stdClass\":1:{").as_deref(), Some("php"));
/// assert_eq!(begins("[gallery ids=\"1,2\"]"), None);
/// ```
pub fn begins_frozen(input: &[u8]) -> Option<Stage> {
    if let Some(format) = named(input) {
        return Some(Stage::of(format));
    }
    // Digits are a number, and short words are words.
    let text = text_of(input);
    if input.iter().all(u8::is_ascii_digit) || text.len() < WORD {
        return None;
    }
    let is_text = |wrapper: &&&Wrapper| wrapper.evidence == Evidence::Text && (wrapper.detect)(text);
    wrap::all().iter().filter(is_text).find_map(|wrapper| {
        let inside = wrapper.head(text, false, INSIDE)?.bytes;
        // Two bytes are soon there by chance.
        let is_sure = |_: &&Format| inside[0] != 4 || super::format_of(&inside).is_some();
        let format = named(&inside).filter(is_sure)?;
        Some(Stage::of(format).wrapped_in(wrapper, wrapper.settings_for(input)))
    })
}

/// How long a text in Base64 or hex must be that is not meant as a word.
const WORD: usize = 8;

/// The format with a name of its own that the input begins as.
fn named(input: &[u8]) -> Option<&'static Format> {
    let is_told = |format: &&Format| format.can.evidence == format::Evidence::Beginning && format.may_begin(input);
    format::all().iter().copied().find(is_told)
}

/// The part of a text that may be Base64 or hex: one that was damaged further behind.
fn text_of(input: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let len = input.iter().take_while(|byte| is_part(byte)).count();
    input.get(..len / 4 * 4).unwrap_or(&[])
}
