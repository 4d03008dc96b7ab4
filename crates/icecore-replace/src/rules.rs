//! Rules. They consist of pairs of a searched text and its replacement.

use crate::charset::{Charset, CharsetEvidence, TextEncoding};
use crate::error::{Error, format_for_message};
use crate::hint::{Hint, Hints};
use crate::leftover::{LeftoverCounts, LeftoverSearch};
use crate::literal::Literals;
use crate::pair::{Pair, Spelling};
use crate::regular::Regular;
use std::sync::Arc;

/// Rules for replacing parts of a text. They are cheap to clone, and can be shared by threads.
///
/// ```
/// let rules = icecore_replace::Rules::builder().pair("old", "new").pair("older", "newer").build()?;
/// assert_eq!(rules.apply(b"old and older"), b"new and newer");
/// # Ok::<(), icecore_replace::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) pairs: Arc<[Pair]>,
    pub(crate) literals: Literals,
    pub(crate) regular: Arc<[Regular]>,
    pub(crate) hint: Arc<Hint>,
    /// The search for what the spellings of a URL do not cover.
    pub(crate) leftovers: Option<Arc<LeftoverSearch>>,
    pub(crate) ignores_case: bool,
    /// The charset of the texts, if not UTF-8.
    pub(crate) charset: Option<(Charset, CharsetEvidence)>,
}

/// A match in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset of the first byte after it.
    pub end: usize,
    /// Index of the pair in [`Rules::pairs`].
    pub pair: usize,
}

/// What a second run over the output of a first one may change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecondRun {
    /// It changes nothing.
    Nothing,
    /// The replacement of the first pair contains what the second one searches (indexes in [`Rules::pairs`]).
    Contains(usize, usize),
    /// The replacement of the first pair, together with adjacent text, can become what the second one searches.
    Joins(usize, usize),
}

impl Rules {
    /// Returns rules that change nothing, for repairs without other changes.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::without_pairs();
    /// assert!(rules.pairs().is_empty() && !rules.may_match(b"any"));
    /// assert_eq!(rules.apply(b"any"), b"any");
    /// ```
    pub fn without_pairs() -> Rules {
        let (hint, literals) = (Hint::never(), Literals::without_texts());
        Rules {
            pairs: Arc::new([]),
            literals,
            regular: Arc::new([]),
            hint: Arc::new(hint),
            leftovers: None,
            charset: None,
            ignores_case: false,
        }
    }

    /// Returns all pairs. They are the given pairs, and the spellings that were derived from URLs.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Returns the hosts of URLs that these rules replace by other hosts.
    pub fn replaced_hosts(&self) -> &[String] {
        self.leftovers.as_ref().map_or(&[], |search| search.hosts())
    }

    /// Counts the places in a changed text that still have the host of a URL, because they are not URLs or are written
    /// in another way.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::builder().url("https://old.example", "https://new.example").build()?;
    /// let text = rules.apply(b"https://old.example/ and joe@old.example");
    /// assert_eq!(rules.count_leftovers(&text).hosts, 1);
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn count_leftovers(&self, text: &[u8]) -> LeftoverCounts {
        self.leftovers.as_ref().map_or_else(LeftoverCounts::default, |search| search.count(text))
    }

    /// Returns true if the charset of a text matters. It matters if a pair has characters beyond ASCII. It also
    /// matters for an expression, because `.` matches a character. Pairs that are not UTF-8 are bytes in any charset.
    pub fn depends_on_charset(&self) -> bool {
        let is_utf8 = |pair: &Pair| std::str::from_utf8(&pair.old).and(std::str::from_utf8(&pair.new)).is_ok();
        let is_ascii = |pair: &Pair| pair.old.is_ascii() && pair.new.is_ascii();
        self.pairs.iter().all(is_utf8) && !(self.regular.is_empty() && self.pairs.iter().all(is_ascii))
    }

    /// Returns true if a pair searches or inserts characters beyond ASCII. Pairs that are not UTF-8 are bytes.
    pub fn has_wide_characters(&self) -> bool {
        self.depends_on_charset() && self.pairs.iter().any(|pair| !(pair.old.is_ascii() && pair.new.is_ascii()))
    }

