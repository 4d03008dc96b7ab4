//! Detects servers whose paged lists never end.
//!
//! A list may be of any length, as long as its pages bring something new. An honest server that searches a large
//! table for a few keys sends millions of empty pages. But a server that sends the same cursor or the same entry
//! again and again is in a loop and would never end.

use std::hash::{BuildHasher, RandomState};

/// Maximum number of consecutive empty pages. Redis has at most 2^32 keys, and with about a thousand keys for each
/// page this number of pages covers all of them.
const MAX_EMPTY_PAGES: u64 = 1 << 22;
/// Maximum number of pages with a repeated entry or cursor. An honest server that resizes its table sends some entries
/// twice.
const MAX_REPEATED_PAGES: u32 = 100;

/// State of a listing, to find out whether a server repeats itself. One entry and one cursor are remembered, and
/// replaced each time the number of pages has doubled (Brent's algorithm). So the state has only a few bytes.
pub(super) struct Progress {
    hasher: RandomState,
    pages: u64,
    /// Number of pages at which the remembered values are replaced.
    renewal: u64,
    /// Number of consecutive empty pages so far.
    empty: u64,
    cursor: RepeatCounter,
    entry: RepeatCounter,
    /// Whether the current page has no entries so far.
    is_empty: bool,
    /// Whether the current page contains the remembered entry.
    is_repeated: bool,
}

/// A hash, and on how many pages it was seen again.
#[derive(Default)]
struct RepeatCounter {
    hash: Option<u64>,
    repeats: u32,
}

impl RepeatCounter {
    /// Counts a page, and returns false if too many pages had the remembered value.
    fn count_repeat(&mut self, is_repeated: bool) -> bool {
        self.repeats += u32::from(is_repeated);
        self.repeats <= MAX_REPEATED_PAGES
    }
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress {
            hasher: RandomState::new(),
            pages: 0,
            renewal: 1,
            empty: 0,
            cursor: RepeatCounter::default(),
            entry: RepeatCounter::default(),
            is_empty: true,
            is_repeated: false,
        }
    }

    /// Adds an entry of the current page.
    pub(super) fn add_entry(&mut self, entry: &[u8]) {
        let hash = self.hasher.hash_one(entry);
        self.is_empty = false;
        match self.entry.hash {
            Some(remembered) => self.is_repeated |= remembered == hash,
            None => self.entry.hash = Some(hash),
        }
    }

    /// Ends a page with this cursor. Returns whether the next page may be requested.
    #[must_use]
    pub(super) fn end_page(&mut self, cursor: &[u8]) -> bool {
        let hash = self.hasher.hash_one(cursor);
        self.pages += 1;
        self.empty = if std::mem::replace(&mut self.is_empty, true) { self.empty + 1 } else { 0 };
        let is_repeated = std::mem::take(&mut self.is_repeated);
        let may_continue = self.entry.count_repeat(is_repeated)
            & self.cursor.count_repeat(self.cursor.hash == Some(hash))
            & (self.empty <= MAX_EMPTY_PAGES);
        if self.pages == self.renewal {
            self.renewal *= 2;
            self.cursor = RepeatCounter { hash: Some(hash), repeats: 0 };
            // The next entry is remembered.
            self.entry = RepeatCounter::default();
        }
        may_continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many pages are read from a server that sends these cursors and entries.
    fn pages(max_pages: u64, cursor: impl Fn(u64) -> u64, entry: impl Fn(u64) -> Option<u64>) -> u64 {
        let mut progress = Progress::new();
        for page in 0..max_pages {
            if let Some(entry) = entry(page) {
                progress.add_entry(&entry.to_le_bytes());
            }
            if !progress.end_page(&cursor(page).to_le_bytes()) {
                return page;
            }
        }
        max_pages
    }

    #[test]
    fn repeating_servers_are_stopped() {
        for round in [1, 2, 3, 7, 100, 1000] {
            let max_pages = 1000 * round + 1000;
            assert!(pages(max_pages, |page| page, |page| Some(page % round)) < max_pages, "entries, {round}");
            assert!(pages(max_pages, |page| page % round, |_| None) < max_pages, "cursors, {round}");
        }
        // The list repeats itself after a long start.
        assert!(pages(100_000, |page| page, |page| Some(page.min(10_000))) < 100_000);
        assert_eq!(pages(MAX_EMPTY_PAGES + 10, |page| page, |_| None), MAX_EMPTY_PAGES);
    }

    #[test]
    fn honest_servers_are_not_stopped() {
        let max_pages = 200_000;
        assert_eq!(pages(max_pages, |page| page, Some), max_pages);
        // First a table with few matches, then one that is resized, so that entries are sent twice.
        assert_eq!(pages(max_pages, |page| page, |page| page.is_multiple_of(50_000).then_some(page)), max_pages);
        assert_eq!(pages(max_pages, |page| page, |page| Some(page / 2)), max_pages);
        assert_eq!(pages(max_pages, |page| page, |page| Some(page % (max_pages / 2))), max_pages);
    }
}
