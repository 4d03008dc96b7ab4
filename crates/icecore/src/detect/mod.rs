//! Detection of formats and wrappers.
//!
//! A format with a signature is detected by it. Others are detected only by a walk over
//! the whole input, so that ordinary files are not mistaken for them.

mod begins;
mod bson;
mod cbor;
mod magic;
mod msgpack;
mod pickle;
mod recognized;
mod supported;
mod text;
mod walk;
mod wrapper;

use crate::error::Error;
use crate::format::{self, Certainty, Format, Guess};
use crate::stage::Stage;
use walk::{Rejection, Step, Walk};

pub use begins::{begins_as, begins_frozen};

/// What some bytes are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the format: `storable`, `pickle`, `png`.
    pub name: &'static str,
    /// What that is, in a few words.
    pub title: &'static str,
    /// Version and variant; may be empty.
    pub variant: String,
    /// How sure this is.
    pub certainty: Certainty,
    /// What it is wrapped in, outermost first: `gzip`, `base64`.
    pub wrappers: Vec<&'static str>,
    /// Whether it is read as it is: the format is, and what it is wrapped in.
    pub is_read: bool,
    /// The format, if it is one that this engine reads.
    pub format: Option<&'static Format>,
}

/// The bytes to look at.
#[derive(Clone, Copy, Debug)]
struct Sample<'a> {
    bytes: &'a [u8],
    /// Whether this is all of it.
    whole: bool,
}

/// As [`stage_of`], for an input of several documents: the first one decides, and the next
/// one, as far as it is complete, must not contradict it.
///
/// ```
/// assert!(icecore::detect::stage_of(b"i:5;a:0:{}").is_err());
/// assert_eq!(icecore::detect::stage_of_first(b"i:5;a:0:{}")?.format().name, "php");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// As for [`stage_of`].
pub fn stage_of_first(input: &[u8]) -> Result<Stage, Error> {
    stage_of(input).or_else(|error| supported::first(input).map(Stage::of).ok_or(error))
}

/// Says what the bytes are. All of them are looked at where a format has no
/// signature: nothing is named that was not checked.
///
/// ```
/// let found = icecore::identify(b"\x80\x04K\x01.").unwrap();
/// assert_eq!((found.name, &*found.variant), ("pickle", "protocol 4"));
/// assert!(found.format.is_none()); // recognised, not read
/// ```
pub fn identify(input: &[u8]) -> Option<Finding> {
    identify_in(&Sample { bytes: input, whole: true }, 0)
}

/// As [`identify`], where these bytes are the beginning of a longer input.
///
/// ```
/// let head = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
/// assert!(icecore::detect::identify_head(head).is_some());
/// ```
pub fn identify_head(head: &[u8]) -> Option<Finding> {
    identify_in(&Sample { bytes: head, whole: false }, 0)
}

/// Names and titles of the formats and wrappers that are recognised, but not
/// read; sorted by name.
pub fn recognised() -> Vec<(&'static str, &'static str)> {
    let mut names: Vec<_> = recognized::names().chain(wrapper::CLOSED.iter().copied()).collect();
    names.sort_unstable();
    names.dedup_by_key(|(name, _)| *name);
    names
}

/// Whether it is settled what these bytes are, if this format reads all of them as a list, a map or an object: then
/// [`stage_of`] says the same, and need not be asked. It is for columns, where most bytes are of the format of those
/// before.
///
/// ```
/// use icecore::{detect, format};
/// let php = format::by_name("php").unwrap();
/// assert!(detect::settles(php, b"a:0:{}"));
/// assert!(!detect::settles(php, b"[1]"));
/// ```
pub fn settles(format: &Format, input: &[u8]) -> bool {
    /// A longer text is not looked at as a whole.
    const LOOK: usize = 256 << 10;
    let is_told = match format.can.evidence {
        // A session of one of PHP's handlers is an array as any other.
        format::Evidence::Beginning => !format.can.alone,
        format::Evidence::Whole => format.can.line.is_none() && input.len() <= LOOK,
        format::Evidence::None => false,
    };
    is_told && format.may_begin(input)
}

/// How many wrappers are taken off.
const WRAPPERS: u32 = 4;

fn identify_in(sample: &Sample<'_>, level: u32) -> Option<Finding> {
    let supported = supported::detect(sample);
    if supported.as_ref().is_some_and(|supported| supported.certainty == Certainty::Sure) {
        return supported;
    }
    let wrapped = || if level < WRAPPERS { wrapper::detect(sample, level) } else { None };
    let others = [recognized::detect(sample), wrapped()];
    others.into_iter().flatten().fold(supported, |best, other| match best {
        Some(best) if best.certainty >= other.certainty => Some(best),
        _ => Some(other),
    })
}

/// How sure a walk makes, which ended so: `best` if it went over everything.
fn grade(sample: &Sample<'_>, end: Step<()>, walk: &Walk<'_>, best: Certainty, variant: &str) -> Option<Guess> {
    const MANY: usize = 4096;
    let certainty = match end {
        Ok(()) if walk.at_end() => best,
        Err(Rejection::End) if !sample.whole && walk.at >= MANY => best.min(Certainty::Likely),
        _ => return None,
    };
    Some(Guess { certainty, variant: variant.to_owned() })
}

/// The format that the bytes most likely are in, by what the formats
/// themselves say of the first bytes.
fn format_of(input: &[u8]) -> Option<(Certainty, &'static Format)> {
    format::all()
        .iter()
        .filter_map(|format| (format.detect)(input).map(|guess| (guess.certainty, *format)))
        .max_by_key(|(certainty, _)| *certainty)
}

/// The stage that reads this input. Input in no format that is read is an
/// error that says what it is, if that is known.
///
/// ```
/// let stage = icecore::detect::stage_of(b"[1, 2]")?;
/// assert_eq!(stage.format().name, "json");
/// let error = icecore::detect::stage_of(b"\x80\x04K\x01.").unwrap_err();
/// assert!(error.to_string().contains("Python pickle"));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Format`.
pub fn stage_of(input: &[u8]) -> Result<Stage, Error> {
    supported::stage(&Sample { bytes: input, whole: true }, WRAPPERS)
}
