//! Finds the strings of a JSON text.

mod scan;

use super::escaping::Escapes;
use super::string::find_special;
use super::{Plain, ReadOptions, Surrogates, detect, says_typed};
use crate::document::Tape;
use crate::edit::Part;
use crate::error::{Error, ErrorKind};
use crate::format::strings::{Found, Place, Places, Strings, Wanted};
use crate::format::{Filled, feed};
use crate::limits::Limits;
use crate::options::Settings;

pub(super) static STRINGS: Strings = Strings { inside, find, mend: None, takes_class: None, embeds: false };

/// An object, an array, or a string with escapes: a string without escapes is the same as
/// its text.
fn inside(text: &[u8]) -> bool {
    let is_string = || match text.trim_ascii() {
        [b'"', inside @ .., b'"'] => memchr::memchr(b'\\', inside).is_some(),
        _ => false,
    };
    detect::inside(text) || is_string()
}

fn find<'t>(text: &'t [u8], settings: &Settings, wanted: &Wanted<'_>) -> Result<Places<'t>, Error> {
    let options = ReadOptions::from_settings(settings);
    if !says_typed(text, &options)
        && !options.is_relaxed()
        && let Some(places) = scan::scan(text, wanted)
    {
        return Ok(styled(text, places));
    }
    strings_of(text, settings, wanted, |options, limits, tape| feed::fill(&Plain(options), text, limits, tape))
}

/// Returns the strings of a text that this function reads.
pub(super) fn strings_of<'t>(
    text: &'t [u8],
    settings: &Settings,
    wanted: &Wanted<'_>,
    read: impl FnOnce(&ReadOptions, &Limits, &mut Tape) -> Filled,
) -> Result<Places<'t>, Error> {
    let options = ReadOptions { surrogates: Surrogates::Keep, ..ReadOptions::from_settings(settings) };
    if says_typed(text, &options) || options.is_relaxed() {
        return Err(Error::new(ErrorKind::Unsupported).expecting("plain JSON").finding("another form of it"));
    }
    let Filled { consumed, error, .. } = read(&options, wanted.limits, &mut Tape::new());
    match error {
        Some(error) => Err(error),
        None => Ok(places(text.get(..consumed).unwrap_or(text), wanted)),
    }
}

/// Returns the strings of a valid text.
fn places<'t>(text: &'t [u8], wanted: &Wanted<'_>) -> Places<'t> {
    let mut places = Places { consumed: text.len(), ..Places::default() };
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'"', text.get(from..).unwrap_or_default()) {
        let start = from + at + 1;
        let end = end_of(text, start);
        from = end + 1;
        let part = || {
            let behind = text.get(from..).unwrap_or_default();
            let next = behind.iter().find(|byte| !byte.is_ascii_whitespace());
            if next == Some(&b':') { Part::Key } else { Part::Value }
        };
        if !(wanted.may)(start, end) {
            continue;
        }
        let part = part();
        if part == Part::Value || wanted.keys {
            places.list.push(Found::Text(Place { part, escaping: Some(0), ..Place::plain(start, end, None) }));
        }
    }
    styled(text, places)
}

/// Adds the manner in which new strings are escaped.
fn styled<'t>(text: &'t [u8], mut places: Places<'t>) -> Places<'t> {
    if !places.list.is_empty() {
        places.escapings.push(Box::new(Escapes::of(text)));
    }
    places
}

/// Returns the offset of the closing quote of a string.
fn end_of(text: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        at = find_special::<true>(text, at).at;
        match text.get(at) {
            Some(b'\\') => at += 2,
            _ => return at.min(text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of random pieces: if the fast scan accepts one, the reader reads it, and the
    /// strings are the same.
    #[test]
    fn the_quick_scan_finds_what_the_reader_takes() {
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
        let wanted = Wanted { limits: &limits, keys: true, classes: false, may: &|_, _| true };
        let (mut state, mut taken, mut found) = (7u64, 0, 0);
        for _ in 0..300_000 {
            let mut text = String::new();
            for _ in 0..1 + (state >> 61) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PIECES[(state >> 33) as usize % PIECES.len()]);
            }
            let Some(quick) = scan::scan(text.as_bytes(), &wanted) else { continue };
            taken += 1;
            found += quick.list.len();
            let read = |options: &ReadOptions, limits: &Limits, tape: &mut Tape| {
                feed::fill(&Plain(options), text.as_bytes(), limits, tape)
            };
            let slow = strings_of(text.as_bytes(), &Settings::new(), &wanted, read)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(format!("{:?}", quick.list), format!("{:?}", slow.list), "{text}");
        }
        assert!(taken > 1000 && found > 1000, "{taken} {found}");
    }
}
