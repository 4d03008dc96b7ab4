//! A quick check of bytes that may be escaped several times.
//!
//! Escaping puts backslashes before quotes, backslashes and slashes, doubles quotes, and writes control characters as
//! letters. The core of a searched text is its longest part without such bytes. The core is unchanged in the raw
//! bytes, unless an escape represents a letter. Such escapes are `\u006f`, `\x6f`, `\157`, `\6f`, and a backslash
//! before a letter that needs none. So raw bytes without a core and without such an escape do not have a match.

use crate::pair::{Pair, Spelling};
use aho_corasick::AhoCorasick;
use icecore::raw::find_byte;
use memchr::memmem;
use std::ops::Range;

/// Minimum number of bytes that one search for escapes covers.
const ESCAPE_WINDOW: usize = 1024;

/// Number of bytes after a backslash that can be necessary to decide whether the escape represents a letter.
const ESCAPE_LETTERS_LEN: usize = 2;

/// A quick check for matches in raw bytes.
#[derive(Debug)]
pub(crate) struct Hint(CoreSearch);

#[derive(Debug)]
enum CoreSearch {
    /// Nothing is searched.
    Never,
    /// A match may be anywhere.
    Always,
    One(Box<memmem::Finder<'static>>),
    Several(AhoCorasick),
}

impl Hint {
    /// Returns a hint for rules that change nothing.
    pub fn never() -> Hint {
        Hint(CoreSearch::Never)
    }

    pub fn new(pairs: &[Pair], ignores_case: bool) -> Hint {
        if pairs.is_empty() {
            return Hint::never();
        }
        let changing_pairs = || pairs.iter().filter(|pair| pair.old != pair.new);
        let mut cores: Vec<&[u8]> = changing_pairs().map(extract_core).collect();
        if cores.is_empty() || cores.iter().any(|core| core.is_empty()) {
            return Hint(CoreSearch::Always);
        }
        keep_innermost(&mut cores);
        if let ([core], false) = (&cores[..], ignores_case) {
            return Hint(CoreSearch::One(Box::new(memmem::Finder::new(core).into_owned())));
        }
        let search = AhoCorasick::builder().ascii_case_insensitive(ignores_case).build(cores);
        Hint(search.map_or(CoreSearch::Always, CoreSearch::Several))
    }

    pub fn may_match(&self, raw: &[u8]) -> bool {
        !matches!(self.0, CoreSearch::Never)
            && (self.find_core(raw, 0).is_some() || find_letter_escape(raw, 0).is_some())
    }

    /// Returns the position of the next core, or of the next escape that represents a letter, from `offset` on.
    pub fn find_candidate(&self, raw: &[u8], offset: usize) -> Option<usize> {
        if matches!(self.0, CoreSearch::Never) {
            return None;
        }
        let core = self.find_core(raw, offset);
        // An escape after the core can't be the earlier candidate, so the search for escapes ends there.
        let part =
            raw.get(..core.map_or(raw.len(), |core| (core + ESCAPE_LETTERS_LEN).min(raw.len()))).unwrap_or_default();
        find_letter_escape(part, offset).into_iter().chain(core).min()
    }

    /// Returns the position of the next core from `offset` on.
    fn find_core(&self, raw: &[u8], offset: usize) -> Option<usize> {
        let rest = raw.get(offset..)?;
        let found = match &self.0 {
            CoreSearch::Never => None,
            CoreSearch::Always => Some(0),
            CoreSearch::One(finder) => finder.find(rest),
            CoreSearch::Several(search) => search.find(rest).map(|found| found.start()),
        };
        found.map(|found| offset + found)
    }
}

/// Possible positions of matches in some bytes. See [`Rules::hints`](crate::Rules::hints).
#[derive(Debug)]
pub struct Hints<'h> {
    hint: &'h Hint,
    raw: &'h [u8],
    /// The search for cores.
    core: SearchedRange,
    /// The search for escapes that represent a letter.
    escape: SearchedRange,
}

/// The result of a search from `start` to `end`. `next` is the first result, and the search ended with it. Without a
/// result, nothing was found up to `end`.
#[derive(Debug, Default)]
struct SearchedRange {
    start: usize,
    next: Option<usize>,
    end: usize,
}

