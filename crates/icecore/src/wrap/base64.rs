//! Base64 with `+` and `/`, with or without line breaks.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::base64::{Alphabet, decode_in_alphabet, encode_in_alphabet};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "base64",
    title: "Base64, with or without line breaks (RFC 4648 and MIME)",
    extension: "b64",
    text: Some(true),
    layer: "data in Base64",
    options: &[
        OptionSpec {
            name: "newlines",
            takes: OptionType::Flag,
            side: Side::Write,
            help: "lines of 76 characters, each with a newline, as Perl's encode_base64 writes",
        },
        OptionSpec {
            name: "wrap",
            takes: OptionType::Number(1, 1 << 20),
            side: Side::Write,
            help: "length of each line in characters; Ruby's pack('m') and Base64.encode64 write 60",
        },
        OptionSpec {
            name: "padding",
            takes: OptionType::Flag,
            side: Side::Write,
            help: "`=` at the end; on by default",
        },
    ],
    page: include_str!("base64.md"),
    // Bytes that show another encoding may come late in the text, so all bytes are searched for them.
    detect: |input| looks_like_base64(Alphabet::Standard, input) && !input.iter().any(|byte| b"-_%".contains(byte)),
    evidence: WrapperEvidence::Text,
    head: Some(|input, is_complete, _, max_len| decode_head(Alphabet::Standard, input, is_complete, max_len)),
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(Some(detect_settings)),
    unwrap: |input, _, _: &Limits| unwrap_base64(Alphabet::Standard, input),
    wrap,
};

/// Length of a line in MIME.
const MIME_LINE_LEN: usize = 76;
/// Number of bytes of a text that are examined.
const EXAMINED_LEN: usize = 64;
/// Minimum length of a Base64 text: shorter words occur in any text.
const MIN_LEN: usize = 8;

/// Returns `true` if a text may be Base64 in this alphabet. Blanks between words are not accepted, even if decoders
/// tolerate them.
pub(super) fn looks_like_base64(alphabet: Alphabet, input: &[u8]) -> bool {
    let input = input.trim_ascii();
    let is_allowed = |byte: &u8| alphabet.has(*byte) || matches!(byte, b'\r' | b'\n');
    let padding = input.iter().rev().take_while(|byte| **byte == b'=').count().min(2);
    input.len() >= MIN_LEN && input[..input.len() - padding].iter().take(EXAMINED_LEN).all(is_allowed)
}

pub(super) fn decode_head(
    alphabet: Alphabet,
    input: &[u8],
    is_complete: bool,
    max_len: usize,
) -> Option<ContentHead<'static>> {
    let beginning = input.get(..max_len / 3 * 4).unwrap_or(input);
    let is_all = is_complete && beginning.len() == input.len();
    let mut bytes = Vec::new();
    decode_in_alphabet(alphabet, if is_all { beginning } else { complete_groups(alphabet, beginning) }, &mut bytes)
        .ok()?;
    Some(ContentHead::from_beginning((bytes, is_all)))
}

/// Returns the part of a truncated text that consists of complete groups of four digits.
fn complete_groups(alphabet: Alphabet, text: &[u8]) -> &[u8] {
    let digits = text.iter().filter(|byte| alphabet.has(**byte)).count();
    let mut end = text.len();
    for _ in 0..digits % 4 {
        end = text[..end].iter().rposition(|byte| alphabet.has(*byte)).unwrap_or(0);
    }
    &text[..end]
}

pub(super) fn unwrap_base64(alphabet: Alphabet, input: &[u8]) -> Result<Unwrapped<'static>, Error> {
    let mut bytes = Vec::new();
    match decode_in_alphabet(alphabet, input, &mut bytes) {
        Ok(()) => Ok(Unwrapped::from_owned(bytes)),
        Err(offset) => Err(decode_error(alphabet, input, offset)),
    }
}

#[cold]
fn decode_error(alphabet: Alphabet, input: &[u8], offset: usize) -> Error {
    let (other_62, other_63, help) = match alphabet {
        Alphabet::Standard => (b'-', b'_', "the alphabet with - and _ is `base64url`"),
        Alphabet::Url => (b'+', b'/', "the alphabet with + and / is `base64`"),
    };
    match input.get(offset) {
        None => Error::new(ErrorKind::Truncated)
            .at(input.len())
            .expecting("more Base64, or the right padding")
            .finding("the end of the input"),
        Some(byte) => {
            let error = Error::new(ErrorKind::Malformed).at(offset).expecting("Base64").finding(match byte {
                b'=' => "a `=` that is not part of the padding".to_owned(),
                byte if alphabet.has(*byte) => {
                    format!("`{}`, which has unused bits that are set", char::from(*byte))
                }
                byte if byte.is_ascii_graphic() => format!("`{}`", char::from(*byte)),
                byte => format!("the byte 0x{byte:02x}"),
            });
            if [other_62, other_63].contains(byte) { error.helping(help) } else { error }
        }
    }
}

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let is_padded = settings.flag_set("padding").unwrap_or(true);
    let width = settings.number("wrap").and_then(|width| usize::try_from(width).ok());
    let Some(width) = width.or_else(|| settings.flag("newlines").then_some(MIME_LINE_LEN)) else {
        encode_in_alphabet(Alphabet::Standard, is_padded, content, out);
        return Ok(());
    };
    let mut text = Vec::new();
    encode_in_alphabet(Alphabet::Standard, is_padded, content, &mut text);
    out.reserve(text.len() + text.len() / width + 1);
    for line in text.chunks(width.max(1)) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    Ok(())
}

/// Returns the options with which the input was written: line length and padding.
pub(super) fn detect_settings(input: &[u8]) -> Settings {
    let mut settings = Settings::new();
    let digits = input.iter().filter(|byte| byte.is_ascii_graphic() && **byte != b'=').count();
    let padding = if input.contains(&b'=') || digits % 4 == 0 { "yes" } else { "no" };
    // The table has these options.
    let _ = settings.set(WRAPPER.options, WRAPPER.name, "padding", Some(padding));
    if let Some(width) = input.iter().position(|byte| *byte == b'\n') {
        let width = width - usize::from(input[..width].ends_with(b"\r"));
        // The line length of a single line is unknown.
        let is_single = input[width..].trim_ascii().is_empty();
        let width = if is_single { width.max(MIME_LINE_LEN) } else { width };
        let _ = settings.set(WRAPPER.options, WRAPPER.name, "wrap", Some(&width.to_string()));
    }
    settings
}
