//! Base64 with `-` and `_`, for URLs and file names.

use super::{Changing, Wrapper, WrapperEvidence, base64};
use crate::base64::{Alphabet, encode_in_alphabet};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "base64url",
    title: "Base64 for URLs, with - and _ (RFC 4648, section 5)",
    extension: "b64",
    text: Some(true),
    layer: "data in Base64",
    options: &[OptionSpec {
        name: "padding",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "`=` at the end, as Ruby's urlsafe_encode64 writes; off by default",
    }],
    page: include_str!("base64url.md"),
    detect: |input| base64::looks_like_base64(Alphabet::Url, input) && !input.contains(&b'%'),
    evidence: WrapperEvidence::Text,
    head: Some(|input, is_complete, _, max_len| base64::decode_head(Alphabet::Url, input, is_complete, max_len)),
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(Some(detect_settings)),
    unwrap: |input, _, _: &Limits| base64::unwrap_base64(Alphabet::Url, input),
    wrap,
};

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    encode_in_alphabet(Alphabet::Url, settings.flag("padding"), content, out);
    Ok(())
}

/// Returns the options with which the input was written.
fn detect_settings(input: &[u8]) -> Settings {
    let mut settings = Settings::new();
    if input.contains(&b'=') {
        // The table has this option.
        let _ = settings.set(WRAPPER.options, WRAPPER.name, "padding", None);
    }
    settings
}
