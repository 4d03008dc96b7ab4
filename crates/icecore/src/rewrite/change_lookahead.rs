//! The position of the next possible change in a text.

use super::Change;
use std::cell::Cell;

/// Remembers where the next possible change of a text is. The strings of a text are asked for in order, so a long
/// text with many short strings is searched only once.
pub(super) struct ChangeLookahead<'a> {
    change: &'a dyn Change,
    text: &'a [u8],
    /// The position of the next possible change; `None` if it must be searched for from `searched_to` on.
    next: Cell<Option<Option<usize>>>,
    /// The end of the part that was searched. Every possible change before it is in a string that was asked for, or
    /// outside of all of them.
    searched_to: Cell<usize>,
    /// The start of the last search, and the position that it found.
    last_search: Cell<Option<(usize, Option<usize>)>>,
    /// Whether a possible change is outside of the strings that were asked for.
    has_change_outside: Cell<bool>,
}

impl<'a> ChangeLookahead<'a> {
    pub(super) fn new(change: &'a dyn Change, text: &'a [u8]) -> ChangeLookahead<'a> {
        ChangeLookahead {
            change,
            text,
            next: Cell::new(None),
            searched_to: Cell::new(0),
            last_search: Cell::new(None),
            has_change_outside: Cell::new(false),
        }
    }

    /// Returns the position of the next possible change in the part that was not searched.
    fn next_change(&self) -> Option<usize> {
        self.next.get().unwrap_or_else(|| {
            let from = self.searched_to.get();
            let next = self.change.next_change(self.text, from);
            self.next.set(Some(next));
            self.last_search.set(Some((from, next)));
            next
        })
    }

    /// Returns `true` if a change may be between these offsets.
    pub(super) fn may_change_within(&self, start: usize, end: usize) -> bool {
        if start < self.searched_to.get() {
            // A string inside of another one, or a second reader that asks again from the beginning.
            return self.search_again(start).is_some_and(|next| next < end);
        }
        if self.next_change().is_some_and(|next| next < start) {
            self.has_change_outside.set(true);
            self.searched_to.set(start);
            self.next.set(None);
        }
        let may_change = self.next_change().is_some_and(|next| next < end);
        if may_change {
            self.searched_to.set(end);
            self.next.set(None);
        }
        may_change
    }

    /// Returns the position of the next possible change in the part that was searched before.
    fn search_again(&self, start: usize) -> Option<usize> {
        let is_known = |(from, next): &(usize, Option<usize>)| *from <= start && next.is_none_or(|next| start <= next);
        let (_, next) = self.last_search.get().filter(is_known).unwrap_or_else(|| {
            let search = (start, self.change.next_change(self.text, start));
            self.last_search.set(Some(search));
            search
        });
        next
    }

    /// Returns `true` if a change may be outside of the strings that were asked for.
    pub(super) fn may_change_outside(&self) -> bool {
        self.has_change_outside.get() || self.next_change().is_some()
    }
}
