//! Search for all literal texts at once.

use crate::error::Error;
use crate::pair::{Edges, Pair, Spelling};
use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
use memchr::memmem;
use std::sync::Arc;

/// The literal texts that are searched.
#[derive(Clone, Debug)]
pub(crate) struct Literals {
    search: LiteralSearch,
    texts: Arc<[LiteralText]>,
}

#[derive(Clone, Debug)]
enum LiteralSearch {
    None,
    /// A single text: faster than an automaton.
    One(Arc<memmem::Finder<'static>>),
    Several(AhoCorasick),
}

#[derive(Debug)]
struct LiteralText {
    /// Index of its pair.
    pair: usize,
    len: usize,
    edges: Edges,
    /// The longest other text that is a prefix of this one, for the case that the edges of this one do not fit.
    shorter: Option<usize>,
}

impl Literals {
    /// No texts.
    pub fn without_texts() -> Literals {
        Literals { search: LiteralSearch::None, texts: Arc::new([]) }
    }

    pub fn new(pairs: &[Pair], ignores_case: bool) -> Result<Literals, Error> {
        let literal = |(_, pair): &(usize, &Pair)| pair.spelling != Spelling::Regex;
        let chosen: Vec<(usize, &Pair)> = pairs.iter().enumerate().filter(literal).collect();
        if chosen.is_empty() {
            return Ok(Literals::without_texts());
        }
        if let ([(index, pair)], false) = (&chosen[..], ignores_case)
            && !pair.old.is_empty()
        {
            let finder = memmem::Finder::new(&pair.old).into_owned();
            let text = LiteralText { pair: *index, len: pair.old.len(), edges: pair.edges, shorter: None };
            return Ok(Literals { search: LiteralSearch::One(Arc::new(finder)), texts: Arc::new([text]) });
        }
        let has_edges = chosen.iter().any(|(_, pair)| pair.edges != Edges::default());
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(if has_edges { StartKind::Both } else { StartKind::Unanchored })
            .ascii_case_insensitive(ignores_case)
            .build(chosen.iter().map(|(_, pair)| &pair.old))
            .map_err(|error| Error::new(format!("there are too many pairs: {error}")))?;
        let shorter = |pair: &Pair| {
            let beginning = pair.old.split_last().map_or(&[][..], |(_, beginning)| beginning);
            let found = search.try_find(Input::new(beginning).anchored(Anchored::Yes)).ok().flatten();
            found.map(|found| found.pattern().as_usize())
        };
        let texts = chosen
            .iter()
            .map(|(index, pair)| LiteralText {
                pair: *index,
                len: pair.old.len(),
                edges: pair.edges,
                shorter: if has_edges { shorter(pair) } else { None },
            })
            .collect();
        Ok(Literals { texts, search: LiteralSearch::Several(search) })
    }

    /// Returns the first match from `at` on: its start, its end, its pair.
    pub fn find_match(&self, text: &[u8], mut offset: usize) -> Option<(usize, usize, usize)> {
        while offset < text.len() {
            let (start, index) = match &self.search {
                LiteralSearch::None => return None,
                LiteralSearch::One(finder) => (offset + finder.find(text.get(offset..)?)?, 0),
                LiteralSearch::Several(search) => {
                    let found = search.find(Input::new(text).span(offset..text.len()))?;
                    (found.start(), found.pattern().as_usize())
                }
            };
            let mut next = Some(index);
            while let Some(candidate) = next.and_then(|index| self.texts.get(index)) {
                let end = start + candidate.len;
                if candidate.edges.allows_match(text, start, end) {
                    return Some((start, end, candidate.pair));
                }
                next = candidate.shorter;
            }
            offset = start + 1;
        }
        None
    }
}
