//! Does a text begin as frozen data? Then what is behind its beginning is damage, and
//! not an ordinary text that was never frozen.
//!
//! Guesses about whole inputs are generous; in a column of a table most values are
//! ordinary, and the beginning must be one that nothing else has.

use super::ours;
use super::wrapper::INSIDE;
use crate::format::{self, Certainty, Format, php};
use crate::stage::Stage;
use crate::wrap::{self, Evidence, Wrapper};

/// Whether bytes that this stage can't read begin as if they were meant for it: damaged
/// or cut off, and not an ordinary text.
///
/// ```
/// let php = icecore::Stage::parse("php")?;
/// let begins = |text: &str| icecore::begins_as(&php, text.as_bytes());
/// assert!(begins("a:2:{i:0;") && begins("s:9:\"short\";"));
/// assert!(!begins("hello") && !begins("a:b") && !begins("i:5"));
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn begins_as(stage: &Stage, input: &[u8]) -> bool {
    let Some(wrapper) = stage.wrappers().first() else { return begins(stage.format(), input) };
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
/// let begins = |text: &str| icecore::begins_frozen(text.as_bytes()).map(|stage| stage.name());
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
    let is_named = |format: &&Format| !matches!(format.name, "json" | "ndjson" | "pack" | "join");
    format::all().iter().copied().filter(is_named).find(|format| begins(format, input))
}

fn begins(format: &Format, input: &[u8]) -> bool {
    let is_likely = || (format.detect)(input).is_some_and(|guess| guess.certainty >= Certainty::Likely);
    match format.name {
        "php" => php::begins(input),
        "php-session" => php::session::begins_with_variable(input),
        "storable" => match input {
            [b'p', b's', b't', b'0', rest @ ..] => rest.first().is_none_or(|byte| *byte < b' '),
            [4 | 5, minor, ..] => *minor < b' ',
            _ => input.starts_with(b"perl-store"),
        },
        "sereal" => [&b"=srl"[..], b"=\xf3rl", "=\u{f3}rl".as_bytes()].iter().any(|magic| input.starts_with(magic)),
        "igbinary" => matches!(input, [0, 0, 0, 1 | 2, ..]),
        "marshal" => matches!(input, [4, 0..=8, ..]),
        "json" | "ndjson" => ours::begins_like_json(input),
        "var-export" => begins_array(input) || is_likely(),
        "dumper" => begins_variable(input) || is_likely(),
        // Whatever it is, it is meant so.
        "pack" | "join" => true,
        _ => is_likely(),
    }
}

/// `array (` and an item, as `var_export()` writes it.
fn begins_array(input: &[u8]) -> bool {
    let text = input.trim_ascii_start();
    let Some((b"array", rest)) = text.split_at_checked(5) else { return false };
    let item = rest.trim_ascii_start().strip_prefix(b"(").map(<[u8]>::trim_ascii_start);
    item.is_some_and(|item| item.first().is_none_or(|byte| b"'\")-\\".contains(byte) || byte.is_ascii_digit()))
}

/// `$VAR1 =`, as Data::Dumper writes it.
fn begins_variable(input: &[u8]) -> bool {
    let Some(rest) = input.trim_ascii_start().strip_prefix(b"$VAR") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest[digits..].trim_ascii_start().starts_with(b"=")
}

/// The part of a text that may be Base64 or hex: one that was damaged further behind.
fn text_of(input: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let len = input.iter().take_while(|byte| is_part(byte)).count();
    input.get(..len / 4 * 4).unwrap_or(&[])
}
