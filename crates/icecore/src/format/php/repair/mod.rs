//! Repairs damaged texts: finds out what happened to a text, and how it was before.
//!
//! A text is damaged if a length in it is not the length of the following string. [`find_repair`] tries these
//! explanations one after another, each up to the end of the text:
//!
//! | file | explanations |
//! |---|---|
//! | `measure.rs`, `cause.rs` | the lengths count characters of another charset, other line ends, entities |
//! | `reversal.rs` | something was done to the whole text: slashes, doubled quotes, entities |
//! | `names.rs` | NUL bytes in names of properties are gone, or are other characters |
//! | `replaced.rs` | one text was replaced by a longer or shorter one, which the changed strings share |
//! | `search.rs`, `step.rs` | other replacements; or no cause is known |
//!
//! The first four explanations determine the end of each string, so one pass reads the text (`explain.rs`). If
//! several of them read all of the text with different results, the text is refused. If none of them reads all of it,
//! the ends of strings are searched.

mod cause;
mod changes;
mod explain;
mod measure;
mod names;
mod read;
mod replaced;
mod reversal;
mod search;
mod step;
mod variables;

pub(super) use read::{RepairSettings, read_or_repair};
pub(super) use variables::{has_counted_variable, has_variable};

use crate::document::Explanation;
use crate::error::{Error, ErrorKind};
use crate::format::strings::{self, Damage};
use changes::{Change, Fix, settle_changes};
use explain::{MeasuredReader, MeasuredText, apply_changes, begins_serialized, is_damaged, only_looks_serialized};
use measure::{Measure, MeasureRange};
use names::Classes;
use replaced::ReplacedText;
use search::FoundLengths;

/// Maximum depth to which serialized texts inside strings are examined.
const MAX_DEPTH: u32 = 4;
/// Number of different answers that are kept.
const MAX_ANSWERS: usize = 4;
/// Maximum number of occurrences of a replaced text in one string that may explain its length.
const MAX_MULTIPLES: u64 = 8;

/// Number of strings that an inexact explanation must fit. Fewer strings could fit by chance.
const MIN_FITTING_STRINGS: usize = 3;

/// What a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// One value, and nothing else.
    Value,
    /// The variables of a session, each after its name and a bar.
    Named,
    /// The variables of a session, each after the length of its name and the name.
    Counted,
}

/// A damaged text, repaired.
pub(super) struct RepairedText {
    pub(super) text: Vec<u8>,
    pub(super) explanation: Explanation,
    pub(super) start: Start,
    /// The changes, if the offsets are those of the damaged text.
    changes: Vec<Change>,
    /// Whether something happened to the whole text.
    is_whole: bool,
}

/// How a text may begin, and what the result must fulfil.
#[derive(Clone, Copy)]
pub(super) struct RepairConditions<'w> {
    pub(super) starts: &'w [Start],
    /// Whether the whole text may have been changed. This is not possible for a text inside another one.
    pub(super) allows_reversals: bool,
    /// Whether the reader accepts a repaired text.
    pub(super) reads: &'w dyn Fn(&[u8], Start) -> bool,
}

/// Returns the text as it was before the damage; `None` if nothing explains it.
///
/// # Errors
/// If several explanations read all of the text with different results, or if the search for one
/// takes too long.
pub(super) fn find_repair(text: &[u8], conditions: RepairConditions<'_>) -> Result<Option<RepairedText>, Error> {
    let mut answers = find_exact_repairs(text, conditions);
    if answers.is_empty() {
        return search_repair(text, conditions);
    }
    // An answer that explains everything is better than a guess, which may leave a nested text damaged.
    if answers.iter().any(|answer| !answer.explanation.is_guess) {
        answers.retain(|answer| !answer.explanation.is_guess);
    }
    take_only_answer(&mut answers)
}

