//! Finds the strings of JSON lines.

use super::{FORMAT, PlainLines};
use crate::error::Error;
use crate::format::feed;
use crate::format::json::strings::find_strings_by_reading;
use crate::format::strings::{StringPlaces, StringRequest, Strings};
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings {
    is_candidate: may_be_json_lines,
    find: find_strings,
    repair: None,
    is_class_name: None,
    is_embedded: false,
};

/// Returns `true` if a text has at least two lines of JSON.
fn may_be_json_lines(text: &[u8]) -> bool {
    let has_lines = || memchr::memchr(b'\n', text.trim_ascii()).is_some();
    matches!(text.trim_ascii_start(), [b'{' | b'[', ..]) && has_lines() && FORMAT.is_likely(text)
}

fn find_strings<'t>(
    text: &'t [u8],
    settings: &Settings,
    wanted: &StringRequest<'_>,
) -> Result<StringPlaces<'t>, Error> {
    find_strings_by_reading(text, settings, wanted, |options, limits, tape| {
        feed::fill_tape(&PlainLines(options), text, limits, tape)
    })
}