impl SearchedRange {
    /// Returns `true` if there is a result between `start` and `end`. `find` searches from its first argument on, not
    /// much further than its second one, and returns the end of the searched range if there is no result.
    fn has_result_within(
        &mut self,
        start: usize,
        end: usize,
        find: impl FnOnce(usize, usize) -> Result<usize, usize>,
    ) -> bool {
        let is_passed = self.next.is_some_and(|next| next < start);
        if is_passed || start < self.start {
            *self = SearchedRange { start, next: None, end: start };
        }
        if self.next.is_none() && self.end < end {
            match find(start.max(self.end), end) {
                Ok(found) => (self.next, self.end) = (Some(found), found),
                Err(searched_end) => self.end = searched_end,
            }
        }
        self.next.is_some_and(|next| next < end)
    }
}

impl<'h> Hints<'h> {
    pub(crate) fn new(hint: &'h Hint, raw: &'h [u8]) -> Hints<'h> {
        Hints { hint, raw, core: SearchedRange::default(), escape: SearchedRange::default() }
    }
}

impl Hints<'_> {
    /// Returns true if a match may be in this range, like [`Rules::may_match`](crate::Rules::may_match). Consecutive
    /// ranges are searched together, so that many short ones cost no more than a long one.
    pub fn may_match_within(&mut self, range: Range<usize>) -> bool {
        let Hints { hint, raw, core, escape } = self;
        if matches!(hint.0, CoreSearch::Never) {
            return false;
        }
        core.has_result_within(range.start, range.end, |offset, _| hint.find_core(raw, offset).ok_or(raw.len())) || {
            // A range with a core does not need the search for escapes. So this search covers only a window, because
            // the next range may have a core.
            escape.has_result_within(range.start, range.end, |offset, end| {
                let search_end = end.max(offset + ESCAPE_WINDOW).min(raw.len());
                // The letters of an escape may be after the part.
                let part = raw.get(..(search_end + ESCAPE_LETTERS_LEN).min(raw.len())).unwrap_or_default();
                find_letter_escape(part, offset).filter(|found| *found < search_end).ok_or(search_end)
            })
        }
    }
}

/// Returns the longest part of a text that no escaping changes. The part is empty if there is none, and for a regular
/// expression.
fn extract_core(pair: &Pair) -> &[u8] {
    if pair.spelling == Spelling::Regex {
        return &[];
    }
    let may_be_escaped = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\'' | b'\\' | b'/' | 0x7f);
    pair.old.split(may_be_escaped).max_by_key(|piece| piece.len()).unwrap_or_default()
}

/// Removes cores that contain another core, because a search for the other one finds them too.
fn keep_innermost(cores: &mut Vec<&[u8]>) {
    /// With more cores, this check takes longer than it saves.
    const MAX_CORES: usize = 300;
    cores.sort_by_key(|core| (core.len(), *core));
    cores.dedup();
    if cores.len() > MAX_CORES {
        return;
    }
    let mut kept: Vec<&[u8]> = Vec::new();
    for core in cores.iter() {
        if !kept.iter().any(|inner| memmem::find(core, inner).is_some()) {
            kept.push(core);
        }
    }
    *cores = kept;
}

/// Returns the position of the next escape that represents a letter, from `offset` on.
fn find_letter_escape(raw: &[u8], offset: usize) -> Option<usize> {
    let represents_letter = |backslash: &usize| match raw.get(backslash + 1) {
        // A backslash after a backslash is examined separately.
        None | Some(b'\\' | b'"' | b'\'' | b'/' | b'n' | b'r' | b't') => false,
        // `\0` is NUL. With another octal digit after it, it is a character with an octal number.
        Some(b'0') => raw.get(backslash + 2).is_some_and(|digit| matches!(digit, b'0'..=b'7')),
        Some(_) => true,
    };
    find_backslashes(raw, offset).find(represents_letter)
}

/// Returns the positions of backslashes from `offset` on.
fn find_backslashes(raw: &[u8], mut offset: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        offset += find_byte(raw.get(offset..)?, [b'\\'])? + 1;
        Some(offset - 1)
    })
}
