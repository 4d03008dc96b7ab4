//! Counts of what was found and done.

use crate::document::Explanation;
use std::collections::BTreeMap;

/// Maximum number of broken values that are kept with their reasons.
const MAX_FIRST_BROKEN: usize = 10;

/// Counts of what was found and done, over any number of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Strings that were changed.
    pub changed: u64,
    /// Frozen data that was processed, by the names of its formats and wrappers.
    pub frozen: FormatCounts,
    /// Texts that look frozen and can't be read. They were changed as plain text.
    pub broken: u64,
    /// The first of these.
    pub first_broken: Vec<Broken>,
    /// Damaged texts that were repaired.
    pub repaired: u64,
    /// Causes of their damage, by the names of [explanations](crate::value::Explanation).
    pub explanations: BTreeMap<String, u64>,
    /// Repaired texts for whose wrong lengths no explanation was found. The ends of strings were chosen so that the
    /// rest can be read.
    pub guessed: u64,
    /// Payloads that only their own class understands and that contain something to change. They stayed unchanged.
    pub opaque: u64,
    /// Changes that can't be represented at their place, such as bytes that are not UTF-8 in JSON. The strings stayed
    /// unchanged.
    pub unrepresentable: u64,
    /// Signed or encrypted data that contains something to change. It stayed unchanged.
    pub signed: u64,
    /// Texts that contain serialized strings with uncertain ends. A change would make their lengths wrong, so the
    /// texts stayed unchanged.
    pub embedded: u64,
    /// Texts beyond a limit, for example nested too deeply, that contain something to change. They stayed unchanged,
    /// because the lengths around them can't be verified.
    pub beyond: u64,
    /// Keys of arrays and names of properties that contain something to change. They stayed unchanged because
    /// [`Rewriting::keys`](super::Rewriting::keys) is `false`.
    pub kept_keys: u64,
    /// Names of classes that contain something to change. They stayed unchanged because
    /// [`Rewriting::classes`](super::Rewriting::classes) is `false`.
    pub kept_classes: u64,
}

/// Counts by the names of formats and wrappers, sorted by name. A list is cheaper than a map here, because there are
/// only a few names, and each value gets a tally.
///
/// ```
/// let mut counts = icecore::rewrite::FormatCounts::default();
/// counts.add("php", 2);
/// counts.add("json", 1);
/// counts.add("php", 1);
/// assert_eq!(counts.iter().collect::<Vec<_>>(), [("json", 1), ("php", 3)]);
/// assert_eq!((counts.get("php"), counts.get("marshal"), counts.total()), (3, 0, 4));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatCounts(Vec<(&'static str, u64)>);

impl FormatCounts {
    /// Adds to the count of a format.
    pub fn add(&mut self, name: &'static str, count: u64) {
        match self.0.binary_search_by_key(&name, |(name, _)| *name) {
            Ok(index) => self.0[index].1 += count,
            Err(index) => self.0.insert(index, (name, count)),
        }
    }

    /// Returns the count of a format, or 0.
    pub fn get(&self, name: &str) -> u64 {
        self.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| count)
    }

    /// All counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Returns `true` if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A text that looks frozen and can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The format that it looks like.
    pub format: &'static str,
    /// Number of texts that it is nested in.
    pub level: u32,
    /// Offset in the text where reading stopped.
    pub offset: u64,
    /// Reason why it can't be read.
    pub reason: String,
    /// The beginning of the text.
    pub head: Vec<u8>,
}

impl Tally {
    /// Adds the counts of another tally.
    ///
    /// ```
    /// use icecore::rewrite::Tally;
    /// let (mut sum, mut part) = (Tally::default(), Tally::default());
    /// part.changed = 2;
    /// sum.add(&part);
    /// sum.add(&part);
    /// assert_eq!(sum.changed, 4);
    /// ```
    pub fn add(&mut self, other: &Tally) {
        self.changed += other.changed;
        for (name, count) in other.frozen.iter() {
            self.frozen.add(name, count);
        }
        self.broken += other.broken;
        let available = MAX_FIRST_BROKEN.saturating_sub(self.first_broken.len());
        self.first_broken.extend(other.first_broken.iter().take(available).cloned());
        self.repaired += other.repaired;
        for (name, count) in &other.explanations {
            *self.explanations.entry(name.clone()).or_default() += count;
        }
        self.guessed += other.guessed;
        self.opaque += other.opaque;
        self.unrepresentable += other.unrepresentable;
        self.signed += other.signed;
        self.embedded += other.embedded;
        self.beyond += other.beyond;
        self.kept_keys += other.kept_keys;
        self.kept_classes += other.kept_classes;
    }

    /// Resets all counts and keeps the memory.
    pub fn clear(&mut self) {
        let mut frozen = std::mem::take(&mut self.frozen);
        frozen.0.clear();
        *self = Tally { frozen, ..Tally::default() };
    }

    /// Returns `true` if something was found that could not be processed as requested. Callers should report this
    /// even if nothing changed.
    pub fn is_notable(&self) -> bool {
        let left = self.opaque + self.unrepresentable + self.signed + self.embedded + self.beyond;
        self.broken + left + self.kept_keys + self.kept_classes > 0
    }

    /// Counts a text that was repaired.
    pub(super) fn count_repaired(&mut self, explanation: Explanation) {
        self.repaired += 1;
        self.guessed += u64::from(explanation.is_guess);
        *self.explanations.entry(explanation.name).or_default() += 1;
    }

    /// Counts a text that can't be read.
    pub(super) fn count_broken(&mut self, broken: Broken) {
        self.broken += 1;
        if self.first_broken.len() < MAX_FIRST_BROKEN {
            self.first_broken.push(broken);
        }
    }
}
