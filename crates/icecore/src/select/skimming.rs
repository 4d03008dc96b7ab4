//! Follows a pattern over the bytes of a document, without building values that it does not name.
//!
//! A map may have a key twice; the last one counts. A value under a key is therefore only an answer after the rest of
//! the map was skimmed; if several answers may come, the map is skimmed first. A list is not examined after the last
//! wanted item.

use super::Receive;
use super::pattern::{Pattern, Wanted, What, bounds, position};
use crate::document::{Document, Kind, Node, Step, push_key, push_name, rank};
use crate::error::Error;
use crate::format::skim::{KeyOf, Mark, Opened, Shape, Skim, Unsure};
use crate::limits::Limits;
use std::fmt::Write;

/// Maximum number of steps: each takes space on the stack.
const STEPS: usize = 64;

/// Reason why skimming stops.
enum Stop {
    Unsure,
    /// All wanted values were found.
    Done,
    /// The receiver does not want more.
    Refused(Error),
}

impl From<Unsure> for Stop {
    fn from(_: Unsure) -> Stop {
        Stop::Unsure
    }
}

/// How skimming ended, with the number of answers that were passed on.
pub(super) enum End {
    /// These are all answers.
    All(u64),
    /// There may be more: everything must be read.
    Unsure(u64),
}

struct Walk<'w, 'p, 'r> {
    skim: &'w mut dyn Skim,
    steps: &'p [Wanted],
    limits: &'p Limits,
    then: Receive<'r>,
    path: String,
    /// Number of maps in which an answer is held back, because a later entry may replace it.
    holds: u32,
    held: Option<(String, Mark)>,
    handed: u64,
    /// Whether a step may mean several keys of a map.
    is_ambiguous: bool,
}

/// Follows the pattern; the answers are passed on in order.
pub(super) fn run(skim: &mut dyn Skim, pattern: &Pattern, limits: &Limits, then: Receive<'_>) -> Result<End, Error> {
    let is_known = |wanted: &Wanted| {
        let is_plain = match &wanted.what {
            What::One(Step::Key(name)) => !name.contains('…'),
            What::One(Step::Item(_)) | What::Slice(..) | What::All => true,
            What::One(_) => false,
        };
        is_plain && !wanted.is_deep
    };
    if pattern.steps.len() > STEPS || !pattern.steps.iter().all(is_known) {
        return Ok(End::Unsure(0));
    }
    let mut walk = Walk {
        skim,
        steps: &pattern.steps,
        limits,
        then,
        path: "$".to_owned(),
        holds: 0,
        held: None,
        handed: 0,
        is_ambiguous: false,
    };
    let end = walk.all();
    let handed = walk.handed;
    Ok(match end {
        Err(Stop::Refused(error)) => return Err(error),
        Err(Stop::Unsure) => End::Unsure(handed),
        // Two keys may look alike: reading everything tries both.
        Ok(()) | Err(Stop::Done) if walk.is_ambiguous && handed == 0 => End::Unsure(0),
        Ok(()) | Err(Stop::Done) => End::All(handed),
    })
}

