//! Detection of formats and wrappers.
//!
//! A format with a signature is detected by it. Other formats are detected only by a walk over the whole input, so that
//! ordinary files are not mistaken for them.

mod begins;
mod bson;
mod cbor;
mod damage;
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
use walk::{ByteWalk, Rejection, WalkResult};

pub use begins::{begins_as, begins_frozen, is_damaged_data};
pub use damage::{DamageCause, DetectedDamage, FrameLength, find_damage};

/// The detected format of some bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the format: `storable`, `pickle`, `png`.
    pub name: &'static str,
    /// Description in a few words.
    pub title: &'static str,
    /// Version and variant; may be empty.
    pub variant: String,
    /// Certainty of the result.
    pub certainty: Certainty,
    /// Wrappers, outermost first: `gzip`, `base64`.
    pub wrappers: Vec<&'static str>,
    /// Whether the engine can read it: both the format and the wrappers.
    pub is_read: bool,
    /// The format, if it is one that this engine reads.
    pub format: Option<&'static Format>,
}

/// The bytes to examine.
#[derive(Clone, Copy, Debug)]
struct Sample<'a> {
    bytes: &'a [u8],
    /// Whether these are all bytes of the input.
    is_complete: bool,
}

/// Like [`stage_of`], for an input of several documents: the first one decides, and the next one, if it is complete,
/// must not contradict it.
///
/// ```
/// assert!(icecore::detect::stage_of(b"i:5;a:0:{}").is_err());
/// assert_eq!(icecore::detect::stage_of_first(b"i:5;a:0:{}")?.format().name, "php");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Those of [`stage_of`].
pub fn stage_of_first(input: &[u8]) -> Result<Stage, Error> {
    stage_of(input).or_else(|error| supported::find_first_format(input).map(Stage::of).ok_or(error))
}

/// Detects the format of the bytes. All of them are examined if a format has no signature: every result was checked.
///
/// ```
/// let found = icecore::identify(b"\x80\x04K\x01.").unwrap();
/// assert_eq!((found.name, &*found.variant), ("pickle", "protocol 4"));
/// assert!(found.format.is_none()); // recognised, not read
/// ```
pub fn identify(input: &[u8]) -> Option<Finding> {
    identify_in(&Sample { bytes: input, is_complete: true }, 0)
}

/// Like [`identify`], if these bytes are the beginning of a longer input.
///
/// ```
/// let head = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
/// assert!(icecore::detect::identify_head(head).is_some());
/// ```
pub fn identify_head(head: &[u8]) -> Option<Finding> {
    identify_in(&Sample { bytes: head, is_complete: false }, 0)
}

/// Names and titles of the formats and wrappers that are recognised, but can't be read; sorted by name.
pub fn recognised() -> Vec<(&'static str, &'static str)> {
    let mut names: Vec<_> = recognized::list_names().chain(wrapper::CLOSED.iter().copied()).collect();
    names.sort_unstable();
    names.dedup_by_key(|(name, _)| *name);
    names
}

/// Returns `true` if the format of these bytes is certain, provided that this format reads all of them as a list, a map
/// or an object: then [`stage_of`] would return the same and need not be called. For columns, where most values have
/// the format of the previous ones.
///
/// ```
/// use icecore::{detect, format};
/// let php = format::by_name("php").unwrap();
/// assert!(detect::settles(php, b"a:0:{}"));
/// assert!(!detect::settles(php, b"[1]"));
/// ```
pub fn settles(format: &Format, input: &[u8]) -> bool {
    /// Maximum length of a text that is examined completely.
    const MAX_EXAMINED_LEN: usize = 256 << 10;
    let is_told = match format.can.evidence {
        // A session of one of PHP's handlers is an array like any other.
        format::Evidence::Beginning => !format.can.alone,
        format::Evidence::Whole => format.can.line.is_none() && input.len() <= MAX_EXAMINED_LEN,
        format::Evidence::None => false,
    };
    is_told && format.may_begin(input)
}

/// Maximum number of wrappers that are removed.
const MAX_WRAPPERS: u32 = 4;

fn identify_in(sample: &Sample<'_>, level: u32) -> Option<Finding> {
    let supported = supported::detect_supported(sample);
    if supported.as_ref().is_some_and(|supported| supported.certainty == Certainty::Sure) {
        return supported;
    }
    let wrapped = || if level < MAX_WRAPPERS { wrapper::detect_wrapper(sample, level) } else { None };
    let others = [recognized::detect_recognized(sample), wrapped()];
    others.into_iter().flatten().fold(supported, |best, other| match best {
        Some(best) if best.certainty >= other.certainty => Some(best),
        _ => Some(other),
    })
}

/// Returns the certainty after a walk with this result: `best` if it covered everything.
fn grade_walk(
    sample: &Sample<'_>,
    end: WalkResult<()>,
    walk: &ByteWalk<'_>,
    best: Certainty,
    variant: &str,
) -> Option<Guess> {
    /// Number of bytes after which a walk that fits so far is evidence, although the sample ends too early.
    const MIN_SAMPLE_LEN: usize = 4096;
    let certainty = match end {
        Ok(()) if walk.is_at_end() => best,
        Err(Rejection::End) if !sample.is_complete && walk.offset >= MIN_SAMPLE_LEN => best.min(Certainty::Likely),
        _ => return None,
    };
    Some(Guess { certainty, variant: variant.to_owned() })
}

/// Returns the most likely format of the bytes according to the formats' own checks of the first bytes.
fn guess_format(input: &[u8]) -> Option<(Certainty, &'static Format)> {
    format::all()
        .iter()
        .filter_map(|format| (format.detect)(input).map(|guess| (guess.certainty, *format)))
        .max_by_key(|(certainty, _)| *certainty)
}

/// Returns the stage that reads this input. For input in a format that can't be read, the error contains its name, if
/// known.
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
    supported::detect_stage(&Sample { bytes: input, is_complete: true }, MAX_WRAPPERS)
}