/// Repairs names of properties whose NUL bytes became blanks, in a text that can be read as it is.
pub(super) fn repair_names(text: &[u8], conditions: RepairConditions<'_>) -> Option<RepairedText> {
    const BLANKS: [&[u8]; 2] = [b":\" ", b":\"?"];
    let may_have = |mark: &[u8]| memchr::memmem::find(text, mark).is_some();
    if !may_have(b"O:") || !BLANKS.into_iter().any(may_have) {
        return None;
    }
    let classes = Classes::from_text(text);
    conditions.starts.iter().find_map(|start| {
        let following = MeasuredReader::new(Measure::BYTES, &classes);
        let reading = following.read_whole_text(text, *start, 0)?;
        RepairedText::from_reading(text, reading, *start, Explanation::new_empty(), conditions)
    })
}

/// Repairs a damaged text.
pub(super) fn repair_text(
    text: &[u8],
    damage: Damage,
    starts: &[Start],
    read: &dyn Fn(&[u8], Start) -> Option<usize>,
) -> Result<Option<strings::TextRepair>, Error> {
    let reads =
        |text: &[u8], start: Start| read(text, start).is_some_and(|consumed| text[consumed..].trim_ascii().is_empty());
    let conditions = RepairConditions { starts, allows_reversals: damage == Damage::Whole, reads: &reads };
    let repaired = match damage {
        Damage::Names => repair_names(text, conditions),
        // A text that begins with `s:` may be prose. The search could always find some end in it, so only exact
        // explanations are tried.
        Damage::Lengths if text.starts_with(b"s:") => take_only_answer(&mut find_exact_repairs(text, conditions))?,
        Damage::Lengths | Damage::Whole => find_repair(text, conditions)?,
    };
    Ok(repaired.map(|RepairedText { text, explanation, .. }| strings::TextRepair { text, explanation }))
}

impl RepairedText {
    /// Makes the repaired text. Returns `None` if nothing changes, or if the reader does not accept the result.
    fn from_reading(
        text: &[u8],
        reading: MeasuredText,
        start: Start,
        explanation: Explanation,
        conditions: RepairConditions<'_>,
    ) -> Option<RepairedText> {
        let MeasuredText { changes, restored, .. } = reading;
        changes.iter().any(|change| change.fix.subject != "text").then_some(())?;
        let repaired = apply_changes(text, &changes);
        let mut explanation = explanation.and(restored.into_explanation());
        explanation.is_guess |= keeps_damage(&changes);
        (conditions.reads)(&repaired, start).then_some(RepairedText {
            text: repaired,
            explanation,
            start,
            changes,
            is_whole: false,
        })
    }
}

/// Returns the answer if it is the only one.
fn take_only_answer(answers: &mut Vec<RepairedText>) -> Result<Option<RepairedText>, Error> {
    match &answers[..] {
        [] | [_] => Ok(answers.pop()),
        _ => Err(several_explanations(answers.iter().map(|answer| answer.explanation.sentence.as_str()))),
    }
}

#[cold]
fn several_explanations<'a>(sentences: impl Iterator<Item = &'a str>) -> Error {
    let list: Vec<String> =
        sentences.enumerate().map(|(index, sentence)| format!("({}) {sentence}", index + 1)).collect();
    Error::new(ErrorKind::Malformed).expecting("damage that can be explained in one way only").finding(format!(
        "{} explanations with different results: {}",
        list.len(),
        list.join("; ")
    ))
}

/// Returns `true` if a serialized text in a string stays damaged.
fn keeps_damage(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.fix.subject == "text" || keeps_damage(&change.inner))
}

fn add_answer(answers: &mut Vec<RepairedText>, answer: RepairedText) {
    if answers.len() < MAX_ANSWERS && answers.iter().all(|known| known.text != answer.text) {
        answers.push(answer);
    }
}

/// Returns the results of the explanations that determine the end of each string, without duplicates.
fn find_exact_repairs(text: &[u8], conditions: RepairConditions<'_>) -> Vec<RepairedText> {
    let mut answers = Vec::new();
    let classes = Classes::from_text(text);
    for measure in cause::list_measures(text) {
        for start in conditions.starts {
            let following = MeasuredReader::new(measure, &classes);
            let Some(reading) = following.read_whole_text(text, *start, 0) else { continue };
            let explanation = cause::explain_measure(measure, text);
            if let Some(answer) = RepairedText::from_reading(text, reading, *start, explanation, conditions) {
                add_answer(&mut answers, answer);
            }
        }
    }
    if conditions.allows_reversals {
        add_undone_repairs(text, conditions, &mut answers);
    }
    answers
}