impl Walk<'_, '_, '_> {
    fn all(&mut self) -> Result<(), Stop> {
        self.skim.start()?;
        self.visit(0)?;
        if self.skim.is_at_end() { Ok(()) } else { Err(Stop::Unsure) }
    }

    /// Whether the steps from this one on match at most one value.
    fn is_definite(&self, step: usize) -> bool {
        self.steps.get(step..).is_none_or(|steps| steps.iter().all(Wanted::is_definite))
    }

    /// Follows the steps from this one on, from the next value, and moves past that value.
    fn visit(&mut self, step: usize) -> Result<(), Stop> {
        let steps = self.steps;
        let Some(wanted) = steps.get(step) else { return self.answer() };
        let mut open = self.skim.open()?;
        match (&wanted.what, open.shape) {
            (_, Shape::Leaf) => Ok(self.skim.skip()?),
            (What::One(Step::Key(name)), Shape::Map | Shape::Either) => self.entry(&mut open, step, Some(name), 0),
            (What::One(Step::Item(number)), Shape::Map) => self.entry(&mut open, step, None, *number),
            (What::One(Step::Item(number)), Shape::List) => self.item(&mut open, step, *number),
            (What::One(Step::Item(number)), Shape::Either) => {
                // For 0 and above, a key and a position mean the same.
                match *number < 0 && self.is_list(open)? {
                    true => self.item(&mut open, step, *number),
                    false => self.entry(&mut open, step, None, *number),
                }
            }
            (What::Slice(from, to), Shape::List) => self.slice(&mut open, step, (*from, *to)),
            (What::Slice(from, to), Shape::Either) if self.is_list(open)? => self.slice(&mut open, step, (*from, *to)),
            (What::All, _) => self.every(&mut open, step),
            _ => self.leave(&mut open),
        }
    }

    /// Skips the rest of a container.
    fn leave(&mut self, open: &mut Opened) -> Result<(), Stop> {
        while self.skim.next(open)?.is_some() {
            self.skim.skip()?;
        }
        Ok(())
    }

    /// Counts the items of an opened container, and returns to its beginning.
    fn count(&mut self, open: Opened) -> Result<u64, Stop> {
        if let Some(count) = open.count {
            return Ok(count);
        }
        let (mark, mut all) = (self.skim.mark(), open);
        self.leave(&mut all)?;
        self.skim.back(mark);
        Ok(all.read)
    }

    /// Returns `true` if the keys of an opened container are 0, 1, 2 and so on; returns to its beginning.
    fn is_list(&mut self, open: Opened) -> Result<bool, Stop> {
        let (mark, mut all) = (self.skim.mark(), open);
        let mut is_list = true;
        let mut position = 0;
        while let Some(key) = self.skim.next(&mut all)? {
            is_list &= key == KeyOf::Int(position);
            position += 1;
            self.skim.skip()?;
        }
        self.skim.back(mark);
        Ok(is_list)
    }

    /// Follows a step to a part, and continues from there.
    fn follow(&mut self, step: usize, text: impl FnOnce(&mut String)) -> Result<(), Stop> {
        let len = self.path.len();
        text(&mut self.path);
        let end = self.visit(step + 1);
        self.path.truncate(len);
        end
    }

    fn item(&mut self, open: &mut Opened, step: usize, number: i64) -> Result<(), Stop> {
        let at = match number < 0 {
            true => position(number, self.count(*open)?),
            false => Some(number.unsigned_abs()),
        };
        let Some(at) = at.filter(|at| open.count.is_none_or(|count| *at < count)) else { return self.leave(open) };
        if !self.skim.skip_items(open, at)? || self.skim.next(open)?.is_none() {
            return Ok(());
        }
        self.follow(step, |path| push_item(path, at))?;
        self.is_enough(step)?;
        self.leave(open)
    }

    fn slice(&mut self, open: &mut Opened, step: usize, (from, to): (Option<i64>, Option<i64>)) -> Result<(), Stop> {
        let counts = [from, to].into_iter().flatten().any(|bound| bound < 0);
        let count = if counts { self.count(*open)? } else { open.count.unwrap_or(u64::MAX) };
        let (from, to) = bounds(from, to, count);
        let mut at = 0;
        while at < to {
            if self.skim.next(open)?.is_none() {
                return Ok(());
            }
            match at < from {
                true => self.skim.skip()?,
                false => self.follow(step, |path| push_item(path, at))?,
            }
            at += 1;
        }
        self.is_enough(step)?;
        self.leave(open)
    }

    /// Stops if nothing after this can match.
    fn is_enough(&self, step: usize) -> Result<(), Stop> {
        let is_one = self.steps.get(..step).is_none_or(|before| before.iter().all(Wanted::is_definite));
        if is_one && self.holds == 0 { Err(Stop::Done) } else { Ok(()) }
    }

    /// Visits all items, or all values of a map.
    fn every(&mut self, open: &mut Opened, step: usize) -> Result<(), Stop> {
        let mut position = 0;
        while let Some(key) = self.skim.next(open)? {
            let len = self.path.len();
            let is_shown = match key {
                KeyOf::Int(number) => push_name(&mut self.path, &Node::int(number), &[], usize::MAX),
                KeyOf::Text => push_name(&mut self.path, &Node::leaf(Kind::Bytes, 0), self.skim.key(), usize::MAX),
                KeyOf::Item => write!(self.path, "[{position}]").ok(),
                KeyOf::Other => None,
            };
            if is_shown.is_none() {
                let _ = write!(self.path, "{{{position}}}");
            }
            let end = self.visit(step + 1);
            self.path.truncate(len);
            end?;
            position += 1;
        }
        Ok(())
    }

    /// Visits the entry with this name, or else this number: the last one with the best match.
    fn entry(&mut self, open: &mut Opened, step: usize, name: Option<&str>, number: i64) -> Result<(), Stop> {
        let show = |path: &mut String| match name {
            Some(name) => push_key(path, name),
            None => {
                let _ = write!(path, "[{number}]");
            }
        };
        let is_one = self.is_definite(step + 1);
        let mut best: Option<(u8, Mark)> = None;
        while let Some(fits) = self.next_fit(open, name, number)? {
            self.is_ambiguous |= best.is_some();
            if best.is_some_and(|(known, _)| known < fits) {
                self.skim.skip()?;
                continue;
            }
            best = Some((fits, self.skim.mark()));
            if is_one {
                self.held = None;
                self.holds += 1;
                let end = self.follow(step, show);
                self.holds -= 1;
                end?;
            } else {
                self.skim.skip()?;
            }
        }
        if is_one {
            return self.pass();
        }
        let Some((_, mark)) = best else { return Ok(()) };
        let behind = self.skim.mark();
        self.skim.back(mark);
        self.follow(step, show)?;
        self.skim.back(behind);
        Ok(())
    }

    /// Moves to the next entry with this name, or else this number; returns how well it matches.
    fn next_fit(&mut self, open: &mut Opened, name: Option<&str>, number: i64) -> Result<Option<u8>, Stop> {
        let Some(name) = name else { return Ok(self.skim.find_int(open, number)?.then_some(0)) };
        while let Some(key) = self.skim.next(open)? {
            if key == KeyOf::Text
                && let Some(fits) = rank(self.skim.key(), name)
            {
                return Ok(Some(fits));
            }
            self.skim.skip()?;
        }
        Ok(None)
    }

    /// Handles the next value as an answer.
    fn answer(&mut self) -> Result<(), Stop> {
        if self.holds == 0 {
            let document = self.take()?;
            return self.hand_over(&document);
        }
        self.held = Some((self.path.clone(), self.skim.mark()));
        Ok(self.skim.skip()?)
    }

    fn take(&mut self) -> Result<Document<'static>, Stop> {
        let mut document = self.skim.take(self.limits)?;
        document.tape_mut().clear_place();
        Ok(document)
    }

    /// Passes on the answer that was held back, if no later entry can replace it.
    fn pass(&mut self) -> Result<(), Stop> {
        if self.holds > 0 {
            return Ok(());
        }
        let Some((path, mark)) = self.held.take() else { return Ok(()) };
        let behind = self.skim.mark();
        self.skim.back(mark);
        let document = self.take()?;
        self.skim.back(behind);
        let around = std::mem::replace(&mut self.path, path);
        let end = self.hand_over(&document);
        self.path = around;
        end
    }

    fn hand_over(&mut self, document: &Document<'_>) -> Result<(), Stop> {
        (self.then)(&self.path, document).map_err(Stop::Refused)?;
        self.handed += 1;
        Ok(())
    }
}

fn push_item(path: &mut String, at: u64) {
    let _ = write!(path, "[{at}]");
}
