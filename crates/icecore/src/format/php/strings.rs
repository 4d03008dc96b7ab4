//! Finds the strings of a serialized text.
//!
//! A fast scan handles what nearly all texts consist of. It leaves any other text to the
//! reader, whose spans give all places: that is its readable version.

mod escaped;
mod scan;
mod spans;

use super::text::is_class_name;
use super::{ReadOptions, detect, read_unrepaired, repair};
use crate::error::Error;
use crate::format::strings::{Damage, StringPlaces, StringRequest, Strings, TextRepair};
use crate::format::{Reader as _, Request};
use crate::limits::Limits;
use crate::options::Settings;

use escaped::{BarlessEscaping, HexEscaping};
pub(super) use spans::{NamePlacement, collect_strings};

pub(super) static STRINGS: Strings = Strings {
    is_candidate: detect::is_worth_reading,
    find: find_strings,
    repair: Some(repair_text),
    is_class_name: Some(is_class_name),
    is_embedded: true,
};

fn find_strings<'t>(
    text: &'t [u8],
    settings: &Settings,
    wanted: &StringRequest<'_>,
) -> Result<StringPlaces<'t>, Error> {
    let options =
        ReadOptions { repair_lengths: false, accept_unknown_links: true, ..ReadOptions::from_settings(settings) };
    if !wanted.wants_keys
        && !wanted.wants_classes
        && !options.lenient
        && let Some(places) = scan::scan_strings(text, wanted)
    {
        return Ok(places);
    }
    let outcome = options.read(text, Request::new(wanted.limits).detailed());
    match outcome.error {
        Some(error) => Err(error),
        None => Ok(collect_strings(text, &outcome.document, outcome.consumed, NamePlacement::BarTerminated, wanted)),
    }
}

fn repair_text(text: &[u8], damage: Damage, limits: &Limits) -> Result<Option<TextRepair>, Error> {
    let options = ReadOptions { accept_unknown_links: true, ..ReadOptions::default() };
    let read = |text: &[u8], _: repair::Start| {
        let outcome = read_unrepaired(text, &options, Request::new(limits));
        outcome.error.is_none().then_some(outcome.consumed)
    };
    repair::repair_text(text, damage, &[repair::Start::Value], &read)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of random pieces: if the fast scan accepts one, the reader reads it to the same
    /// end, and its spans give the same places.
    #[test]
    fn the_fast_scan_finds_the_strings_of_the_spans() {
        const PIECES: [&str; 29] = [
            "a:1:{",
            "a:2:{",
            "a:0:{}",
            "}",
            "i:0;",
            "i:-7;",
            "s:1:\"a\";",
            "s:1:\"a\";",
            "s:3:\"b\";\";",
            "b:1;",
            "N;",
            "d:0.5;",
            "d:1e3;",
            "d:INF;",
            "O:1:\"A\":1:{",
            "O:8:\"stdClass\":0:{}",
            "s:0:\"\";",
            "i:01;",
            "b:2;",
            "r:1;",
            "r:1;",
            "r:3;",
            "r:4;",
            "R:2;",
            "R:3;",
            "O:1:\"1\":0:{}",
            "a:9:{",
            "s:2:\"a\";",
            "d:.;",
        ];
        let limits = Limits::default();
        let request =
            StringRequest { limits: &limits, wants_keys: false, wants_classes: false, is_wanted: &|_, _| true };
        let (mut state, mut accepted, mut places) = (7u64, 0, 0);
        for _ in 0..200_000 {
            let mut text = String::new();
            for _ in 0..1 + (state >> 60) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PIECES[(state >> 33) as usize % PIECES.len()]);
            }
            let Some(quick) = scan::scan_strings(text.as_bytes(), &request) else { continue };
            accepted += 1;
            places += quick.strings.len();
            let read = ReadOptions::default().read(text.as_bytes(), Request::new(&limits).detailed());
            assert!(read.error.is_none(), "{text}");
            let slow =
                collect_strings(text.as_bytes(), &read.document, read.consumed, NamePlacement::BarTerminated, &request);
            assert_eq!(format!("{:?}", quick.strings), format!("{:?}", slow.strings), "{text}");
            assert_eq!(quick.consumed, slow.consumed, "{text}");
        }
        assert!(accepted > 1000 && places > 1000, "{accepted} {places}");
    }
}
