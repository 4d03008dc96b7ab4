//! Finds the ends of strings with wrong lengths, for example after a search and replace in a dump of a database. A
//! string ends at the place after which the rest of the text can be parsed, if there is only one such place.
//!
//! Several readers parse the text at the same time, each with another end for some string. A reader stops at its
//! first error. A reader that reaches the end of the text has found the ends. If several readers reach it, one of
//! them wins if only its changes are those of a single search and replace. Otherwise nothing is changed.

use super::Start;
use super::changes::Fix;
use super::measure::MeasureRange;
use super::names::Classes;
use super::step::{Candidates, Frames, SearchMode, StepResult, ends_between, find_string_ends};
use crate::error::{Error, ErrorKind};
use std::collections::HashMap;
use std::rc::Rc;

/// Maximum number of readers at the same time. If there are more, the readers whose strings differ most from their
/// stated lengths are dropped.
const MAX_READERS: usize = 16;
/// Work allowed for each byte of the text, over all searches: steps, bytes and ends.
const WORK_PER_BYTE: u64 = 400;

/// Number of numbers that are tried as the common step of all strings.
const MAX_STEPS: usize = 6;

/// Minimum number of changes of a reading that wins over others because all its changes are multiples of one number.
/// Fewer changes could be multiples by chance.
const MIN_CONSISTENT_CHANGES: usize = 4;

/// One way to read the text so far.
#[derive(Clone, Debug)]
pub(super) struct TextReader {
    pub(super) offset: usize,
    pub(super) frames: Frames,
    /// Number of nested serialized texts that are open.
    pub(super) open_texts: u32,
    /// The last change: an index into the list of all changes.
    fixes: Option<usize>,
    /// Total number of bytes by which lengths were changed.
    cost: u64,
    /// The last changes of two readers that were merged because they were in the same state.
    doubt: Option<(Option<usize>, Option<usize>)>,
}

impl TextReader {
    pub(super) fn new(start: Start) -> TextReader {
        TextReader { offset: 0, frames: Frames::new(start), open_texts: 0, fixes: None, cost: 0, doubt: None }
    }
}

/// All changes of any reader, each with its predecessor, and whether it belongs to a text in
/// a string.
#[derive(Default)]
struct Changes {
    list: Vec<(Option<usize>, Fix, bool)>,
}

impl Changes {
    fn add(&mut self, reader: &mut TextReader, fix: Fix) {
        // The length of a payload is kept also if it is right. Lengths inside may get more or fewer digits, so it may
        // change.
        if fix.old_len != fix.new_len || matches!(fix.subject, "payload" | "visibility") {
            reader.cost += fix.old_len.abs_diff(fix.new_len);
            self.list.push((reader.fixes, fix, reader.open_texts > 0));
            reader.fixes = Some(self.list.len() - 1);
        }
    }

    fn list_fixes(&self, mut last: Option<usize>, includes_texts: bool) -> Vec<Fix> {
        let mut fixes = Vec::new();
        while let Some((previous, fix, is_inside)) = last.and_then(|last| self.list.get(last)) {
            if includes_texts || !is_inside {
                fixes.push(*fix);
            }
            last = *previous;
        }
        fixes.sort_unstable_by_key(|fix| fix.offset);
        fixes
    }
}

/// Wrong lengths, with the right ones.
pub(super) struct FoundLengths {
    /// In the order of their offsets.
    pub(super) fixes: Vec<Fix>,
    /// The number of which all changes are multiples, if the search used one.
    pub(super) common_step: Option<i64>,
}