    /// Returns the rules for texts in a charset: [`Rules::replacing`] searches in that charset, and writes replacements
    /// in the encoding of the text. The rules themselves stay in UTF-8, and so do [`Rules::matches`] and
    /// [`Rules::apply`].
    ///
    /// ```
    /// use icecore::rewrite::{Change, Edits, StringRole};
    /// use icecore_replace::{Charset, CharsetEvidence, Rules};
    /// let rules = Rules::builder().pair("Müller", "Möller").build()?;
    /// let rules = rules.in_charset(&Charset::from_name("latin1").unwrap(), CharsetEvidence::Sure)?;
    /// let mut edits = Edits::new();
    /// rules.replacing().change_text(b"Herr M\xfcller", StringRole::Value, &mut edits);
    /// assert_eq!(edits.apply(b"Herr M\xfcller"), b"Herr M\xf6ller");
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the charset can represent what a pair searches, but not its replacement.
    pub fn in_charset(&self, charset: &Charset, trust: CharsetEvidence) -> Result<Rules, Error> {
        if !self.depends_on_charset() {
            return Ok(self.clone());
        }
        let mut encoded = Vec::new();
        for pair in self.pairs.iter() {
            let Some(old) = encode_old(pair, charset) else { continue };
            let new = String::from_utf8_lossy(&pair.new);
            if let Err(character) = charset.encode(&new) {
                let (new, name) = (format_for_message(&pair.new), charset.name());
                return Err(Error::new(format!(
                    "{new} has `{character}` in it, which {name} has no byte for: the text is in {name} (--charset says \
                     another); write it in other letters, or convert the file to UTF-8 first"
                )));
            }
            encoded.push(Pair { old, ..pair.clone() });
        }
        encoded.extend(self.pairs.iter().cloned());
        let hint = Arc::new(Hint::new(&encoded, self.ignores_case));
        Ok(Rules { hint, charset: Some((charset.clone(), trust)), ..self.clone() })
    }

    /// Returns the pairs whose searched text can't be represented in a charset. In texts of this charset, such a pair
    /// has no match.
    pub fn unrepresentable_in(&self, charset: &Charset) -> impl Iterator<Item = &Pair> {
        let is_text = |pair: &&Pair| pair.spelling != Spelling::Regex;
        self.pairs.iter().filter(is_text).filter(|pair| encode_old(pair, charset).is_none())
    }

    /// Returns the end of the last match that begins in `from..to` of a text.
    pub fn last_match_end(&self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        let Some((charset, _)) =
            self.charset.as_ref().filter(|(_, trust)| trust.choose_reading(text) == TextEncoding::Charset)
        else {
            return self.matches_from(text, from).take_while(|found| found.start < to).last().map(|found| found.end);
        };
        let decoded = charset.decode(text);
        let decoded_offset = |offset: usize| charset.decoded_len(text.get(..offset).unwrap_or(text));
        let (from, to) = (decoded_offset(from), decoded_offset(to));
        let last = self.matches_from(decoded.as_bytes(), from).take_while(|found| found.start < to).last()?;
        // Each character is one byte of the text.
        Some(decoded.get(..last.end).map_or(text.len(), |before| before.chars().count()))
    }

    /// Returns all matches in a text, from left to right.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::builder().pair("b", "x").build()?;
    /// assert_eq!(rules.matches(b"abcb").map(|found| found.start).collect::<Vec<_>>(), [1, 3]);
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn matches<'m>(&'m self, text: &'m [u8]) -> Matches<'m> {
        self.matches_from(text, 0)
    }

    /// Returns all matches in a text that begin at `offset` or after it. The text before `offset` is only examined.
    pub fn matches_from<'m>(&'m self, text: &'m [u8], offset: usize) -> Matches<'m> {
        // Without regular expressions, no comparison of several searches is needed.
        let searches = if self.regular.is_empty() { 0 } else { 1 + self.regular.len() };
        Matches { rules: self, text, offset, pending: vec![PendingMatch::Unknown; searches] }
    }

    /// Appends the replacement of a match in this text.
    pub fn expand_match(&self, text: &[u8], found: &Match, out: &mut Vec<u8>) {
        let Some(pair) = self.pairs.get(found.pair) else { return };
        match self.regular.iter().find(|regular| regular.pair == found.pair) {
            Some(regular) => regular.expand_replacement(text, found.start, &pair.new, out),
            None => out.extend_from_slice(&pair.new),
        }
    }

