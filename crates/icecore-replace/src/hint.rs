//! A quick look at bytes that may be escaped, however often.
//!
//! Escaping puts backslashes before quotes, backslashes and slashes, doubles quotes, and writes
//! control characters as letters. What is between such bytes in a text that is looked for, its
//! core, stands in the raw bytes as it is; unless an escape spells a letter: `\u006f`, `\x6f`,
//! `\157`, `\6f`, or a backslash before a letter that needs none. So bytes that have no core and no
//! such escape have no match.

use crate::pair::{Pair, Spelling};
use aho_corasick::AhoCorasick;
use icecore::raw::find_byte;
use memchr::memmem;
use std::ops::Range;

/// How far escapes are looked for at once.
const LOOK: usize = 1024;

/// How many bytes behind a backslash are looked at.
const ESCAPE: usize = 2;

#[derive(Debug)]
pub(crate) struct Hint(Search);

#[derive(Debug)]
enum Search {
    /// Nothing is looked for.
    Never,
    /// There may be a match anywhere.
    Always,
    One(Box<memmem::Finder<'static>>),
    Several(AhoCorasick),
}

impl Hint {
    pub fn new(pairs: &[Pair], ignores_case: bool) -> Hint {
        if pairs.is_empty() {
            return Hint(Search::Never);
        }
        let changing = || pairs.iter().filter(|pair| pair.old != pair.new);
        let mut cores: Vec<&[u8]> = changing().map(core).collect();
        if cores.is_empty() || cores.iter().any(|core| core.is_empty()) {
            return Hint(Search::Always);
        }
        keep_innermost(&mut cores);
        if let ([core], false) = (&cores[..], ignores_case) {
            return Hint(Search::One(Box::new(memmem::Finder::new(core).into_owned())));
        }
        let search = AhoCorasick::builder().ascii_case_insensitive(ignores_case).build(cores);
        Hint(search.map_or(Search::Always, Search::Several))
    }

    pub fn may_match(&self, raw: &[u8]) -> bool {
        !matches!(self.0, Search::Never) && (self.core(raw, 0).is_some() || spelled(raw, 0).is_some())
    }

    /// Where the next core or the next escape that spells a letter is, from `at` on.
    pub fn next(&self, raw: &[u8], at: usize) -> Option<usize> {
        if matches!(self.0, Search::Never) {
            return None;
        }
        let core = self.core(raw, at);
        // What is behind a core is not asked for.
        let part = raw.get(..core.map_or(raw.len(), |core| (core + ESCAPE).min(raw.len()))).unwrap_or_default();
        spelled(part, at).into_iter().chain(core).min()
    }

    /// Where the next core is, from `at` on.
    fn core(&self, raw: &[u8], at: usize) -> Option<usize> {
        let rest = raw.get(at..)?;
        let found = match &self.0 {
            Search::Never => None,
            Search::Always => Some(0),
            Search::One(finder) => finder.find(rest),
            Search::Several(search) => search.find(rest).map(|found| found.start()),
        };
        found.map(|found| at + found)
    }
}

/// Where in some bytes a match may be. See [`Rules::hints`](crate::Rules::hints).
#[derive(Debug)]
pub struct Hints<'h> {
    hint: &'h Hint,
    raw: &'h [u8],
    /// The next core and the next escape that spells a letter, and from where on they were looked
    /// for.
    core: Ahead,
    escape: Ahead,
}

/// What was found ahead, and up to where nothing else is.
#[derive(Debug, Default)]
struct Ahead {
    from: usize,
    next: Option<usize>,
    to: usize,
}

impl Ahead {
    /// Whether something is between `start` and `end`. `find` looks from its first argument on, not
    /// much further than to the second one, and says how far it looked if there is nothing.
    fn is_within(&mut self, start: usize, end: usize, find: impl FnOnce(usize, usize) -> Result<usize, usize>) -> bool {
        let is_passed = self.next.is_some_and(|next| next < start);
        if is_passed || start < self.from {
            *self = Ahead { from: start, next: None, to: start };
        }
        if self.next.is_none() && self.to < end {
            match find(start.max(self.to), end) {
                Ok(found) => (self.next, self.to) = (Some(found), found),
                Err(to) => self.to = to,
            }
        }
        self.next.is_some_and(|next| next < end)
    }
}

impl<'h> Hints<'h> {
    pub(crate) fn new(hint: &'h Hint, raw: &'h [u8]) -> Hints<'h> {
        Hints { hint, raw, core: Ahead::default(), escape: Ahead::default() }
    }
}

impl Hints<'_> {
    /// Whether a match may be in this range: [`Rules::may_match`](crate::Rules::may_match) of it. Ranges that follow one
    /// another are looked at together, so that many short ones cost no more than a long one.
    pub fn within(&mut self, range: Range<usize>) -> bool {
        let Hints { hint, raw, core, escape } = self;
        if matches!(hint.0, Search::Never) {
            return false;
        }
        core.is_within(range.start, range.end, |at, _| hint.core(raw, at).ok_or(raw.len())) || {
            // What has a core in it need not be looked through, so it is not looked far ahead.
            escape.is_within(range.start, range.end, |at, end| {
                let to = end.max(at + LOOK).min(raw.len());
                // An escape may have its letters behind the part.
                let part = raw.get(..(to + ESCAPE).min(raw.len())).unwrap_or_default();
                spelled(part, at).filter(|found| *found < to).ok_or(to)
            })
        }
    }
}

/// The longest piece of a text that no escaping touches; empty if there is none, or if it is no
/// text.
fn core(pair: &Pair) -> &[u8] {
    if pair.spelling == Spelling::Regex {
        return &[];
    }
    let is_touched = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\'' | b'\\' | b'/' | 0x7f);
    pair.old.split(is_touched).max_by_key(|piece| piece.len()).unwrap_or_default()
}

/// Leaves out what has another core in it: that one is found first.
fn keep_innermost(cores: &mut Vec<&[u8]>) {
    /// With more, looking for them takes longer than it saves.
    const MOST: usize = 300;
    cores.sort_by_key(|core| (core.len(), *core));
    cores.dedup();
    if cores.len() > MOST {
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

/// Where the next escape is that spells a letter, from `at` on.
fn spelled(raw: &[u8], at: usize) -> Option<usize> {
    let spells = |place: &usize| match raw.get(place + 1) {
        // A backslash behind a backslash is looked at by itself.
        None | Some(b'\\' | b'"' | b'\'' | b'/' | b'n' | b'r' | b't') => false,
        // NUL, but for the first of three octal digits.
        Some(b'0') => raw.get(place + 2).is_some_and(|digit| matches!(digit, b'0'..=b'7')),
        Some(_) => true,
    };
    backslashes(raw, at).find(spells)
}

/// Where backslashes are, from `at` on.
fn backslashes(raw: &[u8], mut at: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        at += find_byte(raw.get(at..)?, [b'\\'])? + 1;
        Some(at - 1)
    })
}
