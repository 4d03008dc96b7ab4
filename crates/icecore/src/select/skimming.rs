//! Follows a pattern over the bytes of a document, without building values that it does not name.
//!
//! A map may have a key twice. The last entry counts, so the value of a key is an answer only after the rest of the
//! map was skimmed. If the pattern may match several values in it, the map is skimmed first, and then the value is
//! visited. A list is not examined after the last wanted item.

use super::ReceiveAnswer;
use super::pattern::{Pattern, PatternStep, StepKind, item_position, slice_bounds};
use crate::document::{Document, Kind, Node, Step, match_rank, push_key, push_key_step};
use crate::error::Error;
use crate::format::skim::{Mark, Skim, SkimAborted, SkimmedContainer, SkimmedKey, SkimmedKind};
use crate::limits::Limits;
use std::fmt::Write;

/// Maximum number of steps. It is limited because each step takes space on the stack.
const MAX_STEPS: usize = 64;

/// Reason why skimming stops.
enum SkimStop {
    /// The answers can't be found by skimming, so everything must be read.
    Unsure,
    /// All wanted values were found.
    Done,
    /// The receiver of the answers returned this error.
    Refused(Error),
}

impl From<SkimAborted> for SkimStop {
    fn from(_: SkimAborted) -> SkimStop {
        SkimStop::Unsure
    }
}

/// How skimming ended, with the number of answers that were passed on.
pub(super) enum SkimEnd {
    /// These are all answers.
    Complete(u64),
    /// There may be more: everything must be read.
    Unsure(u64),
}

/// A walk over the bytes of a document along a pattern.
struct PatternWalk<'w, 'p, 'r> {
    skim: &'w mut dyn Skim,
    steps: &'p [PatternStep],
    limits: &'p Limits,
    receive: ReceiveAnswer<'r>,
    path: String,
    /// Number of enclosing maps in which a later entry may still replace the answer. Above 0, an answer is held back.
    hold_count: u32,
    /// The answer that is held back: its path and its position.
    held_answer: Option<(String, Mark)>,
    answer_count: u64,
    /// Whether several keys of a map match one step.
    is_ambiguous: bool,
}

/// Follows the pattern; the answers are passed on in order.
pub(super) fn skim_pattern(
    skim: &mut dyn Skim,
    pattern: &Pattern,
    limits: &Limits,
    receive: ReceiveAnswer<'_>,
) -> Result<SkimEnd, Error> {
    let is_known = |wanted: &PatternStep| {
        let is_plain = match &wanted.kind {
            StepKind::One(Step::Key(name)) => !name.contains('…'),
            StepKind::One(Step::Item(_)) | StepKind::Slice(..) | StepKind::All => true,
            StepKind::One(_) => false,
        };
        is_plain && !wanted.is_deep
    };
    if pattern.steps.len() > MAX_STEPS || !pattern.steps.iter().all(is_known) {
        return Ok(SkimEnd::Unsure(0));
    }
    let mut walk = PatternWalk {
        skim,
        steps: &pattern.steps,
        limits,
        receive,
        path: "$".to_owned(),
        hold_count: 0,
        held_answer: None,
        answer_count: 0,
        is_ambiguous: false,
    };
    let end = walk.visit_root();
    let answer_count = walk.answer_count;
    Ok(match end {
        Err(SkimStop::Refused(error)) => return Err(error),
        Err(SkimStop::Unsure) => SkimEnd::Unsure(answer_count),
        // Several keys matched one step, and only the last one was followed. Reading everything follows each of them.
        Ok(()) | Err(SkimStop::Done) if walk.is_ambiguous && answer_count == 0 => SkimEnd::Unsure(0),
        Ok(()) | Err(SkimStop::Done) => SkimEnd::Complete(answer_count),
    })
}

