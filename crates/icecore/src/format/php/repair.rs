//! `repair=lengths`: strings whose length is wrong, as after a search and
//! replace in a dump of a database, end where the rest of the text still makes
//! sense, if that is one place only.
//!
//! The text is read by several readers at once, each of which took another end
//! for some string. A reader stops when what it meets makes no sense to it; who
//! reaches the end of the text was right. If two do, nothing is changed.

use super::repair_step::{Candidates, Frame, Met};
use super::token::Fix;
use crate::error::{Error, ErrorKind};

/// How many readers there may be at once. Of more, those go whose strings are
/// the farthest from their stated lengths.
const READERS: usize = 24;
/// How much work may be done: steps and bytes looked at, for each byte of the
/// text.
const WORK: u64 = 1000;

/// One way to read the text so far.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    /// What was changed last: a position in the list of all changes.
    fixes: Option<usize>,
    /// By how many bytes lengths were changed, all in all.
    cost: u64,
    /// Two ways led here: what each of them had changed last.
    doubt: Option<(Option<usize>, Option<usize>)>,
}

/// All changes that any reader made, each with the one before.
#[derive(Default)]
struct Changes {
    list: Vec<(Option<usize>, Fix)>,
}

impl Changes {
    fn of(&self, mut last: Option<usize>) -> Vec<Fix> {
        let mut fixes = Vec::new();
        while let Some((before, fix)) = last.and_then(|last| self.list.get(last)) {
            fixes.push(*fix);
            last = *before;
        }
        fixes.sort_unstable_by_key(|fix| fix.offset);
        fixes
    }
}

/// Which lengths of the text must be others, in the order of their offsets.
///
/// # Errors
/// If there are several answers. `None`: there is none.
pub(super) fn lengths(input: &[u8]) -> Result<Option<Vec<Fix>>, Error> {
    let mut changes = Changes::default();
    let mut readers = vec![Reader { at: 0, frames: vec![Frame::root()], fixes: None, cost: 0, doubt: None }];
    let mut whole: Option<Reader> = None;
    let mut candidates = Candidates::default();
    let mut left = (input.len() as u64 + 1000).saturating_mul(WORK);
    while let Some(next) = (0..readers.len()).min_by_key(|at| readers[*at].at) {
        let reader = &mut readers[next];
        let (met, work) = reader.step(input, &mut candidates);
        left = left.checked_sub(work).ok_or_else(|| {
            Error::new(ErrorKind::Limit)
                .at(readers[next].at)
                .expecting("lengths that can be found out in reasonable time")
        })?;
        match met {
            Met::Good => {
                if readers.len() > 1 {
                    merge(&mut readers, next);
                }
            }
            Met::Bad => {
                readers.swap_remove(next);
            }
            Met::End => {
                let mut reader = readers.swap_remove(next);
                if let Some(other) = &whole {
                    reader.doubt = Some((reader.fixes, other.fixes));
                }
                whole = Some(reader);
            }
            Met::Fork => {
                let from = readers.swap_remove(next);
                for (after, fix) in candidates.found.drain(..) {
                    let mut reader = from.clone();
                    reader.at = after;
                    reader.cost += fix.was.abs_diff(fix.is);
                    changes.list.push((from.fixes, fix));
                    reader.fixes = Some(changes.list.len() - 1);
                    readers.push(reader);
                    let last = readers.len() - 1;
                    merge(&mut readers, last);
                }
                while readers.len() > READERS {
                    let farthest = (0..readers.len()).max_by_key(|at| readers[*at].cost).unwrap_or(0);
                    readers.swap_remove(farthest);
                }
            }
            Met::Fix(fix) => {
                let reader = &mut readers[next];
                reader.cost += fix.was.abs_diff(fix.is);
                changes.list.push((reader.fixes, fix));
                reader.fixes = Some(changes.list.len() - 1);
            }
        }
    }
    let Some(whole) = whole else { return Ok(None) };
    let fixes = changes.of(whole.fixes);
    match whole.doubt {
        Some((one, other)) => Err(ambiguous(&changes.of(one), &changes.of(other))),
        None => Ok(Some(fixes)),
    }
}

/// Puts the reader at `at` together with one that is where it is.
fn merge(readers: &mut Vec<Reader>, at: usize) {
    let here = &readers[at];
    let same = |other: &Reader| other.at == here.at && other.frames.last() == here.frames.last();
    let Some(other) = (0..readers.len()).find(|other| *other != at && same(&readers[*other])) else { return };
    let (one, two) = (&readers[at], &readers[other]);
    let doubt = Some((one.fixes, two.fixes));
    let (keep, drop) = if one.cost <= two.cost { (at, other) } else { (other, at) };
    readers[keep].doubt = doubt;
    readers.swap_remove(drop);
}

#[cold]
fn ambiguous(one: &[Fix], other: &[Fix]) -> Error {
    let differ = one.iter().find(|fix| !other.contains(fix)).or_else(|| other.iter().find(|fix| !one.contains(fix)));
    let error = Error::new(ErrorKind::Malformed).expecting("wrong lengths that can be counted again in one way only");
    let Some(fix) = differ else { return error };
    let error = error.at(fix.offset);
    let length = |fixes: &[Fix]| fixes.iter().find(|known| known.offset == fix.offset).map(|fix| fix.is);
    match (length(one), length(other)) {
        (Some(one), Some(other)) => error.finding(format!(
            "a string said to be {} bytes long that may have {} or {}",
            fix.was,
            one.min(other),
            one.max(other)
        )),
        _ => error.finding("several ways"),
    }
}
