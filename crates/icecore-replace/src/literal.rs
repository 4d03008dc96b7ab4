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
    /// A single text, for which this search is faster than the one for several texts.
    One(Arc<memmem::Finder<'static>>),
    Several(AhoCorasick),
}

#[derive(Debug)]
struct LiteralText {
    /// Index of its pair.
    pair: usize,
    len: usize,
    edges: Edges,
    /// Index of the longest other text that is a prefix of this one. It is tried if the text next to a match does not
    /// fit the edges of this one.
    shorter: Option<usize>,
}

impl Literals {
    /// Returns a search without texts.
    pub fn without_texts() -> Literals {
        Literals { search: LiteralSearch::None, texts: Arc::new([]) }
    }

    /// Creates a search for the old texts of all pairs that are not regular expressions.
    pub fn new(pairs: &[Pair], ignores_case: bool) -> Result<Literals, Error> {
        let is_literal = |(_, pair): &(usize, &Pair)| pair.spelling != Spelling::Regex;
        let literal_pairs: Vec<(usize, &Pair)> = pairs.iter().enumerate().filter(is_literal).collect();
        if literal_pairs.is_empty() {
            return Ok(Literals::without_texts());
        }
        if let ([(index, pair)], false) = (&literal_pairs[..], ignores_case)
            && !pair.old.is_empty()
        {
            let finder = memmem::Finder::new(&pair.old).into_owned();
            let text = LiteralText { pair: *index, len: pair.old.len(), edges: pair.edges, shorter: None };
            return Ok(Literals { search: LiteralSearch::One(Arc::new(finder)), texts: Arc::new([text]) });
        }
        let has_edges = literal_pairs.iter().any(|(_, pair)| pair.edges != Edges::default());
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(if has_edges { StartKind::Both } else { StartKind::Unanchored })
            .ascii_case_insensitive(ignores_case)
            .build(literal_pairs.iter().map(|(_, pair)| &pair.old))
            .map_err(|error| Error::new(format!("there are too many pairs: {error}")))?;
        let find_shorter = |pair: &Pair| {
            let beginning = pair.old.split_last().map_or(&[][..], |(_, beginning)| beginning);
            let found = search.try_find(Input::new(beginning).anchored(Anchored::Yes)).ok().flatten();
            found.map(|found| found.pattern().as_usize())
        };
        let texts = literal_pairs
            .iter()
            .map(|(index, pair)| LiteralText {
                pair: *index,
                len: pair.old.len(),
                edges: pair.edges,
                shorter: if has_edges { find_shorter(pair) } else { None },
            })
            .collect();
        Ok(Literals { texts, search: LiteralSearch::Several(search) })
    }

    /// Returns the first match from `offset` on. The result is its start, its end, and the index of its pair.
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
