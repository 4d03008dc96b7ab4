//! What came of many records: one report at the end, not one for each.

use icecore::{LossKind, Losses};
use serde::Serialize;
use std::collections::BTreeMap;

/// How many errors a summary lists.
const LISTED: usize = 100;

/// The kind of what went wrong where a loss was refused.
pub const LOSS: &str = "loss";

/// The words before a loss that is not allowed.
pub const REFUSED: &str = "refused by --strict: ";

/// A kind of loss over all records.
#[derive(Clone, Debug, Serialize)]
pub struct Lost {
    /// How much was lost.
    pub count: u64,
    /// The first record that lost it, and where in it.
    pub record: u64,
    /// Where in the record the first loss was.
    pub path: String,
    /// What was lost.
    #[serde(skip)]
    pub kind: LossKind,
}

/// A record that went wrong.
#[derive(Clone, Debug, Serialize)]
pub struct Wrong {
    /// The number of the record, from 1 on.
    pub record: u64,
    /// Where the record starts in the input.
    pub offset: u64,
    /// The kind of the error, or [`LOSS`].
    pub kind: &'static str,
    /// What is wrong with it.
    pub message: String,
}

/// Counts over the records of an input. What `--summary` writes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// What messages call the input.
    pub input: String,
    /// How many records there were.
    pub records: u64,
    /// How many of them are in the output.
    pub ok: u64,
    /// How many are not, or not as they should be.
    pub bad: u64,
    /// How far the input was read, in bytes.
    pub bytes: u64,
    /// By kind, sorted.
    pub losses: BTreeMap<&'static str, Lost>,
    /// The first records that went wrong.
    pub errors: Vec<Wrong>,
    /// Records that were repaired to read them.
    #[serde(skip_serializing_if = "is_zero")]
    pub repaired: u64,
    /// Strings that `--deep` opened.
    #[serde(skip_serializing_if = "is_zero")]
    pub opened: u64,
    /// Expressions of SQL that are in the output as their text: how many, and the first row and column.
    #[serde(skip)]
    pub passed_on: Option<(u64, u64, String)>,
    /// Rows with entries for which a typed column has no field: how many, and the first row and column.
    #[serde(skip)]
    pub left_out: Option<(u64, u64, String)>,
    /// The records that could not be written.
    #[serde(skip)]
    pub unwritable: u64,
    /// The records that lost something, and may not.
    #[serde(skip)]
    pub refused: u64,
    /// They are the rows of a table.
    #[serde(skip)]
    pub has_rows: bool,
    /// Where they start can't be said.
    #[serde(skip)]
    pub has_no_offsets: bool,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Tally {
    /// Nothing yet, of an input that is called so.
    pub fn new(input: &str) -> Tally {
        Tally { input: input.to_owned(), ..Tally::default() }
    }

    /// Of the rows of a table.
    pub fn rows(input: &str) -> Tally {
        Tally { has_rows: true, ..Tally::new(input) }
    }

    /// Of rows that stand nowhere by themselves, as in columns.
    pub fn without_offsets(self) -> Tally {
        Tally { has_no_offsets: true, ..self }
    }

    /// Whether there are records that can't be decoded.
    pub fn has_unreadable(&self) -> bool {
        self.bad > self.unwritable + self.refused
    }

    /// Counts what a record lost, or a column of it.
    pub fn lose(&mut self, losses: &Losses, record: u64, column: Option<&str>) {
        for loss in losses.iter() {
            self.lose_some(loss.kind, loss.count, record, || match column {
                Some(column) => format!("{} of column {column}", loss.path),
                None => loss.path.clone(),
            });
        }
    }

    /// Counts bytes that became text, though they are no UTF-8.
    pub fn lose_bytes(&mut self, record: u64, path: impl FnOnce() -> String) {
        self.lose_some(LossKind::Bytes, 1, record, path);
    }

    /// Counts an expression of SQL that is passed on as its text.
    pub fn pass_on(&mut self, record: u64, column: impl FnOnce() -> String) {
        self.passed_on.get_or_insert_with(|| (0, record, column())).0 += 1;
    }

    /// Counts rows with entries for which a column has no field; the first of them is this one.
    pub fn leave_out(&mut self, rows: u64, first: u64, column: impl FnOnce() -> String) {
        self.left_out.get_or_insert_with(|| (0, first, column())).0 += rows;
    }

    fn lose_some(&mut self, kind: LossKind, count: u64, record: u64, path: impl FnOnce() -> String) {
        let new = || Lost { count: 0, record, path: path(), kind };
        self.losses.entry(kind.as_str()).or_insert_with(new).count += count;
    }

    /// Counts a row.
    pub fn row(&mut self, is_bad: bool, is_undecodable: bool) {
        self.bad += u64::from(is_bad);
        self.ok += u64::from(!is_bad);
        self.refused += u64::from(is_bad && !is_undecodable);
    }

    /// Adds what the next part of the same input came to.
    pub fn merge(&mut self, other: &Tally) {
        self.ok += other.ok;
        self.bad += other.bad;
        self.refused += other.refused;
        self.opened += other.opened;
        if let Some((count, record, column)) = &other.passed_on {
            self.passed_on.get_or_insert_with(|| (0, *record, column.clone())).0 += count;
        }
        if let Some((count, record, column)) = &other.left_out {
            self.left_out.get_or_insert_with(|| (0, *record, column.clone())).0 += count;
        }
        for (kind, lost) in &other.losses {
            self.losses.entry(kind).and_modify(|known| known.count += lost.count).or_insert_with(|| lost.clone());
        }
        other.errors.iter().for_each(|wrong| self.list(wrong.clone()));
    }

    /// Lists what went wrong, unless much did.
    pub fn list(&mut self, wrong: Wrong) {
        if self.errors.len() < LISTED {
            self.errors.push(wrong);
        }
    }
}
