//! The position of the next possible change in a text.

use super::Change;
use std::cell::Cell;

/// Remembers where the next possible change of a text is. The strings of a text are asked for in order, so a long
/// text with many short strings is searched only once.
pub(super) struct ChangeLookahead<'a> {
    change: &'a dyn Change,
    text: &'a [u8],
    /// The start of the last search, and the position that it found.
    known: Cell<Option<(usize, Option<usize>)>>,
    /// The end of the last string with a possible change. Possible changes before it were asked for, unless
    /// `has_change_outside` is set.
    examined_to: Cell<usize>,
    /// Whether a possible change is between the strings that were asked for.
    has_change_outside: Cell<bool>,
}

impl<'a> ChangeLookahead<'a> {
    pub(super) fn new(change: &'a dyn Change, text: &'a [u8]) -> ChangeLookahead<'a> {
        ChangeLookahead {
            change,
            text,
            known: Cell::new(None),
            examined_to: Cell::new(0),
            has_change_outside: Cell::new(false),
        }
    }

    /// Returns `true` if a change may be between these offsets.
    pub(super) fn may_change_within(&self, start: usize, end: usize) -> bool {
        let fitting = |(from, next): &(usize, Option<usize>)| *from <= start && next.is_none_or(|next| start <= next);
        let (_, next) = self.known.get().filter(fitting).unwrap_or_else(|| {
            let known = (start, self.find_from(start));
            self.known.set(Some(known));
            known
        });
        let may_change = next.is_some_and(|next| next < end);
        if may_change {
            self.examined_to.set(self.examined_to.get().max(end));
        }
        may_change
    }

    /// Returns `true` if a change may be outside of the strings that were asked for.
    pub(super) fn may_change_outside(&self) -> bool {
        let examined_to = self.examined_to.get();
        self.has_change_outside.get() || self.change.next_change(self.text, examined_to).is_some()
    }

    /// Returns the position of the next possible change from `start` on. Notes whether one was passed.
    fn find_from(&self, start: usize) -> Option<usize> {
        let examined_to = self.examined_to.get();
        if !self.has_change_outside.get() && examined_to < start {
            let next = self.change.next_change(self.text, examined_to);
            if next.is_none_or(|next| start <= next) {
                return next;
            }
            self.has_change_outside.set(true);
        }
        self.change.next_change(self.text, start)
    }
}
