//! Which pieces of a text become what.

use crate::charset::{Charset, Reading, Trust};
use crate::error::{Error, shown};
use crate::hint::{Hint, Hints};
use crate::literal::Literals;
use crate::pair::{Pair, Spelling};
use crate::regular::Regular;
use std::sync::Arc;

/// Which pieces of a text become what. Cheap to clone, and shared by threads.
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
    pub(crate) ignores_case: bool,
    /// In what the texts are, if not in UTF-8.
    pub(crate) charset: Option<(Charset, Trust)>,
}

/// A piece of a text that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Which of [`Rules::pairs`] matches.
    pub pair: usize,
}

/// Whether a second run over what a first one wrote may change more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Again {
    /// It changes nothing.
    Nothing,
    /// What these pairs (numbers in [`Rules::pairs`]) put in has in it what the others look for.
    Contains(usize, usize),
    /// What the first pair puts in can become what the second looks for, together with what
    /// stands beside it.
    Joins(usize, usize),
}

impl Rules {
    /// Rules that change nothing: for what is repaired, and otherwise stays.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::nothing();
    /// assert!(rules.pairs().is_empty() && !rules.may_match(b"any"));
    /// assert_eq!(rules.apply(b"any"), b"any");
    /// ```
    pub fn nothing() -> Rules {
        let (hint, literals) = (Hint::new(&[], false), Literals::nothing());
        Rules {
            pairs: Arc::new([]),
            literals,
            regular: Arc::new([]),
            hint: Arc::new(hint),
            charset: None,
            ignores_case: false,
        }
    }

    /// All pairs: those that were given, and the spellings that follow from addresses.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Whether it matters in which charset a text is: a pair has characters beyond ASCII, or is an expression, in which
    /// `.` is a character. Pairs that are no UTF-8 are bytes, whatever the text is in.
    pub fn depends_on_charset(&self) -> bool {
        let is_utf8 = |pair: &Pair| std::str::from_utf8(&pair.old).and(std::str::from_utf8(&pair.new)).is_ok();
        let is_ascii = |pair: &Pair| pair.old.is_ascii() && pair.new.is_ascii();
        self.pairs.iter().all(is_utf8) && !(self.regular.is_empty() && self.pairs.iter().all(is_ascii))
    }

    /// Whether a pair looks for characters beyond ASCII, or puts some in. Pairs that are no UTF-8 are bytes.
    pub fn has_wide_characters(&self) -> bool {
        self.depends_on_charset() && self.pairs.iter().any(|pair| !(pair.old.is_ascii() && pair.new.is_ascii()))
    }