/// Collects the results of undoing a change of the whole text.
fn add_undone_repairs(text: &[u8], conditions: RepairConditions<'_>, answers: &mut Vec<RepairedText>) {
    reversal::each_undone(text, &mut |undone| {
        let classes = Classes::from_text(&undone.text);
        for measure in cause::list_undone_measures(&undone.text) {
            for start in conditions.starts {
                let following = MeasuredReader::new(measure, &classes);
                let Some(reading) = following.read_whole_text(&undone.text, *start, 0) else { continue };
                let repaired = apply_changes(&undone.text, &reading.changes);
                if repaired != text && (conditions.reads)(&repaired, *start) {
                    let explanation = undone.explanation.clone().and(cause::explain_measure(measure, &undone.text));
                    let mut explanation = explanation.and(reading.restored.into_explanation());
                    explanation.is_guess |= keeps_damage(&reading.changes);
                    let changes = Vec::new();
                    add_answer(
                        answers,
                        RepairedText { text: repaired, explanation, start: *start, changes, is_whole: true },
                    );
                }
            }
        }
    });
}

/// Repairs the text by a search for the ends of strings.
fn search_repair(text: &[u8], conditions: RepairConditions<'_>) -> Result<Option<RepairedText>, Error> {
    let classes = Classes::from_text(text);
    let mut answers = Vec::new();
    for start in conditions.starts {
        for ReplacedText { reading, explanation } in replaced::find_replaced(text, *start, &classes) {
            if let Some(answer) = RepairedText::from_reading(text, reading, *start, explanation, conditions) {
                add_answer(&mut answers, answer);
            }
        }
    }
    if !answers.is_empty() {
        return take_only_answer(&mut answers);
    }
    let mut error = None;
    for start in conditions.starts {
        let repair_with = |fixes: &[Fix], outer: OuterExplanation, explanation: Explanation| {
            let restored = fixes.iter().any(|fix| fix.subject == "visibility");
            // If strings became shorter in the same text, they probably lost NUL bytes, too. Their places are
            // unknown.
            if restored && fixes.iter().any(|fix| matches!(fix.subject, "string" | "key") && fix.new_len < fix.old_len)
            {
                return None;
            }
            // If a nested text became shorter, names in it may have lost their NUL bytes.
            let may_lack = |fix: &Fix| {
                let content = text
                    .get(fix.content_start..fix.content_start.saturating_add(fix.new_len as usize))
                    .unwrap_or_default();
                fix.subject == "string" && fix.new_len < fix.old_len && begins_serialized(content)
            };
            let mut explanation = explanation;
            explanation.is_guess |= fixes.iter().any(may_lack);
            let changes = add_inner_changes(text, fixes, outer, 0);
            let reading =
                MeasuredText { changes, end: text.len(), restored: explain::RestoredNames::with_lost(restored) };
            RepairedText::from_reading(text, reading, *start, explanation, conditions)
        };
        let lengths = search::find_lengths(text, *start, &classes, None);
        let mut is_strong = false;
        for between in cause::list_inexact_measures(text) {
            let Some(fixes) = search::find_lengths_between(text, *start, &classes, between) else { continue };
            if let Some(answer) =
                repair_with(&fixes, OuterExplanation::Between(between), cause::explain_inexact(between, text))
            {
                is_strong = answer.changes.len() >= MIN_FITTING_STRINGS;
                add_answer(&mut answers, answer);
                break;
            }
        }
        match lengths {
            Ok(Some(FoundLengths { fixes, common_step: step })) => {
                let explanation = explain_replaced(&fixes, step);
                if (explanation.is_guess || is_strong) && !answers.is_empty() {
                    continue;
                }
                if let Some(answer) = repair_with(&fixes, OuterExplanation::Step(step), explanation) {
                    add_answer(&mut answers, answer);
                }
            }
            Ok(None) => {}
            Err(search_error) => error = error.or(Some(search_error)),
        }
    }
    match (answers.is_empty(), error) {
        (true, Some(error)) => Err(error),
        _ => take_only_answer(&mut answers),
    }
}

