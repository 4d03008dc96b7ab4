//! The formats that can be read.

use super::begins::format_of_long_head;
use super::wrapper::MAX_CONTENT_LEN;
use super::{Finding, Sample, guess_format, identify_in};
use crate::document::{Kind, Tape};
use crate::error::{Error, ErrorKind};
use crate::format::{self, Certainty, Format, Guess, Request};
use crate::limits::Limits;
use crate::options::Settings;
use crate::stage::Stage;
use crate::wrap::{self, WrapperEvidence};
use std::borrow::Cow;

/// Returns the best match of our formats. If a format's own check is not sure, its reader decides.
pub(super) fn detect_supported(sample: &Sample<'_>) -> Option<Finding> {
    let mut best: Option<Finding> = None;
    for format in format::all().iter().copied() {
        let Some(guess) = (format.detect)(sample.bytes) else { continue };
        let Some(Guess { certainty, variant }) = confirm_by_reading(format, guess, sample) else { continue };
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
    best.or_else(|| {
        let format = format_of_long_head(sample)?;
        Some(Finding {
            name: format.name,
            title: format.title,
            variant: String::new(),
            certainty: Certainty::Likely,
            wrappers: Vec::new(),
            is_read: true,
            format: Some(format),
        })
    })
}

/// Checks a guess by reading.
fn confirm_by_reading(format: &Format, guess: Guess, sample: &Sample<'_>) -> Option<Guess> {
    let Guess { certainty, mut variant } = guess;
    let is_sure = certainty == Certainty::Sure;
    let limits = Limits { depth: 1_000_000, ..Limits::default() };
    let mut rest = sample.bytes;
    let mut documents = 0u64;
    let mut only_containers = true;
    let mut tape = Tape::new();
    while !(rest.is_empty() || documents > 0 && format.ends_with_blanks(rest)) {
        let request = Request { limits: &limits, detail: false, salvages: false, tape };
        let outcome = format.read(rest, &Settings::new(), request);
        if let Some(error) = outcome.error {
            // A large document may have more values than detection reads.
            let ends_early = rest.len() > 64
                && (!sample.is_complete && error.kind() == ErrorKind::Truncated || error.kind() == ErrorKind::Limit);
            return match (is_sure, ends_early) {
                (true, _) => Some(Guess { certainty, variant }),
                (false, true) => Some(Guess { certainty: Certainty::Likely, variant }),
                // The header matches, but the rest does not: the data is damaged. A text that only begins like JSON is
                // not JSON.
                (false, false) if certainty == Certainty::Likely && !is_one_text(format) => {
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
        // A column of numbers is not a list of documents.
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

/// Returns the format of the first of several documents.
pub(super) fn find_first_format(input: &[u8]) -> Option<&'static Format> {
    let limits = Limits { depth: 1_000_000, ..Limits::default() };
    let settings = Settings::new();
    let read = |format: &Format, bytes: &[u8]| {
        let outcome = format.read(bytes, &settings, Request::new(&limits));
        (outcome.consumed, outcome.error)
    };
    let may_follow = |format: &&Format| format.can.evidence == format::Evidence::Beginning && !format.can.alone;
    let best = format::all().iter().copied().filter(may_follow).filter_map(|format| {
        let (consumed, error) = read(format, input);
        let document = input.get(..consumed).filter(|document| error.is_none() && !document.is_empty())?;
        let certainty = (format.detect)(document)?.certainty;
        let rest = input.get(consumed..)?;
        let rest = if format.ends_with_blanks(b"\n") { rest.trim_ascii_start() } else { rest };
        let goes_on = || read(format, rest).1.is_none_or(|error| error.kind() == ErrorKind::Truncated);
        (certainty >= Certainty::Likely && (rest.is_empty() || goes_on())).then_some((certainty, format))
    });
    best.max_by_key(|(certainty, _)| *certainty).map(|(_, format)| format)
}

/// Returns the stage that reads this input, with at most this number of wrappers.
pub(super) fn detect_stage(sample: &Sample<'_>, wrappers: u32) -> Result<Stage, Error> {
    let format = guess_format(sample.bytes);
    let wrapped = || wrappers.checked_sub(1).and_then(|wrappers| detect_wrapped_stage(sample, wrappers));
    // Digits may be a number, or a hex text.
    if let Some((certainty, format)) = format {
        let wrapped_stage = if certainty == Certainty::Possible { wrapped() } else { None };
        return Ok(wrapped_stage.unwrap_or_else(|| Stage::of(format)));
    }
    if let Some(stage) = wrapped() {
        return Ok(stage);
    }
    if let Some(format) = format_of_long_head(sample) {
        return Ok(Stage::of(format));
    }
    // The text is probably in one of these formats. The format's reader reports where the text is wrong.
    let meant = format::all().iter().copied().find(|format| is_one_text(format) && format.may_begin(sample.bytes));
    if let Some(format) = meant.filter(|_| identify_in(sample, 0).is_none()) {
        return Ok(Stage::of(format));
    }
    Err(unknown_format_error(sample))
}

/// Returns the stage of wrapped data, if a format matches the content.
fn detect_wrapped_stage(sample: &Sample<'_>, wrappers: u32) -> Option<Stage> {
    wrap::all().iter().copied().filter(|wrapper| (wrapper.detect)(sample.bytes)).find_map(|wrapper| {
        let head = wrapper.content_head(sample.bytes, sample.is_complete, MAX_CONTENT_LEN)?;
        let content = Sample { bytes: &head.bytes, is_complete: head.is_complete };
        let is_known = || identify_in(&content, 1).is_some_and(|finding| finding.certainty >= Certainty::Likely);
        if wrapper.evidence == WrapperEvidence::Text && !is_known() {
            return None;
        }
        let stage = detect_stage(&content, wrappers).ok()?;
        Some(stage.wrapped_in(wrapper, wrapper.settings_for(sample.bytes)))
    })
}

/// Returns `true` if a document of the format is one text that can only be recognised as a whole. In a format of lines,
/// a damaged line does not rule out the format.
pub(super) fn is_one_text(format: &Format) -> bool {
    format.can.evidence == format::Evidence::Whole && format.can.line.is_none()
}

/// Returns why compressed data can't be unpacked; `None` if it can, or if it is something else.
fn find_wrapper_error(input: &[u8], finding: &Finding) -> Option<Error> {
    let innermost = wrap::by_name(finding.name)?;
    matches!(innermost.evidence, WrapperEvidence::Magic | WrapperEvidence::Content).then_some(())?;
    let limits = Limits::default();
    let mut bytes = Cow::Borrowed(input);
    for name in finding.wrappers.iter().copied().chain([finding.name]) {
        let wrapper = wrap::by_name(name)?;
        let unwrapped = (wrapper.unwrap)(&bytes, &wrapper.settings_for(&bytes), &limits);
        match unwrapped {
            Ok(unwrapped) => bytes = Cow::Owned(unwrapped.bytes.into_owned()),
            Err(error) => return Some(error.in_format(wrapper.name)),
        }
    }
    None
}

#[cold]
fn unknown_format_error(sample: &Sample<'_>) -> Error {
    let input = sample.bytes;
    let error = Error::new(ErrorKind::Format);
    let known: Vec<_> = format::all().iter().map(|format| format.name).collect();
    if input.is_empty() {
        return error.expecting("a document").finding("an empty input");
    }
    match identify_in(sample, 0) {
        Some(finding) => {
            let stage_path = finding.wrappers.iter().copied().chain([finding.name]).collect::<Vec<_>>().join("/");
            match wrap::by_name(finding.name) {
                Some(_) if let Some(damage) = find_wrapper_error(input, &finding) => damage,
                Some(_) => error
                    .finding(format!(
                        "{} ({stage_path}), and nothing that looks like a known format inside",
                        finding.title
                    ))
                    .helping(format!("name the format inside if you know it, such as {stage_path}/json")),
                None => error.finding(format!("{} ({stage_path}), which is recognised but not read", finding.title)),
            }
        }
        None => error
            .finding("nothing that looks like a known format")
            .helping(format!("name the format if you know it: {}", known.join("|"))),
    }
}