    /// The rules for texts in a charset: [`Rules::replacing`] finds what is looked for in them, and writes what is new as
    /// the text is. The rules themselves stay in UTF-8, and so do [`Rules::matches`] and [`Rules::apply`].
    ///
    /// ```
    /// use icecore::rewrite::{Change, Edits, Part};
    /// use icecore_replace::{Charset, Rules, Trust};
    /// let rules = Rules::builder().pair("Müller", "Möller").build()?;
    /// let rules = rules.in_charset(&Charset::of_name("latin1").unwrap(), Trust::Sure)?;
    /// let mut edits = Edits::new();
    /// rules.replacing().change(b"Herr M\xfcller", Part::Value, &mut edits);
    /// assert_eq!(edits.apply(b"Herr M\xfcller"), b"Herr M\xf6ller");
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    ///
    /// # Errors
    /// The charset can't say what a pair puts in, though it can say what that pair looks for.
    pub fn in_charset(&self, charset: &Charset, trust: Trust) -> Result<Rules, Error> {
        if !self.depends_on_charset() {
            return Ok(self.clone());
        }
        let mut encoded = Vec::new();
        for pair in self.pairs.iter() {
            let Some(old) = encode_old(pair, charset) else { continue };
            let new = String::from_utf8_lossy(&pair.new);
            if let Err(character) = charset.encode(&new) {
                let (new, name) = (shown(&pair.new), charset.name());
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

    /// The pairs that look for something that a charset can't say: they match nothing in texts of it.
    pub fn unsayable_in(&self, charset: &Charset) -> impl Iterator<Item = &Pair> {
        let is_text = |pair: &&Pair| pair.spelling != Spelling::Regex;
        self.pairs.iter().filter(is_text).filter(|pair| encode_old(pair, charset).is_none())
    }

    /// Where the last match ends that begins in `from..to` of a text.
    pub fn last_match_end(&self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        let Some((charset, _)) = self.charset.as_ref().filter(|(_, trust)| trust.reading(text) == Reading::Charset)
        else {
            return self.matches_from(text, from).take_while(|found| found.start < to).last().map(|found| found.end);
        };
        let decoded = charset.decode(text);
        let at = |offset: usize| charset.decoded_len(text.get(..offset).unwrap_or(text));
        let (from, to) = (at(from), at(to));
        let last = self.matches_from(decoded.as_bytes(), from).take_while(|found| found.start < to).last()?;
        // Each character is a byte of the text.
        Some(decoded.get(..last.end).map_or(text.len(), |before| before.chars().count()))
    }

    /// All matches in a text, from left to right.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::builder().pair("b", "x").build()?;
    /// assert_eq!(rules.matches(b"abcb").map(|found| found.start).collect::<Vec<_>>(), [1, 3]);
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn matches<'m>(&'m self, text: &'m [u8]) -> Matches<'m> {
        self.matches_from(text, 0)
    }

    /// The same from a place on: what stands before it is only looked at.
    pub fn matches_from<'m>(&'m self, text: &'m [u8], at: usize) -> Matches<'m> {
        // Texts alone need no comparison of what is ahead.
        let searches = if self.regular.is_empty() { 0 } else { 1 + self.regular.len() };
        Matches { rules: self, text, at, ahead: vec![Ahead::Unknown; searches] }
    }

    /// Appends what a match in this text becomes.
    pub fn expand(&self, text: &[u8], found: &Found, out: &mut Vec<u8>) {
        let Some(pair) = self.pairs.get(found.pair) else { return };
        match self.regular.iter().find(|regular| regular.pair == found.pair) {
            Some(regular) => regular.expand(text, found.start, &pair.new, out),
            None => out.extend_from_slice(&pair.new),
        }
    }

    /// The text with everything replaced.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut done = 0;
        for found in self.matches(text) {
            out.extend_from_slice(text.get(done..found.start).unwrap_or_default());
            self.expand(text, &found, &mut out);
            done = found.end;
        }
        out.extend_from_slice(text.get(done..).unwrap_or_default());
        out
    }

    /// A quick answer: `false` if no string in these bytes matches, however often they are
    /// escaped for SQL, JSON, PHP, Perl or Ruby. Bytes in Base64 or in hexadecimal digits are
    /// to be decoded before.
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

    /// How many bytes before and behind a match are looked at, to see where an address ends.
    pub const BESIDE: usize = 8;

    /// How far from the end of a piece of text a match may be that the next piece decides on; `None`
    /// if there is no bound.
    pub fn reach(&self) -> Option<usize> {
        let longest = self.pairs.iter().map(|pair| pair.old.len()).max().unwrap_or_default();
        self.regular.is_empty().then_some(longest + Rules::BESIDE)
    }

    /// Whether a second run may change more. Of regular expressions only what a pair puts in is
    /// looked at, with its groups as they are written.
    ///
    /// ```
    /// use icecore_replace::{Again, Rules};
    /// let again = |old: &str, new: &str| Rules::builder().pair(old, new).build().map(|rules| rules.again());
    /// assert_eq!(again("old", "new")?, Again::Nothing);
    /// assert_eq!(again("old", "very old")?, Again::Contains(0, 0));
    /// // `aa` becomes `a`, and with the `a` behind it there is an `aa` once more.
    /// assert_eq!(again("aa", "a")?, Again::Joins(0, 0));
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn again(&self) -> Again {
        let changes = |pair: &&Pair| pair.old != pair.new;
        for (index, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| changes(pair)) {
            let is_change = |found: &Found| self.pairs.get(found.pair).is_some_and(|other| changes(&other));
            if let Some(found) = self.matches(&pair.new).find(is_change) {
                return Again::Contains(index, found.pair);
            }
        }
        self.joins().unwrap_or(Again::Nothing)
    }

    /// Looks for a text that what is put in may become a part of.
    fn joins(&self) -> Option<Again> {
        /// With more, the note is left out: it would take long to find.
        const MOST: usize = 200;
        if self.pairs.len() > MOST {
            return None;
        }
        let plain = |(_, pair): &(usize, &Pair)| pair.spelling == Spelling::Given && pair.old != pair.new;
        let pairs = || self.pairs.iter().enumerate().filter(plain);
        for (one, put) in pairs() {
            for (two, sought) in pairs() {
                if joins(&put.new, &sought.old) {
                    return Some(Again::Joins(one, two));
                }
            }
        }
        None
    }

    /// Where in these bytes, which may be escaped, a match may be.
    ///
    /// ```
    /// let rules = icecore_replace::Rules::builder().pair("old", "new").build()?;
    /// let mut hints = rules.hints(b"'a','old','b'");
    /// assert!(!hints.within(1..2) && hints.within(5..8) && !hints.within(11..12));
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn hints<'h>(&'h self, raw: &'h [u8]) -> Hints<'h> {
        Hints::new(&self.hint, raw)
    }
}

/// What a pair looks for, in the bytes of a charset; `None` if that can't say it.
fn encode_old(pair: &Pair, charset: &Charset) -> Option<Vec<u8>> {
    if pair.spelling == Spelling::Regex {
        return Some(pair.old.clone());
    }
    charset.encode(std::str::from_utf8(&pair.old).ok()?).ok()
}

/// Whether `new`, with something beside it, can have `old` across its edge.
fn joins(new: &[u8], old: &[u8]) -> bool {
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
    at: usize,
    /// What each search found last: the texts, then the expressions.
    ahead: Vec<Ahead>,
}

#[derive(Clone, Copy, Debug)]
enum Ahead {
    Unknown,
    Found(usize, usize, usize),
    None,
}

impl Iterator for Matches<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        if self.ahead.is_empty() {
            let (start, end, pair) = self.rules.literals.find(self.text, self.at)?;
            self.at = end;
            return Some(Found { start, end, pair });
        }
        let mut best: Option<(usize, usize, usize)> = None;
        for (index, ahead) in self.ahead.iter_mut().enumerate() {
            let is_old = match *ahead {
                Ahead::Unknown => true,
                Ahead::Found(start, ..) => start < self.at,
                Ahead::None => false,
            };
            if is_old {
                let found = match index.checked_sub(1) {
                    None => self.rules.literals.find(self.text, self.at),
                    Some(index) => self.rules.regular.get(index).and_then(|one| one.find(self.text, self.at)),
                };
                *ahead = found.map_or(Ahead::None, |(start, end, pair)| Ahead::Found(start, end, pair));
            }
            if let Ahead::Found(start, end, pair) = *ahead
                && best.is_none_or(|(first, last, _)| start < first || (start == first && end > last))
            {
                best = Some((start, end, pair));
            }
        }
        let (start, end, pair) = best?;
        self.at = end;
        Some(Found { start, end, pair })
    }
}
