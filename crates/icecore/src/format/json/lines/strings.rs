//! Finds the strings of JSON lines.

use super::{FORMAT, Plain};
use crate::error::Error;
use crate::format::feed;
use crate::format::json::strings::strings_of;
use crate::format::strings::{Places, Strings, Wanted};
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings { inside, find, mend: None, takes_class: None, embeds: false };

/// At least two lines.
fn inside(text: &[u8]) -> bool {
    let has_lines = || memchr::memchr(b'\n', text.trim_ascii()).is_some();
    matches!(text.trim_ascii_start(), [b'{' | b'[', ..]) && has_lines() && FORMAT.is_likely(text)
}

fn find<'t>(text: &'t [u8], settings: &Settings, wanted: &Wanted<'_>) -> Result<Places<'t>, Error> {
    strings_of(text, settings, wanted, |options, limits, tape| feed::fill(&Plain(options), text, limits, tape))
}
