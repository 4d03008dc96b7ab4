//! Values on a path, without reading the rest.
//!
//! A [`Pattern`] is a path that may match several values. [`Pattern::find`] finds them in a document that was read.
//! [`each`] takes them from bytes, and skips what the pattern does not name: only the answers become documents.
//!
//! Skipped data is not validated. An item of a list is found even if the input ends too early after it. A map is
//! skimmed to its end, because a later entry with the same key replaces an earlier one. If an error follows an
//! answer, the answer is passed on first. Everything is read if a format can't be skimmed, or if a value can't be
//! read by itself because a link leads out of it. This is slower, but gives the same answers.

mod matching;
mod pattern;
mod skimming;

pub use crate::format::skim::Source;
pub use matching::Found;
pub use pattern::Pattern;
pub(crate) use pattern::item_position;

use crate::api::read_as;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::format::skim::Input;
use crate::limits::Limits;
use crate::stage::Stage;
use skimming::SkimEnd;

/// Function that receives answers: the path of each, and the value as a separate document.
pub type ReceiveAnswer<'r> = &'r mut dyn FnMut(&str, &Document<'_>) -> Result<(), Error>;

/// How skimming ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skimmed {
    /// All answers were passed on: this number of them.
    Complete(u64),
    /// This number of answers was passed on, and there may be more: [`read`] finds those.
    Unsure(u64),
}

/// Returns the first value that a pattern matches in these bytes.
///
/// ```
/// use icecore::{Limits, Stage, select};
/// let php = br#"a:2:{i:0;a:1:{s:4:"name";s:5:"Alice";}i:1;a:1:{s:4:"name";s:3:"Bob";}}"#;
/// let name = select::Pattern::parse("$[1].name")?;
/// let found = select::first(php, &Stage::parse("php")?, &name, &Limits::default())?;
/// assert_eq!(found.unwrap().root().as_str(), Some("Bob"));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Those of [`each`].
pub fn first(
    input: &[u8],
    stage: &Stage,
    pattern: &Pattern,
    limits: &Limits,
) -> Result<Option<Document<'static>>, Error> {
    let mut found = None;
    let end = each(input, stage, pattern, limits, &mut |_, document| {
        found = Some(document.clone().into_owned());
        Err(Error::new(ErrorKind::Output))
    });
    match (found, end) {
        (Some(document), _) => Ok(Some(document)),
        (None, end) => end.map(|_| None),
    }
}

/// Passes on the values that a pattern matches in these bytes, in order; returns their number.
///
/// ```
/// use icecore::{Limits, Stage, select};
/// let json = br#"{"staff": [{"name": "Alice"}, {"name": "Bob"}]}"#;
/// let names = select::Pattern::parse("$.staff[*].name")?;
/// let mut paths = Vec::new();
/// let count = select::each(json, &Stage::parse("json")?, &names, &Limits::default(), &mut |path, _| {
///     paths.push(path.to_owned());
///     Ok(())
/// })?;
/// assert_eq!((count, paths[1].as_str()), (2, "$.staff[1].name"));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Errors of the format's reader in the part that has to be read, and errors of `receive`.
pub fn each(
    input: &[u8],
    stage: &Stage,
    pattern: &Pattern,
    limits: &Limits,
    receive: ReceiveAnswer<'_>,
) -> Result<u64, Error> {
    match skim(Input::Bytes(input), stage, pattern, limits, receive)? {
        Skimmed::Complete(count) => Ok(count),
        Skimmed::Unsure(answers_to_skip) => read(input, stage, pattern, limits, answers_to_skip, receive),
    }
}

/// Like [`each`], but only by skimming. The bytes may be read part by part.
///
/// ```
/// use icecore::{Limits, Stage, raw::Input, select::{self, Skimmed}};
/// let pattern = select::Pattern::parse("$[1]")?;
/// let skim = |json: &'static [u8]| {
///     select::skim(Input::Bytes(json), &Stage::parse("json")?, &pattern, &Limits::default(), &mut |_, _| Ok(()))
/// };
/// assert_eq!(skim(b"[1, 2, what is this?")?, Skimmed::Complete(1));
/// assert_eq!(skim(b"[what is this?")?, Skimmed::Unsure(0));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Those of `receive`.
pub fn skim(
    input: Input<'_>,
    stage: &Stage,
    pattern: &Pattern,
    limits: &Limits,
    receive: ReceiveAnswer<'_>,
) -> Result<Skimmed, Error> {
    if !stage.wrappers().is_empty() {
        return Ok(Skimmed::Unsure(0));
    }
    let reader = (stage.format().reader)(stage.settings());
    let Some(mut skim) = reader.new_skimmer(input) else { return Ok(Skimmed::Unsure(0)) };
    Ok(match skimming::skim_pattern(&mut *skim, pattern, limits, receive)? {
        SkimEnd::Complete(count) => Skimmed::Complete(count),
        SkimEnd::Unsure(count) => Skimmed::Unsure(count),
    })
}

/// Like [`each`], but reads everything; the first `answers_to_skip` answers are skipped.
///
/// ```
/// use icecore::{Limits, Stage, select};
/// let pattern = select::Pattern::parse("$[*]")?;
/// let count = select::read(b"[1, 2]", &Stage::parse("json")?, &pattern, &Limits::default(), 1, &mut |path, _| {
///     assert_eq!(path, "$[1]");
///     Ok(())
/// })?;
/// assert_eq!(count, 2);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Those of [`each`].
pub fn read(
    input: &[u8],
    stage: &Stage,
    pattern: &Pattern,
    limits: &Limits,
    answers_to_skip: u64,
    receive: ReceiveAnswer<'_>,
) -> Result<u64, Error> {
    let document = read_as(input, stage, limits)?;
    within(&document, pattern, limits, answers_to_skip, receive)
}

/// Like [`each`], in a document that was read; the first `answers_to_skip` answers are skipped.
///
/// ```
/// use icecore::{Limits, select};
/// let document = icecore::read(b"[1, 2]")?;
/// let pattern = select::Pattern::parse("$[-1]")?;
/// assert_eq!(select::within(&document, &pattern, &Limits::default(), 0, &mut |_, _| Ok(()))?, 1);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Limit`, if links lead to too many values. Errors of `receive` are returned, too.
pub fn within(
    document: &Document<'_>,
    pattern: &Pattern,
    limits: &Limits,
    answers_to_skip: u64,
    receive: ReceiveAnswer<'_>,
) -> Result<u64, Error> {
    let matches = pattern.find(document, limits)?;
    for (path, value) in matches.iter().skip(usize::try_from(answers_to_skip).unwrap_or(usize::MAX)) {
        receive(&path, &document.part(value.index())?)?;
    }
    Ok((matches.len() as u64).max(answers_to_skip))
}
