//! Applying rules through the engine.

use crate::charset::{Charset, TextEncoding};
use crate::rules::Rules;
use icecore::rewrite::{Change, Edits, StringRole};
use std::collections::BTreeMap;
use std::ops::Range;

/// Applies rules in one thread, and counts the changes of each pair.
///
/// ```
/// use icecore::rewrite::{self, Rewriting, Tally};
/// let rules = icecore_replace::Rules::builder().pair("old", "brand new").build()?;
/// let (mut replacing, mut tally) = (rules.replacing(), Tally::default());
/// let value = br#"a:1:{s:1:"k";s:3:"old";}"#;
/// let edits = rewrite::value(value, &mut replacing, &Rewriting::default(), &mut tally);
/// assert_eq!(edits.apply(value), br#"a:1:{s:1:"k";s:9:"brand new";}"#);
/// assert_eq!(replacing.counts()[&0], 1);
/// # Ok::<(), icecore_replace::Error>(())
/// ```
#[derive(Debug)]
pub struct Replacing<'r> {
    rules: &'r Rules,
    counts: BTreeMap<usize, u64>,
    changes_base64: bool,
    /// A buffer for the replacement of one match.
    replacement: Vec<u8>,
    remaining_bytes: u64,
    cost_per_change: u64,
    is_full: bool,
    trials: Vec<Trial>,
}

/// A group of changes that may be discarded.
#[derive(Debug)]
struct Trial {
    /// Changes counted in the trial.
    counts: BTreeMap<usize, u64>,
    /// The values of [`Replacing`] before the trial.
    remaining_bytes: u64,
    is_full: bool,
}

impl Rules {
    /// Starts replacing.
    pub fn replacing(&self) -> Replacing<'_> {
        let (counts, replacement) = (BTreeMap::new(), Vec::new());
        let trials = Vec::new();
        Replacing {
            rules: self,
            counts,
            changes_base64: false,
            replacement,
            remaining_bytes: u64::MAX,
            cost_per_change: 0,
            is_full: false,
            trials,
        }
    }
}

impl Replacing<'_> {
    /// Sets whether the content of Base64 is changed as well. If it is, the quick check of raw bytes is not possible.
    pub fn with_encoded(mut self, changes_base64: bool) -> Self {
        self.changes_base64 = changes_base64;
        self
    }

    /// Sets the maximum total number of inserted bytes. Beyond it, nothing more is changed, and
    /// [`Replacing::is_full`] returns `true`. The caller must then discard all changes, because the text is changed
    /// only in part.
    ///
    /// ```
    /// use icecore::rewrite::{self, Rewriting, Tally};
    /// let rules = icecore_replace::Rules::builder().pair("a", "long").build()?;
    /// let mut replacing = rules.replacing().with_insert_limit(10);
    /// rewrite::value(b"aaa", &mut replacing, &Rewriting::default(), &mut Tally::default());
    /// assert!(replacing.is_full());
    /// # Ok::<(), icecore_replace::Error>(())
    /// ```
    pub fn with_insert_limit(mut self, bytes: u64) -> Self {
        self.remaining_bytes = bytes;
        self
    }

    /// Sets the number of bytes that each replacement costs in addition to its text, for the memory of its position.
    pub fn with_change_cost(mut self, bytes: u64) -> Self {
        self.cost_per_change = bytes;
        self
    }

    /// Returns true if the maximum of inserted bytes was exceeded.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the number of changes of each pair, by index in [`Rules::pairs`].
    pub fn counts(&self) -> &BTreeMap<usize, u64> {
        &self.counts
    }

    /// Returns the counts, and resets them.
    pub fn take_counts(&mut self) -> BTreeMap<usize, u64> {
        std::mem::take(&mut self.counts)
    }
}

