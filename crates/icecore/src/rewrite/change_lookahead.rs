//! The position of the next possible change in a text.

use super::Change;
use std::cell::Cell;

/// Remembers where the next possible change of a text is. The strings of a text are asked for in order, so a long
/// text with many short strings is searched only once.
pub(super) struct ChangeLookahead<'a> {
    change: &'a dyn Change,
    text: &'a [u8],
    /// The start of the last search, and the position that it found.
    last_search: Cell<Option<(usize, Option<usize>)>>,
}

impl<'a> ChangeLookahead<'a> {
    pub(super) fn new(change: &'a dyn Change, text: &'a [u8]) -> ChangeLookahead<'a> {
        ChangeLookahead { change, text, last_search: Cell::new(None) }
    }

    /// Returns `true` if a change may be between these offsets.
    pub(super) fn may_change_within(&self, start: usize, end: usize) -> bool {
        let fitting = |(from, next): &(usize, Option<usize>)| *from <= start && next.is_none_or(|next| start <= next);
        let (_, next) = self.last_search.get().filter(fitting).unwrap_or_else(|| {
            let known = (start, self.change.next_change(self.text, start));
            self.last_search.set(Some(known));
            known
        });
        next.is_some_and(|next| next < end)
    }
}