/// Returns the lengths of the text that must change. `hint` is the growth of strings in the text around it.
///
/// A string that became shorter may seem to end at its stated end, because a later string ends there by chance. Then
/// a wrong reading may reach the end of the text. So the text is read a second time, on the condition that all
/// strings grew or shrank by multiples of one number, as after one search and replace. Both results must be equal.
/// Returns `None` if there is no answer.
///
/// # Errors
/// If there are several answers.
pub(super) fn find_lengths(
    input: &[u8],
    start: Start,
    classes: &Classes,
    hint: Option<i64>,
) -> Result<Option<FoundLengths>, Error> {
    let mut text = LengthSearch::new(input, start, classes);
    if let Some(step) = hint
        && let Some(fixes) = text.run_search(SearchMode::Step(step))?
    {
        return Ok(Some(FoundLengths { fixes, common_step: Some(step) }));
    }
    let mut loose = Ok(None);
    for reads_texts in [true, false] {
        loose = text.run_search(SearchMode::Near { reads_texts });
        if !matches!(loose, Ok(None)) {
            break;
        }
    }
    let mut stepwise: Option<(Vec<Fix>, i64)> = None;
    for step in text.guess_steps() {
        let found = text.run_search(SearchMode::Step(step))?;
        match (&stepwise, found) {
            (Some((one, _)), Some(other)) if *one != other => return Err(ambiguous(one, &other)),
            (None, Some(found)) => stepwise = Some((found, step)),
            _ => {}
        }
    }
    match (loose, stepwise) {
        (Ok(Some(loose)), Some((stepwise, _))) if loose != stepwise && find_common_step(&loose).is_some() => {
            Err(ambiguous(&loose, &stepwise))
        }
        (Err(error), Some((stepwise, _))) if stepwise.len() < MIN_CONSISTENT_CHANGES => Err(error),
        (_, Some((fixes, step))) => {
            Ok(Some(FoundLengths { common_step: find_common_step(&fixes).or(Some(step)), fixes }))
        }
        (loose, None) => Ok(loose?.map(|fixes| FoundLengths { common_step: find_common_step(&fixes), fixes })),
    }
}

/// Returns the lengths that must change if each string counted something between two
/// numbers; `None` if there are no or several answers.
pub(super) fn find_lengths_between(
    input: &[u8],
    start: Start,
    classes: &Classes,
    between: MeasureRange<'_>,
) -> Option<Vec<Fix>> {
    LengthSearch::new(input, start, classes).run_search(SearchMode::Between(between)).ok().flatten()
}

/// Returns the number of which all changes are multiples, if it is one of them.
pub(super) fn find_common_step(fixes: &[Fix]) -> Option<i64> {
    let changed = |fix: &&Fix| fix.new_len != fix.old_len && fix.subject != "visibility";
    let change = |fix: &Fix| i64::try_from(fix.new_len).ok()?.checked_sub(i64::try_from(fix.old_len).ok()?);
    let changes = || fixes.iter().filter(changed).filter_map(change);
    let step = changes().min_by_key(|change| change.abs())?;
    changes().all(|change| change.signum() == step.signum() && change % step == 0).then_some(step)
}

/// The text to repair.
struct LengthSearch<'i> {
    input: &'i [u8],
    start: Start,
    classes: &'i Classes,
    /// The offsets of `";` in it.
    ends: Rc<[usize]>,
    /// Work still allowed.
    remaining: u64,
}