impl Change for Replacing<'_> {
    fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
        self.change_part(text, 0..text.len(), edits);
    }

    fn change_parts(&mut self, text: &[u8], parts: &[Range<usize>], _: StringRole, edits: &mut Edits) {
        self.add_changes(text, parts, edits);
    }

    fn begin_trial(&mut self) {
        self.trials.push(Trial {
            counts: BTreeMap::new(),
            remaining_bytes: self.remaining_bytes,
            is_full: self.is_full,
        });
    }

    fn end_trial(&mut self, is_made: bool) {
        let Some(trial) = self.trials.pop() else { return };
        if !is_made {
            (self.remaining_bytes, self.is_full) = (trial.remaining_bytes, trial.is_full);
            return;
        }
        for (pair, count) in trial.counts {
            *self.open_counts().entry(pair).or_default() += count;
        }
    }

    fn may_change(&self, raw: &[u8]) -> bool {
        self.changes_base64 || self.rules.may_match(raw)
    }

    fn next_change(&self, raw: &[u8], from: usize) -> Option<usize> {
        if self.changes_base64 { Some(from) } else { self.rules.hint.find_candidate(raw, from) }
    }
}

impl Replacing<'_> {
    /// Returns the counts of the innermost trial, or the final ones if there is none.
    fn open_counts(&mut self) -> &mut BTreeMap<usize, u64> {
        self.trials.last_mut().map_or(&mut self.counts, |trial| &mut trial.counts)
    }

    /// Adds the changes of a part of a text. No match may cross the edges of the part; the text outside is only
    /// examined.
    pub fn change_part(&mut self, text: &[u8], part: Range<usize>, edits: &mut Edits) {
        self.add_changes(text, std::slice::from_ref(&part), edits);
    }

    /// Adds the changes of these parts of a text, which are in order. The time is linear in the length of the text.
    fn add_changes(&mut self, text: &[u8], parts: &[Range<usize>], edits: &mut Edits) {
        let rules = self.rules;
        let Some((charset, trust)) = &rules.charset else { return self.add_matches(text, parts, None, edits) };
        match trust.choose_reading(text) {
            TextEncoding::Utf8 => self.add_matches(text, parts, None, edits),
            TextEncoding::Ascii => self.add_matches(text, parts, Some(charset), edits),
            TextEncoding::Charset => {
                let decoded = charset.decode(text);
                let (mut position, mut decoded_len) = (0, 0);
                let mut decoded_at = |offset: usize| {
                    decoded_len += charset.decoded_len(text.get(position..offset).unwrap_or_default());
                    position = position.max(offset);
                    decoded_len
                };
                let decoded_parts: Vec<_> =
                    parts.iter().map(|part| decoded_at(part.start)..decoded_at(part.end)).collect();
                let mut decoded_edits = Edits::new();
                self.add_matches(decoded.as_bytes(), &decoded_parts, Some(charset), &mut decoded_edits);
                // Each character of the decoded text is one byte of the original text. So the position in bytes is
                // the number of characters before it.
                let (mut position, mut count) = (0, 0);
                let mut byte_at = |offset: usize| {
                    count += decoded.get(position..offset).map_or(0, |between| between.chars().count());
                    position = offset;
                    count
                };
                for edit in decoded_edits.iter() {
                    let (start, end) = (byte_at(edit.start), byte_at(edit.end));
                    edits.push(start, end, edit.new);
                }
            }
        }
    }

    /// Adds the changes of parts of a text in UTF-8; replacements are written in `charset`, if there is one.
    fn add_matches(&mut self, text: &[u8], parts: &[Range<usize>], charset: Option<&Charset>, edits: &mut Edits) {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
        let mut parts = parts.iter().peekable();
        let matches = self.rules.matches_from(text, first.start);
        for found in matches.take_while(|found| found.start < last.end) {
            while parts.next_if(|part| part.end <= found.start).is_some() {}
            if parts.peek().is_none_or(|part| found.start < part.start) {
                continue;
            }
            self.replacement.clear();
            self.rules.expand_match(text, &found, &mut self.replacement);
            // A pair with equal texts exists only so that other pairs do not match there.
            if text.get(found.start..found.end) == Some(&self.replacement) {
                continue;
            }
            if let Some(charset) = charset.filter(|_| !self.replacement.is_ascii()) {
                let mut encoded = Vec::with_capacity(self.replacement.len());
                charset.append_encoded(&self.replacement, &mut encoded);
                self.replacement = encoded;
            }
            let Some(remaining) =
                self.remaining_bytes.checked_sub(self.cost_per_change + self.replacement.len() as u64)
            else {
                self.is_full = true;
                return;
            };
            self.remaining_bytes = remaining;
            edits.push(found.start, found.end, &self.replacement);
            *self.open_counts().entry(found.pair).or_default() += 1;
        }
    }
}
