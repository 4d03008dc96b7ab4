//! Building rules from user input.

use crate::error::{Error, format_for_message};
use crate::hint::Hint;
use crate::leftover::LeftoverSearch;
use crate::literal::Literals;
use crate::pair::{Edges, Pair, Spelling};
use crate::regular::Regular;
use crate::rules::Rules;
use crate::url;
use std::collections::HashMap;
use std::sync::Arc;

/// Builder of rules. See [`Rules::builder`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    text_pairs: Vec<(Vec<u8>, Vec<u8>)>,
    urls: Vec<(Vec<u8>, Vec<u8>)>,
    is_regex: bool,
    ignores_case: bool,
}

impl Rules {
    /// Starts building rules.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Adds a text and its replacement.
    ///
    /// A text that is replaced by itself stays unchanged. Such a pair protects a longer text from matches of shorter
    /// ones.
    pub fn pair(mut self, old: impl Into<Vec<u8>>, new: impl Into<Vec<u8>>) -> Builder {
        self.text_pairs.push((old.into(), new.into()));
        self
    }

    /// Adds a URL and its replacement, in all spellings.
    ///
    /// A match must end where the host name, or the last folder of the path, ends: `https://old.example` does not match
    /// in `https://old.example.org` and `https://old.example:8080`. Slashes at the end of both are ignored.
    pub fn url(mut self, old: impl Into<Vec<u8>>, new: impl Into<Vec<u8>>) -> Builder {
        self.urls.push((old.into(), new.into()));
        self
    }

    /// Sets whether the texts of [`Builder::pair`] are regular expressions. If they are, `$1` and `${name}` in
    /// replacements are groups, and `$$` is a dollar.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::builder().pair(r"(\w+)@old\.example", "$1@new.example").regex(true).build()?;
    /// assert_eq!(rules.apply(b"joe@old.example"), b"joe@new.example");
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn regex(mut self, is_regex: bool) -> Builder {
        self.is_regex = is_regex;
        self
    }

    /// Sets whether `A` and `a` are equal. This applies only to ASCII letters, but in regular expressions to all
    /// Unicode letters.
    pub fn ignore_case(mut self, ignores_case: bool) -> Builder {
        self.ignores_case = ignores_case;
        self
    }

    /// Builds the rules.
    ///
    /// # Errors
    /// - There is no pair.
    /// - A searched text is empty, or a regular expression matches the empty text.
    /// - A searched text has two different replacements.
    /// - A regular expression is invalid, or a group in its replacement does not exist.
    /// - A URL is invalid.
    pub fn build(self) -> Result<Rules, Error> {
        let mut pairs = Pairs { ignores_case: self.ignores_case, ..Pairs::default() };
        let mut regular = Vec::new();
        for (old, new) in self.text_pairs {
            if old.is_empty() {
                return Err(Error::new("an empty OLD is found everywhere: give a text"));
            }
            let spelling = if self.is_regex { Spelling::Regex } else { Spelling::Given };
            let pair = Pair { old, new, spelling, edges: Edges::default() };
            let Some(index) = pairs.add_given(pair)? else { continue };
            if let (true, Some(pair)) = (self.is_regex, pairs.all.get(index)) {
                regular.push(Regular::new(index, pair, self.ignores_case)?);
            }
        }
        let hosts = self.urls.iter().filter_map(|(old, new)| url::replaced_host(old, new)).collect();
        for (old, new) in self.urls {
            for (position, pair) in url::build_url_pairs(&old, &new)?.into_iter().enumerate() {
                if position == 0 {
                    pairs.add_given(pair)?;
                } else {
                    pairs.add_spelling(pair);
                }
            }
        }
        let pairs = pairs.all;
        if pairs.is_empty() {
            return Err(Error::new("there is nothing to replace: give OLD and NEW"));
        }
        let literals = Literals::new(&pairs, self.ignores_case)?;
        let hint = Hint::new(&pairs, self.ignores_case);
        let ignores_case = self.ignores_case;
        let (pairs, regular, hint) = (pairs.into(), regular.into(), Arc::new(hint));
        let leftovers = LeftoverSearch::new(hosts).map(Arc::new);
        Ok(Rules { pairs, literals, regular, hint, leftovers, ignores_case, charset: None })
    }
}

/// Pairs, in which each searched text occurs once.
#[derive(Default)]
struct Pairs {
    all: Vec<Pair>,
    /// The index in `all` of each searched text.
    index_by_old: HashMap<Vec<u8>, usize>,
    ignores_case: bool,
}

impl Pairs {
    fn lookup_key(&self, pair: &Pair) -> Vec<u8> {
        let is_folded = self.ignores_case && pair.spelling != Spelling::Regex;
        if is_folded { pair.old.to_ascii_lowercase() } else { pair.old.clone() }
    }

    /// Adds a pair from the user, and returns its index. Returns `None` if there is already a pair for the same text.
    fn add_given(&mut self, pair: Pair) -> Result<Option<usize>, Error> {
        let key = self.lookup_key(&pair);
        let existing = self.index_by_old.get(&key).and_then(|index| self.all.get_mut(*index));
        match existing {
            Some(existing) if existing.new != pair.new && existing.is_given() => {
                let (old, first, second) =
                    (format_for_message(&pair.old), format_for_message(&existing.new), format_for_message(&pair.new));
                Err(Error::new(format!("{old} can't be replaced with both {first} and {second}: give it once")))
            }
            Some(existing) => {
                // A pair from the user has priority over a derived one.
                *existing = pair;
                Ok(None)
            }
            None => {
                self.index_by_old.insert(key, self.all.len());
                self.all.push(pair);
                Ok(Some(self.all.len() - 1))
            }
        }
    }

    /// Adds a spelling of a URL, unless a pair for it exists.
    fn add_spelling(&mut self, pair: Pair) {
        let key = self.lookup_key(&pair);
        if !self.index_by_old.contains_key(&key) {
            self.index_by_old.insert(key, self.all.len());
            self.all.push(pair);
        }
    }
}

impl Pair {
    fn is_given(&self) -> bool {
        matches!(self.spelling, Spelling::Given | Spelling::Regex)
    }
}