    /// Returns the text with all replacements.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut copied_end = 0;
        for found in self.matches(text) {
            out.extend_from_slice(text.get(copied_end..found.start).unwrap_or_default());
            self.expand_match(text, &found, &mut out);
            copied_end = found.end;
        }
        out.extend_from_slice(text.get(copied_end..).unwrap_or_default());
        out
    }

    /// Checks quickly whether a string in these bytes may match, even if they are escaped several times for SQL,
    /// JSON, PHP, Perl or Ruby. Returns `false` only if none matches. Bytes in Base64 or in hexadecimal digits must
    /// be decoded before.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::builder().url("https://old.example", "https://new.example").build()?;
    /// assert!(!rules.may_match(br#"{\"link\":\"https:\/\/other.example\"}"#));
    /// assert!(rules.may_match(br#"{"link":"https:\/\/old.example"}"#));
    /// assert!(rules.may_match(br#"{"link":"https://\u006fld.example"}"#));
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn may_match(&self, raw: &[u8]) -> bool {
        self.hint.may_match(raw)
    }

    /// Number of bytes before and after a match that are examined to find the end of a URL.
    pub const URL_CONTEXT_LEN: usize = 8;

    /// Returns how far before the end of a part of a text a match may depend on the next part, in bytes. Returns
    /// `None` if there is no limit.
    pub fn max_lookahead(&self) -> Option<usize> {
        let longest = self.pairs.iter().map(|pair| pair.old.len()).max().unwrap_or_default();
        self.regular.is_empty().then_some(longest + Rules::URL_CONTEXT_LEN)
    }

    /// Returns what a second run may change. For regular expressions, only their replacements are examined,
    /// with groups in their unexpanded form.
    ///
    /// ```
    /// use icecore_replace::{SecondRun, Rules};
    /// let check = |old: &str, new: &str| Rules::builder().pair(old, new).build().map(|rules| rules.check_second_run());
    /// assert_eq!(check("old", "new")?, SecondRun::Nothing);
    /// assert_eq!(check("old", "very old")?, SecondRun::Contains(0, 0));
    /// // `aa` becomes `a`, and with the `a` after it there is another `aa`.
    /// assert_eq!(check("aa", "a")?, SecondRun::Joins(0, 0));
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn check_second_run(&self) -> SecondRun {
        let changes = |pair: &&Pair| pair.old != pair.new;
        for (index, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| changes(pair)) {
            let is_change = |found: &Match| self.pairs.get(found.pair).is_some_and(|other| changes(&other));
            if let Some(found) = self.matches(&pair.new).find(is_change) {
                return SecondRun::Contains(index, found.pair);
            }
        }
        self.find_joining_pairs().unwrap_or(SecondRun::Nothing)
    }

    /// Searches for a replacement that, with adjacent text, may become what a pair searches.
    fn find_joining_pairs(&self) -> Option<SecondRun> {
        /// With more pairs, the check is skipped, because it would take too long.
        const MAX_PAIRS: usize = 200;
        if self.pairs.len() > MAX_PAIRS {
            return None;
        }
        let is_literal_change = |(_, pair): &(usize, &Pair)| pair.spelling == Spelling::Given && pair.old != pair.new;
        let pairs = || self.pairs.iter().enumerate().filter(is_literal_change);
        for (first, changed) in pairs() {
            for (second, searched) in pairs() {
                if can_join(&changed.new, &searched.old) {
                    return Some(SecondRun::Joins(first, second));
                }
            }
        }
        None
    }

    /// Returns the possible positions of matches in these bytes, which may be escaped.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::builder().pair("old", "new").build()?;
    /// let mut hints = rules.hints(b"'a','old','b'");
    /// assert!(!hints.may_match_within(1..2) && hints.may_match_within(5..8) && !hints.may_match_within(11..12));
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn hints<'h>(&'h self, raw: &'h [u8]) -> Hints<'h> {
        Hints::new(&self.hint, raw)
    }
}

/// Returns the searched text of a pair in the bytes of a charset, or `None` if the charset can't represent it.
fn encode_old(pair: &Pair, charset: &Charset) -> Option<Vec<u8>> {
    if pair.spelling == Spelling::Regex {
        return Some(pair.old.clone());
    }
    charset.encode(std::str::from_utf8(&pair.old).ok()?).ok()
}

/// Returns `true` if `new`, together with adjacent text, can contain `old` across its edge.
fn can_join(new: &[u8], old: &[u8]) -> bool {
    let overlaps = |len: usize| {
        let (front, back) = (old.get(..len), old.get(old.len() - len..));
        front.is_some_and(|front| new.ends_with(front)) || back.is_some_and(|back| new.starts_with(back))
    };
    new.len() < old.len() && old.windows(new.len().max(1)).any(|piece| new.is_empty() || piece == new)
        || (1..old.len()).any(overlaps)
}

/// The matches in a text. See [`Rules::matches`].
#[derive(Debug)]
pub struct Matches<'m> {
    rules: &'m Rules,
    text: &'m [u8],
    offset: usize,
    /// The last result of each search. The search for literal texts comes first, and then the expressions.
    pending: Vec<PendingMatch>,
}

/// The result of a search that was not returned yet.
#[derive(Clone, Copy, Debug)]
enum PendingMatch {
    /// The search must be made.
    Unknown,
    /// The start and the end of a match, and the index of its pair.
    Found(usize, usize, usize),
    /// There are no more matches.
    None,
}

impl Iterator for Matches<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        if self.pending.is_empty() {
            let (start, end, pair) = self.rules.literals.find_match(self.text, self.offset)?;
            self.offset = end;
            return Some(Match { start, end, pair });
        }
        let mut best: Option<(usize, usize, usize)> = None;
        for (index, pending) in self.pending.iter_mut().enumerate() {
            let is_outdated = match *pending {
                PendingMatch::Unknown => true,
                PendingMatch::Found(start, ..) => start < self.offset,
                PendingMatch::None => false,
            };
            if is_outdated {
                let found = match index.checked_sub(1) {
                    None => self.rules.literals.find_match(self.text, self.offset),
                    Some(index) => {
                        self.rules.regular.get(index).and_then(|regular| regular.find_match(self.text, self.offset))
                    }
                };
                *pending = found.map_or(PendingMatch::None, |(start, end, pair)| PendingMatch::Found(start, end, pair));
            }
            if let PendingMatch::Found(start, end, pair) = *pending
                && best.is_none_or(|(best_start, best_end, _)| {
                    start < best_start || (start == best_start && end > best_end)
                })
            {
                best = Some((start, end, pair));
            }
        }
        let (start, end, pair) = best?;
        self.offset = end;
        Some(Match { start, end, pair })
    }
}
