//! Finds the strings of a JSON text.

mod scan;

use super::escaping::JsonEscaping;
use super::string::find_special;
use super::{PlainJson, ReadOptions, Surrogates, detect, is_typed_json};
use crate::document::Tape;
use crate::edit::StringRole;
use crate::error::{Error, ErrorKind};
use crate::format::strings::{FoundString, StringPlace, StringPlaces, StringRequest, Strings};
use crate::format::{Filled, feed};
use crate::limits::Limits;
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings {
    is_candidate: may_be_json_text,
    find: find_strings,
    repair: None,
    is_class_name: None,
    is_embedded: false,
};

/// Returns `true` for an object, an array, or a string with escapes. A string without escapes is
/// the same as its text.
fn may_be_json_text(text: &[u8]) -> bool {
    let is_string = || match text.trim_ascii() {
        [b'"', inside @ .., b'"'] => memchr::memchr(b'\\', inside).is_some(),
        _ => false,
    };
    detect::may_be_json(text) || is_string()
}

fn find_strings<'t>(
    text: &'t [u8],
    settings: &Settings,
    wanted: &StringRequest<'_>,
) -> Result<StringPlaces<'t>, Error> {
    let options = ReadOptions::from_settings(settings);
    if !is_typed_json(text, &options)
        && !options.is_relaxed()
        && let Some(places) = scan::scan_strings(text, wanted)
    {
        return Ok(add_escaping(text, places));
    }
    find_strings_by_reading(text, settings, wanted, |options, limits, tape| {
        feed::fill_tape(&PlainJson(options), text, limits, tape)
    })
}

/// Returns the strings of a text that this function reads.
pub(super) fn find_strings_by_reading<'t>(
    text: &'t [u8],
    settings: &Settings,
    wanted: &StringRequest<'_>,
    read: impl FnOnce(&ReadOptions, &Limits, &mut Tape) -> Filled,
) -> Result<StringPlaces<'t>, Error> {
    let options = ReadOptions { surrogates: Surrogates::Keep, ..ReadOptions::from_settings(settings) };
    if is_typed_json(text, &options) || options.is_relaxed() {
        return Err(Error::new(ErrorKind::Unsupported).expecting("plain JSON").finding("another form of it"));
    }
    let Filled { consumed, error, .. } = read(&options, wanted.limits, &mut Tape::new());
    match error {
        Some(error) => Err(error),
        None => Ok(collect_places(text.get(..consumed).unwrap_or(text), wanted)),
    }
}

/// Returns the strings of a valid text.
fn collect_places<'t>(text: &'t [u8], wanted: &StringRequest<'_>) -> StringPlaces<'t> {
    let mut places = StringPlaces { consumed: text.len(), ..StringPlaces::default() };
    let mut search_start = 0;
    while let Some(distance) = memchr::memchr(b'"', text.get(search_start..).unwrap_or_default()) {
        let start = search_start + distance + 1;
        let end = find_closing_quote(text, start);
        search_start = end + 1;
        let find_role = || {
            let tail = text.get(search_start..).unwrap_or_default();
            let next = tail.iter().find(|byte| !byte.is_ascii_whitespace());
            if next == Some(&b':') { StringRole::Key } else { StringRole::Value }
        };
        if !(wanted.is_wanted)(start, end) {
            continue;
        }
        let role = find_role();
        if role == StringRole::Value || wanted.wants_keys {
            places.strings.push(FoundString::Text(StringPlace {
                role,
                escaping: Some(0),
                ..StringPlace::without_escapes(start, end, None)
            }));
        }
    }
    add_escaping(text, places)
}

/// Adds the style in which new strings are escaped.
fn add_escaping<'t>(text: &'t [u8], mut places: StringPlaces<'t>) -> StringPlaces<'t> {
    if !places.strings.is_empty() {
        places.escapings.push(Box::new(JsonEscaping::from_text(text)));
    }
    places
}

/// Returns the offset of the closing quote of a string.
fn find_closing_quote(text: &[u8], start: usize) -> usize {
    let mut offset = start;
    loop {
        offset = find_special::<true>(text, offset).offset;
        match text.get(offset) {
            Some(b'\\') => offset += 2,
            _ => return offset.min(text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of random pieces: if the fast scan accepts one, the reader reads it, and the
    /// strings are the same.
    #[test]
    fn the_fast_scan_finds_the_strings_of_the_reader() {
        const PIECES: [&str; 27] = [
            "[",
            "]",
            "{",
            "}",
            ",",
            ",",
            ":",
            "\"a\"",
            "\"b\"",
            "\"\\u00e9\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\u{e9}\"",
            "1",
            "-0.5",
            "01",
            "1e5",
            "1.",
            "true",
            "null",
            "nul",
            " ",
            "\n",
            "\"\\\\\\\"\"",
            "[1,\"x\"]",
            "{\"k\":\"v\"}",
            "\"\t\"",
        ];
        let limits = Limits::default();
        let request =
            StringRequest { limits: &limits, wants_keys: true, wants_classes: false, is_wanted: &|_, _| true };
        let (mut state, mut accepted, mut found) = (7u64, 0, 0);
        for _ in 0..300_000 {
            let mut text = String::new();
            for _ in 0..1 + (state >> 61) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PIECES[(state >> 33) as usize % PIECES.len()]);
            }
            let Some(quick) = scan::scan_strings(text.as_bytes(), &request) else { continue };
            accepted += 1;
            found += quick.strings.len();
            let read = |options: &ReadOptions, limits: &Limits, tape: &mut Tape| {
                feed::fill_tape(&PlainJson(options), text.as_bytes(), limits, tape)
            };
            let slow = find_strings_by_reading(text.as_bytes(), &Settings::new(), &request, read)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(format!("{:?}", quick.strings), format!("{:?}", slow.strings), "{text}");
        }
        assert!(accepted > 1000 && found > 1000, "{accepted} {found}");
    }
}