impl PatternWalk<'_, '_, '_> {
    fn visit_root(&mut self) -> Result<(), SkimStop> {
        self.skim.enter_root()?;
        self.visit_value(0)?;
        if self.skim.is_at_end() { Ok(()) } else { Err(SkimStop::Unsure) }
    }

    /// Returns `true` if the steps from this one on match at most one value.
    fn is_definite(&self, step: usize) -> bool {
        self.steps.get(step..).is_none_or(|steps| steps.iter().all(PatternStep::is_definite))
    }

    /// Follows the steps from this one on, from the next value, and moves past that value.
    fn visit_value(&mut self, step: usize) -> Result<(), SkimStop> {
        let steps = self.steps;
        let Some(wanted) = steps.get(step) else { return self.handle_answer() };
        let mut open = self.skim.enter_value()?;
        match (&wanted.kind, open.kind) {
            (_, SkimmedKind::Leaf) => Ok(self.skim.skip_value()?),
            (StepKind::One(Step::Key(name)), SkimmedKind::Map | SkimmedKind::Either) => {
                self.visit_entry(&mut open, step, Some(name), 0)
            }
            (StepKind::One(Step::Item(number)), SkimmedKind::Map) => self.visit_entry(&mut open, step, None, *number),
            (StepKind::One(Step::Item(number)), SkimmedKind::List) => self.visit_item(&mut open, step, *number),
            (StepKind::One(Step::Item(number)), SkimmedKind::Either) => {
                // A number of 0 or more means the same entry as a key and as a position. A negative number counts
                // from the end if the keys are those of a list. Otherwise it is a key.
                match *number < 0 && self.has_list_keys(open)? {
                    true => self.visit_item(&mut open, step, *number),
                    false => self.visit_entry(&mut open, step, None, *number),
                }
            }
            (StepKind::Slice(from, to), SkimmedKind::List) => self.visit_slice(&mut open, step, (*from, *to)),
            (StepKind::Slice(from, to), SkimmedKind::Either) if self.has_list_keys(open)? => {
                self.visit_slice(&mut open, step, (*from, *to))
            }
            (StepKind::All, _) => self.visit_all(&mut open, step),
            _ => self.leave_container(&mut open),
        }
    }

    /// Skips the rest of a container.
    fn leave_container(&mut self, open: &mut SkimmedContainer) -> Result<(), SkimStop> {
        while self.skim.next_value(open)?.is_some() {
            self.skim.skip_value()?;
        }
        Ok(())
    }

    /// Counts the items of an opened container, and returns to its beginning.
    fn count_items(&mut self, open: SkimmedContainer) -> Result<u64, SkimStop> {
        if let Some(count) = open.count {
            return Ok(count);
        }
        let (mark, mut all) = (self.skim.mark_position(), open);
        self.leave_container(&mut all)?;
        self.skim.return_to(mark);
        Ok(all.read)
    }

    /// Returns `true` if the keys of an opened container are 0, 1, 2 and so on; returns to its beginning.
    fn has_list_keys(&mut self, open: SkimmedContainer) -> Result<bool, SkimStop> {
        let (mark, mut all) = (self.skim.mark_position(), open);
        let mut is_list = true;
        let mut position = 0;
        while let Some(key) = self.skim.next_value(&mut all)? {
            is_list &= key == SkimmedKey::Int(position);
            position += 1;
            self.skim.skip_value()?;
        }
        self.skim.return_to(mark);
        Ok(is_list)
    }

    /// Follows a step to a part, and continues from there.
    fn follow_step(&mut self, step: usize, text: impl FnOnce(&mut String)) -> Result<(), SkimStop> {
        let len = self.path.len();
        text(&mut self.path);
        let end = self.visit_value(step + 1);
        self.path.truncate(len);
        end
    }

    fn visit_item(&mut self, open: &mut SkimmedContainer, step: usize, number: i64) -> Result<(), SkimStop> {
        let index = match number < 0 {
            true => item_position(number, self.count_items(*open)?),
            false => Some(number.unsigned_abs()),
        };
        let Some(index) = index.filter(|index| open.count.is_none_or(|count| *index < count)) else {
            return self.leave_container(open);
        };
        if !self.skim.skip_items(open, index)? || self.skim.next_value(open)?.is_none() {
            return Ok(());
        }
        self.follow_step(step, |path| push_item_step(path, index))?;
        self.stop_if_done(step)?;
        self.leave_container(open)
    }

    fn visit_slice(
        &mut self,
        open: &mut SkimmedContainer,
        step: usize,
        (from, to): (Option<i64>, Option<i64>),
    ) -> Result<(), SkimStop> {
        // A negative bound counts from the end, so the number of items must be known first.
        let counts_from_end = [from, to].into_iter().flatten().any(|bound| bound < 0);
        let count = if counts_from_end { self.count_items(*open)? } else { open.count.unwrap_or(u64::MAX) };
        let (from, to) = slice_bounds(from, to, count);
        let mut index = 0;
        while index < to {
            if self.skim.next_value(open)?.is_none() {
                return Ok(());
            }
            match index < from {
                true => self.skim.skip_value()?,
                false => self.follow_step(step, |path| push_item_step(path, index))?,
            }
            index += 1;
        }
        self.stop_if_done(step)?;
        self.leave_container(open)
    }

    /// Stops if nothing after this value can match. If an earlier step matches several values, or an answer is held
    /// back, the rest must be skimmed.
    fn stop_if_done(&self, step: usize) -> Result<(), SkimStop> {
        let is_one = self.steps.get(..step).is_none_or(|preceding| preceding.iter().all(PatternStep::is_definite));
        if is_one && self.hold_count == 0 { Err(SkimStop::Done) } else { Ok(()) }
    }

    /// Visits all items, or all values of a map.
    fn visit_all(&mut self, open: &mut SkimmedContainer, step: usize) -> Result<(), SkimStop> {
        let mut position = 0;
        while let Some(key) = self.skim.next_value(open)? {
            let len = self.path.len();
            let is_shown = match key {
                SkimmedKey::Int(number) => push_key_step(&mut self.path, &Node::int(number), &[], usize::MAX),
                SkimmedKey::Text => {
                    push_key_step(&mut self.path, &Node::leaf(Kind::Bytes, 0), self.skim.current_key(), usize::MAX)
                }
                SkimmedKey::Item => write!(self.path, "[{position}]").ok(),
                SkimmedKey::Other => None,
            };
            if is_shown.is_none() {
                let _ = write!(self.path, "{{{position}}}");
            }
            let end = self.visit_value(step + 1);
            self.path.truncate(len);
            end?;
            position += 1;
        }
        Ok(())
    }

    /// Visits the entry with this name, or without a name, the entry with this number. If several entries match, it
    /// is the last one of those that match best.
    fn visit_entry(
        &mut self,
        open: &mut SkimmedContainer,
        step: usize,
        name: Option<&str>,
        number: i64,
    ) -> Result<(), SkimStop> {
        let show = |path: &mut String| match name {
            Some(name) => push_key(path, name),
            None => {
                let _ = write!(path, "[{number}]");
            }
        };
        let is_one = self.is_definite(step + 1);
        let mut best: Option<(u8, Mark)> = None;
        while let Some(fits) = self.next_matching_entry(open, name, number)? {
            self.is_ambiguous |= best.is_some();
            // A lower rank is a better match. At an equal rank, this later entry replaces the earlier one.
            if best.is_some_and(|(known, _)| known < fits) {
                self.skim.skip_value()?;
                continue;
            }
            best = Some((fits, self.skim.mark_position()));
            if is_one {
                // An answer in the earlier entry is void, even if this one does not contain an answer.
                self.held_answer = None;
                self.hold_count += 1;
                let end = self.follow_step(step, show);
                self.hold_count -= 1;
                end?;
            } else {
                self.skim.skip_value()?;
            }
        }
        if is_one {
            return self.release_held_answer();
        }
        let Some((_, mark)) = best else { return Ok(()) };
        let resume_mark = self.skim.mark_position();
        self.skim.return_to(mark);
        self.follow_step(step, show)?;
        self.skim.return_to(resume_mark);
        Ok(())
    }

    /// Moves to the next entry with this name, or without a name, with this number. Returns how well it matches; 0 is
    /// best.
    fn next_matching_entry(
        &mut self,
        open: &mut SkimmedContainer,
        name: Option<&str>,
        number: i64,
    ) -> Result<Option<u8>, SkimStop> {
        let Some(name) = name else { return Ok(self.skim.find_int(open, number)?.then_some(0)) };
        while let Some(key) = self.skim.next_value(open)? {
            if key == SkimmedKey::Text
                && let Some(fits) = match_rank(self.skim.current_key(), name)
            {
                return Ok(Some(fits));
            }
            self.skim.skip_value()?;
        }
        Ok(None)
    }

    /// Handles the next value as an answer.
    fn handle_answer(&mut self) -> Result<(), SkimStop> {
        if self.hold_count == 0 {
            let document = self.take_answer()?;
            return self.hand_over_answer(&document);
        }
        self.held_answer = Some((self.path.clone(), self.skim.mark_position()));
        Ok(self.skim.skip_value()?)
    }

    fn take_answer(&mut self) -> Result<Document<'static>, SkimStop> {
        let mut document = self.skim.read_value(self.limits)?;
        document.tape_mut().clear_place();
        Ok(document)
    }

    /// Passes on the answer that was held back, if no later entry can replace it.
    fn release_held_answer(&mut self) -> Result<(), SkimStop> {
        if self.hold_count > 0 {
            return Ok(());
        }
        let Some((path, mark)) = self.held_answer.take() else { return Ok(()) };
        let resume_mark = self.skim.mark_position();
        self.skim.return_to(mark);
        let document = self.take_answer()?;
        self.skim.return_to(resume_mark);
        let outer_path = std::mem::replace(&mut self.path, path);
        let end = self.hand_over_answer(&document);
        self.path = outer_path;
        end
    }

    fn hand_over_answer(&mut self, document: &Document<'_>) -> Result<(), SkimStop> {
        (self.receive)(&self.path, document).map_err(SkimStop::Refused)?;
        self.answer_count += 1;
        Ok(())
    }
}

fn push_item_step(path: &mut String, index: u64) {
    let _ = write!(path, "[{index}]");
}
