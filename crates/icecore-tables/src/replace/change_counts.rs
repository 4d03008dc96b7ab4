//! Counts of the changes for each column and each pair.

use icecore::rewrite::{Broken, Tally};
use icecore_replace::LeftoverCounts;
use std::collections::BTreeMap;

/// Maximum number of broken values that are kept with their reasons.
const MAX_BROKEN_VALUES: usize = 100;

/// Counts over any part of an input.
#[derive(Clone, Debug, Default)]
pub struct ChangeCounts {
    /// Counts of each column, by the number of its table and column.
    pub places: BTreeMap<u32, ColumnCounts>,
    /// Number of changes by each pair.
    pub pairs: BTreeMap<usize, u64>,
    /// The first values that look frozen and are broken.
    pub broken: Vec<BrokenValue>,
    /// Literals outside of rows in which something would have been changed.
    pub outside: u64,
    /// Changed places of plain text that seem to follow a length.
    pub suspects: u64,
    /// Values that are text, but not in UTF-8, although the rules have characters beyond ASCII.
    pub foreign: u64,
    /// Offset of the first such value in the input.
    pub foreign_at: Option<u64>,
    /// Places of the output that still have the host of a replaced URL.
    pub leftovers: LeftoverCounts,
    /// Documents in whose compressed data or Base64 more would be changed.
    pub encoded_documents: u64,
}

/// Counts for a column.
#[derive(Clone, Debug, Default)]
pub struct ColumnCounts {
    /// Values that changed.
    pub values: u64,
    /// Values that could not be changed, because their form can't express the new text.
    pub refused: u64,
    /// Rows that another client changed in the meantime.
    pub skipped: u64,
    /// Counts of the engine for the values.
    pub tally: Tally,
}

/// Whether a value is counted as changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueChanged {
    /// The value gets a new text.
    Yes,
    /// Only its other counts are added.
    No,
}

/// A value that looks frozen and is broken.
#[derive(Clone, Debug)]
pub struct BrokenValue {
    /// Name of the input. It is set when the counts of several inputs are merged.
    pub input: String,
    /// The number of its table and column.
    pub place: u32,
    /// Its row, from 1 on; 0 if there are none.
    pub row: u64,
    /// Offset of the value in the input.
    pub offset: Option<u64>,
    /// The key of its row, in a database.
    pub key: String,
    /// Where reading it stopped, and why.
    pub broken: Broken,
}

impl ColumnCounts {
    /// Adds the counts of another part of the input.
    pub fn add(&mut self, other: &ColumnCounts) {
        self.values += other.values;
        self.refused += other.refused;
        self.skipped += other.skipped;
        self.tally.add(&other.tally);
    }
}

impl ChangeCounts {
    /// Adds the counts of one value.
    pub fn add_value(&mut self, place: u32, row: u64, offset: Option<u64>, changed: ValueChanged, tally: &mut Tally) {
        for broken in std::mem::take(&mut tally.first_broken) {
            if self.broken.len() < MAX_BROKEN_VALUES {
                self.broken.push(BrokenValue { input: String::new(), key: String::new(), place, row, offset, broken });
            }
        }
        let counts = self.places.entry(place).or_default();
        counts.values += u64::from(changed == ValueChanged::Yes);
        counts.tally.add(tally);
    }

    /// Adds the counts of another part of the input.
    pub fn add(&mut self, other: ChangeCounts) {
        for (place, counts) in &other.places {
            self.places.entry(*place).or_default().add(counts);
        }
        self.add_pair_counts(&other.pairs);
        let space = MAX_BROKEN_VALUES.saturating_sub(self.broken.len());
        self.broken.extend(other.broken.into_iter().take(space));
        self.outside += other.outside;
        self.suspects += other.suspects;
        self.foreign += other.foreign;
        self.leftovers.add(other.leftovers);
        self.encoded_documents += other.encoded_documents;
        self.foreign_at = self.foreign_at.or(other.foreign_at);
    }

    /// Counts a value at this offset that is text, but not in UTF-8.
    pub fn count_foreign(&mut self, offset: u64) {
        self.foreign += 1;
        self.foreign_at.get_or_insert(offset);
    }

    /// Adds the changes by each pair.
    pub fn add_pair_counts(&mut self, counts: &BTreeMap<usize, u64>) {
        for (pair, count) in counts {
            *self.pairs.entry(*pair).or_default() += count;
        }
    }

    /// Returns the sum over all columns.
    pub fn total(&self) -> ColumnCounts {
        let mut total = ColumnCounts::default();
        self.places.values().for_each(|counts| total.add(counts));
        total
    }
}