/// Explains strings that grew or shrank by multiples of one number. If there is no such number, the explanation is a
/// guess.
fn explain_replaced(fixes: &[Fix], step: Option<i64>) -> Explanation {
    let lengths = fixes.iter().filter(|fix| fix.subject != "visibility");
    let max_change = lengths.map(|fix| fix.new_len.abs_diff(fix.old_len)).max().unwrap_or(0);
    match step {
        Some(step) if max_change / step.unsigned_abs().max(1) <= MAX_MULTIPLES => explain_step(step, max_change),
        _ => Explanation::new_guess(
            "boundaries",
            "nothing explains the lengths: strings end where the rest can be read, which is a guess",
        ),
    }
}

/// Explains strings that grew or shrank by multiples of this number; `max_change` is the
/// largest change.
fn explain_step(step: i64, max_change: u64) -> Explanation {
    let grew = if step > 0 { "longer" } else { "shorter" };
    let bytes = step.unsigned_abs();
    let times = if max_change == bytes { "" } else { "multiples of " };
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    let sentence = format!("text was replaced in strings, which made them {grew} by {times}{bytes} {unit}");
    Explanation::new("replaced-text", sentence)
}

/// Explanation of the lengths in the text around a serialized text.
#[derive(Clone, Copy)]
enum OuterExplanation {
    /// Strings grew by multiples of this number, if it is known.
    Step(Option<i64>),
    /// Strings counted something between two numbers.
    Between(MeasureRange<'static>),
}

/// Returns the changes of lengths, also those in the serialized texts that are in strings. A replacement in such a
/// text changed its lengths, too.
fn add_inner_changes(text: &[u8], fixes: &[Fix], outer: OuterExplanation, depth: u32) -> Vec<Change> {
    let mut changes = Vec::new();
    for fix in fixes {
        let end = fix.content_start.saturating_add(usize::try_from(fix.new_len).unwrap_or(usize::MAX));
        let content = text.get(fix.content_start..end).unwrap_or_default();
        match fix.subject {
            "visibility" => {
                let (owner, name) = content.split_at(fix.owner.min(content.len()));
                changes.push(Change::replace_name(*fix, names::mangle_name(owner, name)));
            }
            "string"
                if depth < MAX_DEPTH
                    && begins_serialized(content)
                    && is_damaged(content)
                    && !only_looks_serialized(content) =>
            {
                match find_inner_changes(content, outer, depth) {
                    Some(inner) => changes.push(Change::with_inner(*fix, content, inner)),
                    None => {
                        changes.push(Change::fix_length(*fix));
                        changes.push(Change::keep_text(fix.content_start, fix.new_len));
                    }
                }
            }
            _ => changes.push(Change::fix_length(*fix)),
        }
    }
    settle_changes(text, &mut changes);
    changes
}

/// Returns the changes of a damaged text in a string; `None` unless exactly one way exists.
fn find_inner_changes(text: &[u8], outer: OuterExplanation, depth: u32) -> Option<Vec<Change>> {
    let classes = Classes::from_text(text);
    let reads = |changes: &Vec<Change>| !changes.is_empty() && !is_damaged(&apply_changes(text, changes));
    let step = match outer {
        OuterExplanation::Step(step) => step,
        OuterExplanation::Between(between) => {
            let fixes = search::find_lengths_between(text, Start::Value, &classes, between);
            if let Some(changes) = fixes.map(|fixes| add_inner_changes(text, &fixes, outer, depth + 1)).filter(reads) {
                return Some(changes);
            }
            None
        }
    };
    let lengths = search::find_lengths(text, Start::Value, &classes, step).ok().flatten();
    if let Some(FoundLengths { fixes, common_step: step }) = lengths {
        return Some(add_inner_changes(text, &fixes, OuterExplanation::Step(step), depth + 1)).filter(reads);
    }
    let read_measured = |measure: Measure<'static>| {
        let reading = MeasuredReader::new(measure, &classes).read_text(text, Start::Value, depth + 1)?;
        (reading.end == text.len()).then_some(reading.changes).filter(reads)
    };
    let mut changes = cause::list_measures(text).into_iter().filter_map(read_measured);
    let first = changes.next()?;
    let changed = apply_changes(text, &first);
    changes.all(|other| apply_changes(text, &other) == changed).then_some(first)
}