impl<'i> LengthSearch<'i> {
    fn new(input: &'i [u8], start: Start, classes: &'i Classes) -> LengthSearch<'i> {
        let remaining = (input.len() as u64 + 1000).saturating_mul(WORK_PER_BYTE);
        LengthSearch { input, start, classes, ends: find_string_ends(input), remaining }
    }

    /// Returns the numbers by which strings may have grown or shrunk. They are the most frequent distances between
    /// the stated end of a string and the next possible end.
    fn guess_steps(&self) -> Vec<i64> {
        let input = self.input;
        let mut counts: HashMap<i64, usize> = HashMap::new();
        let mut offset = 0;
        while let Some(next) = input[offset..].windows(2).position(|pair| pair == b"s:") {
            offset += next + 2;
            let digits = input[offset..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let first = offset + digits + 2;
            if digits == 0 || digits > 9 || input.get(first - 2..first) != Some(b":\"") {
                continue;
            }
            let stated = input[offset..first - 2].iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
            offset = first;
            let search_end =
                usize::try_from(stated).unwrap_or(0).saturating_mul(2).saturating_add(first + 1024).min(input.len());
            let Some(end) = ends_between(&self.ends, first, search_end).first() else { continue };
            let real = end - first;
            *counts.entry(real as i64 - stated).or_default() += usize::from(real as i64 != stated);
        }
        let mut steps: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        steps.sort_unstable_by_key(|(step, count)| (std::cmp::Reverse(*count), step.abs(), *step));
        steps.into_iter().take(MAX_STEPS).map(|(step, _)| step).collect()
    }

    fn run_search(&mut self, mode: SearchMode<'_>) -> Result<Option<Vec<Fix>>, Error> {
        let input = self.input;
        let mut changes = Changes::default();
        let mut readers = vec![TextReader::new(self.start)];
        let mut finished: Option<TextReader> = None;
        let mut candidates = Candidates::new(&self.ends, self.classes);
        while let Some(next) = (0..readers.len()).min_by_key(|index| readers[*index].offset) {
            let reader = &mut readers[next];
            let (met, work) = reader.read_next(input, mode, &mut candidates);
            self.remaining = self.remaining.checked_sub(work).ok_or_else(|| {
                let error = Error::new(ErrorKind::Limit).at(readers[next].offset);
                error.expecting("wrong lengths that can be counted again in reasonable time")
            })?;
            match met {
                StepResult::Good => merge_readers(&mut readers, next),
                StepResult::Bad | StepResult::Piece(..) => {
                    readers.swap_remove(next);
                }
                StepResult::Fix(fix) => {
                    changes.add(&mut readers[next], fix);
                    merge_readers(&mut readers, next);
                }
                StepResult::End => {
                    let mut reader = readers.swap_remove(next);
                    if let Some(other) = &finished {
                        reader.doubt = Some((reader.fixes, other.fixes));
                    }
                    finished = Some(reader);
                }
                StepResult::Fork => {
                    let from = readers.swap_remove(next);
                    for (next_offset, fix) in candidates.found.drain(..) {
                        let mut reader = TextReader { offset: next_offset, ..from.clone() };
                        changes.add(&mut reader, fix);
                        readers.push(reader);
                        let last = readers.len() - 1;
                        merge_readers(&mut readers, last);
                    }
                    while readers.len() > MAX_READERS {
                        let farthest = (0..readers.len()).max_by_key(|index| readers[*index].cost).unwrap_or(0);
                        readers.swap_remove(farthest);
                    }
                }
            }
        }
        match finished {
            None => Ok(None),
            Some(TextReader { doubt: Some((one, other)), .. }) => {
                Err(ambiguous(&changes.list_fixes(one, true), &changes.list_fixes(other, true)))
            }
            Some(reader) => Ok(Some(changes.list_fixes(reader.fixes, false))),
        }
    }
}

/// Merges the reader at `index` with one in the same state.
fn merge_readers(readers: &mut Vec<TextReader>, index: usize) {
    if readers.len() < 2 {
        return;
    }
    let reader = &readers[index];
    let same = |other: &TextReader| other.offset == reader.offset && other.frames.last() == reader.frames.last();
    let Some(other) = (0..readers.len()).find(|other| *other != index && same(&readers[*other])) else { return };
    let (one, two) = (&readers[index], &readers[other]);
    let doubt = Some((one.fixes, two.fixes));
    let (keep, drop) = if one.cost <= two.cost { (index, other) } else { (other, index) };
    readers[keep].doubt = doubt;
    readers.swap_remove(drop);
}

#[cold]
fn ambiguous(one: &[Fix], other: &[Fix]) -> Error {
    let differ = one.iter().find(|fix| !other.contains(fix)).or_else(|| other.iter().find(|fix| !one.contains(fix)));
    let error = Error::new(ErrorKind::Malformed).expecting("wrong lengths that can be counted again in one way only");
    let Some(fix) = differ else { return error };
    let error = error.at(fix.offset);
    let length = |fixes: &[Fix]| fixes.iter().find(|known| known.offset == fix.offset).map(|fix| fix.new_len);
    match (length(one), length(other)) {
        (Some(one), Some(other)) => error.finding(format!(
            "a string declared as {} bytes long that may have {} or {}",
            fix.old_len,
            one.min(other),
            one.max(other)
        )),
        _ => error.finding("several ways"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searching_the_end_of_a_payload_counts_as_work() {
        let text = [&br#"C:1:"F":100000:{}"#[..], &[b'x'; 5000]].concat();
        let mut reader = TextReader::new(Start::Value);
        let classes = Classes::from_text(&text);
        let (met, work) = reader.read_next(
            &text,
            SearchMode::Near { reads_texts: false },
            &mut Candidates::new(&find_string_ends(&text), &classes),
        );
        assert!(matches!(met, StepResult::Fork) && work > 5000, "{work}");
    }
}
