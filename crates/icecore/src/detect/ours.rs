//! The formats that are read.

use super::{Finding, Sample, format_of, identify};
use crate::document::{Kind, Tape};
use crate::error::{Error, ErrorKind};
use crate::format::{self, Certainty, Format, Guess, Request};
use crate::limits::Limits;
use crate::options::Settings;
use crate::stage::Stage;
use crate::wrap;

/// The best of our formats. What the format itself is not sure of, its reader
/// decides.
pub(super) fn detect(sample: &Sample<'_>) -> Option<Finding> {
    let mut best: Option<Finding> = None;
    for format in format::all().iter().copied() {
        let Some(guess) = (format.detect)(sample.bytes) else { continue };
        let Some(Guess { certainty, variant }) = check(format, guess, sample) else { continue };
        if best.as_ref().is_none_or(|best| best.certainty < certainty) {
            best = Some(Finding {
                name: format.name,
                title: format.title,
                variant,
                certainty,
                wrappers: Vec::new(),
                is_read: true,
                format: Some(format),
            });
        }
    }
    best
}

/// What reading says to a guess.
fn check(format: &Format, guess: Guess, sample: &Sample<'_>) -> Option<Guess> {
    let Guess { certainty, mut variant } = guess;
    let is_sure = certainty == Certainty::Sure;
    let limits = Limits { depth: 1_000_000, ..Limits::default() };
    let mut rest = sample.bytes;
    let mut documents = 0u64;
    let mut only_containers = true;
    let mut tape = Tape::new();
    while !rest.is_empty() {
        let request = Request { limits: &limits, detail: false, tape };
        let outcome = (format.read)(rest, &Settings::new(), request);
        if let Some(error) = outcome.error {
            let ends_early = !sample.whole && error.kind() == ErrorKind::Truncated && rest.len() > 64;
            return match (is_sure, ends_early) {
                (true, _) => Some(Guess { certainty, variant }),
                (false, true) => Some(Guess { certainty: Certainty::Likely, variant }),
                // The header fits and what follows does not: it is damaged. A
                // text that only begins like JSON is none.
                (false, false) if certainty == Certainty::Likely && format.name != "json" => {
                    Some(Guess { certainty: Certainty::Possible, variant })
                }
                _ => None,
            };
        }
        let root = outcome.document.root().kind();
        only_containers &= root.is_container() || matches!(root, Kind::Link | Kind::Alias);
        let read = outcome.consumed.max(1);
        rest = rest.get(read..).unwrap_or(&[]);
        tape = outcome.document.into_tape();
        documents += 1;
    }
    if documents > 1 {
        // A column of numbers is no list of documents.
        if !only_containers && !is_sure {
            return None;
        }
        let count = format!("{documents} documents");
        variant = match variant.contains("several documents") {
            true => variant.replace("several documents", &count),
            false if variant.is_empty() => count,
            false => format!("{variant}, {count}"),
        };
    }
    let certainty = if only_containers || is_sure { Certainty::Sure } else { Certainty::Possible };
    Some(Guess { certainty, variant })
}

/// The stage that reads this input, in at most so many wrappers.
pub(super) fn stage(input: &[u8], wrappers: u32) -> Result<Stage, Error> {
    if let Some(format) = format_of(input) {
        return Ok(Stage::of(format));
    }
    if let Some(stage) = wrappers.checked_sub(1).and_then(|wrappers| wrapped(input, wrappers)) {
        return Ok(stage);
    }
    // A text that is meant to be JSON: its reader says where it is not.
    if begins_like_json(input) && identify(input).is_none() {
        return Ok(Stage::of(&format::json::FORMAT));
    }
    Err(unknown(input))
}

/// What is wrapped in something that can be taken off, if a format fits what is
/// inside.
fn wrapped(input: &[u8], wrappers: u32) -> Option<Stage> {
    let limits = Limits::default();
    wrap::all().iter().copied().filter(|wrapper| (wrapper.detect)(input)).find_map(|wrapper| {
        let inside = (wrapper.unwrap)(input, &Settings::new(), &limits).ok()?;
        stage(&inside.bytes, wrappers).ok().map(|stage| stage.wrapped_in(wrapper))
    })
}

fn begins_like_json(input: &[u8]) -> bool {
    match input.trim_ascii_start() {
        [b'{', rest @ ..] => matches!(rest.trim_ascii_start(), [b'"' | b'}', ..]),
        [b'[', rest @ ..] => {
            matches!(rest.trim_ascii_start(), [b'[' | b'{' | b'"' | b']' | b'-' | b'0'..=b'9', ..])
        }
        _ => false,
    }
}

#[cold]
fn unknown(input: &[u8]) -> Error {
    let error = Error::new(ErrorKind::Format);
    let known: Vec<_> = format::all().iter().map(|format| format.name).collect();
    if input.is_empty() {
        return error.expecting("a document").finding("no bytes at all");
    }
    match identify(input) {
        Some(found) => {
            let what = found.wrappers.iter().copied().chain([found.name]).collect::<Vec<_>>().join("/");
            let error = error.finding(format!("{} ({what}), which is recognised but not read", found.title));
            match found.wrappers.is_empty() {
                false if found.format.is_some() => error.helping("unwrap it first"),
                _ => error,
            }
        }
        None => error
            .finding("nothing that looks like a known format")
            .helping(format!("name the format if you know it: -f {}", known.join("|"))),
    }
}
