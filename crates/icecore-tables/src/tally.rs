//! Counts over many records, for one report at the end and not one for each record.

use icecore::{LossKind, Losses};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of errors in a summary.
const MAX_LISTED_ERRORS: usize = 100;

/// The kind of error for a refused loss.
pub const LOSS: &str = "loss";

/// Prefix of messages about a loss that is not allowed.
pub const REFUSED: &str = "refused by --strict: ";

/// A kind of loss over all records.
#[derive(Clone, Debug, Serialize)]
pub struct LossCount {
    /// Number of losses.
    pub count: u64,
    /// The first record with this loss.
    pub record: u64,
    /// Path of the first loss in that record.
    pub path: String,
    /// The kind of loss.
    #[serde(skip)]
    pub kind: LossKind,
}

/// A record with an error.
#[derive(Clone, Debug, Serialize)]
pub struct RecordError {
    /// Number of the record, from 1 on.
    pub record: u64,
    /// Offset of the record in the input.
    pub offset: u64,
    /// The kind of the error, or [`LOSS`].
    pub kind: &'static str,
    /// The error message.
    pub message: String,
}

/// Counts over the records of an input, as `--summary` writes them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// Name of the input in messages.
    pub input: String,
    /// Number of records.
    pub records: u64,
    /// Number of records in the output.
    pub ok: u64,
    /// Number of records that are missing or incomplete in the output.
    pub bad: u64,
    /// Number of bytes of the input that were read.
    pub bytes: u64,
    /// Losses by kind, sorted.
    pub losses: BTreeMap<&'static str, LossCount>,
    /// The first records with an error.
    pub errors: Vec<RecordError>,
    /// What became of the values of `--column`, as `--kind-column` says it, with their numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<&'static str, u64>,
    /// Formats that were detected in single values, with their numbers: `base64/php`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub formats: BTreeMap<String, u64>,
    /// Number of values that are the word NULL.
    #[serde(skip)]
    pub null_words: u64,
    /// Number of records that were repaired to read them.
    #[serde(skip_serializing_if = "is_zero")]
    pub repaired: u64,
    /// Number of strings that `--deep` opened.
    #[serde(skip_serializing_if = "is_zero")]
    pub opened: u64,
    /// Number of SQL expressions that are written as text, and the first row and column.
    #[serde(skip)]
    pub passed_on: Option<(u64, u64, String)>,
    /// Values of columns with a given format that are not of this format and stay unchanged: their number, and the first
    /// row and column.
    #[serde(skip)]
    pub kept_values: Option<(u64, u64, String)>,
    /// Values that are ordinary text, in columns whose type can't hold it: their number, and the first row and column.
    #[serde(skip)]
    pub texts_as_null: Option<(u64, u64, String)>,
    /// Number of values that were decoded in the given format of their column.
    #[serde(skip)]
    pub decoded_as_given: u64,
    /// Number of rows with entries for which a typed column has no field, and the first row and column.
    #[serde(skip)]
    pub left_out: Option<(u64, u64, String)>,
    /// Number of JSON objects with a key for which their table has no column, and the first such row and key.
    #[serde(skip)]
    pub late_keys: Option<(u64, u64, String)>,
    /// Numbers of rows of JSON lines that lack the key of a column to decode, by the name of the column.
    #[serde(skip)]
    pub absent_keys: BTreeMap<String, u64>,
    /// Number of records that could not be written.
    #[serde(skip)]
    pub unwritable: u64,
    /// Number of records with a loss that is not allowed.
    #[serde(skip)]
    pub refused: u64,
    /// Whether the records are rows of a table.
    #[serde(skip)]
    pub has_rows: bool,
    /// Whether the records have no offsets.
    #[serde(skip)]
    pub has_no_offsets: bool,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Tally {
    /// Creates an empty tally for an input with this name.
    pub fn new(input: &str) -> Tally {
        Tally { input: input.to_owned(), ..Tally::default() }
    }

    /// Creates a tally for the rows of a table.
    pub fn for_rows(input: &str) -> Tally {
        Tally { has_rows: true, ..Tally::new(input) }
    }

    /// Marks the rows as having no offsets, as in columnar files.
    pub fn without_offsets(self) -> Tally {
        Tally { has_no_offsets: true, ..self }
    }

    /// Counts a value that is not of the given format of its column and stays unchanged.
    pub fn count_kept_value(&mut self, record: u64, column: impl FnOnce() -> String) {
        self.kept_values.get_or_insert_with(|| (0, record, column())).0 += 1;
    }

    /// Counts a value by what became of it.
    pub fn count_kind(&mut self, kind: &'static str) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// Counts a value whose format was detected.
    pub fn count_format(&mut self, format: &str) {
        match self.formats.get_mut(format) {
            Some(count) => *count += 1,
            None => drop(self.formats.insert(format.to_owned(), 1)),
        }
    }

    /// Counts a value that is ordinary text, in a column whose type can't hold it.
    pub fn count_text_as_null(&mut self, record: u64, column: impl FnOnce() -> String) {
        self.texts_as_null.get_or_insert_with(|| (0, record, column())).0 += 1;
    }

    /// Returns whether there are records that can't be decoded.
    pub fn has_unreadable(&self) -> bool {
        self.bad > self.unwritable + self.refused
    }

    /// Counts a row that lacks the key of this column.
    pub fn count_absent_key(&mut self, column: &str) {
        match self.absent_keys.get_mut(column) {
            Some(count) => *count += 1,
            None => drop(self.absent_keys.insert(column.to_owned(), 1)),
        }
    }

    /// Counts the losses of a record, or of one of its columns.
    pub fn count_losses(&mut self, losses: &Losses, record: u64, column: Option<&str>) {
        for loss in losses.iter() {
            self.count_loss(loss.kind, loss.count, record, || match column {
                Some(column) => format!("{} of column {column}", loss.path),
                None => loss.path.clone(),
            });
        }
    }

    /// Counts bytes that became text although they are not UTF-8.
    pub fn count_lost_bytes(&mut self, record: u64, path: impl FnOnce() -> String) {
        self.count_byte_texts(1, record, path);
    }

    /// Counts several strings that became text although they are not UTF-8. `record` and `path` are those of the
    /// first one.
    pub fn count_byte_texts(&mut self, count: u64, record: u64, path: impl FnOnce() -> String) {
        self.count_loss(LossKind::Bytes, count, record, path);
    }

    /// Counts an SQL expression that is written as text.
    pub fn count_passed_on(&mut self, record: u64, column: impl FnOnce() -> String) {
        self.passed_on.get_or_insert_with(|| (0, record, column())).0 += 1;
    }

    /// Counts rows with entries for which a column has no field. `first` is the first of these rows.
    pub fn count_left_out(&mut self, rows: u64, first: u64, column: impl FnOnce() -> String) {
        self.left_out.get_or_insert_with(|| (0, first, column())).0 += rows;
    }

    /// Counts a JSON object with a key for which its table has no column.
    pub fn count_late_key(&mut self, record: u64, key: String) {
        self.late_keys.get_or_insert((0, record, key)).0 += 1;
    }

    fn count_loss(&mut self, kind: LossKind, count: u64, record: u64, path: impl FnOnce() -> String) {
        let new = || LossCount { count: 0, record, path: path(), kind };
        self.losses.entry(kind.as_str()).or_insert_with(new).count += count;
    }

    /// Counts a row.
    pub fn count_row(&mut self, is_bad: bool, is_undecodable: bool) {
        self.bad += u64::from(is_bad);
        self.ok += u64::from(!is_bad);
        self.refused += u64::from(is_bad && !is_undecodable);
    }

    /// Adds the counts of the next part of the same input.
    pub fn merge(&mut self, other: &Tally) {
        self.ok += other.ok;
        self.bad += other.bad;
        self.refused += other.refused;
        self.opened += other.opened;
        if let Some((count, record, column)) = &other.passed_on {
            self.passed_on.get_or_insert_with(|| (0, *record, column.clone())).0 += count;
        }
        if let Some((count, record, column)) = &other.kept_values {
            self.kept_values.get_or_insert_with(|| (0, *record, column.clone())).0 += count;
        }
        if let Some((count, record, column)) = &other.texts_as_null {
            self.texts_as_null.get_or_insert_with(|| (0, *record, column.clone())).0 += count;
        }
        other.kinds.iter().for_each(|(kind, count)| *self.kinds.entry(kind).or_default() += count);
        for (format, count) in &other.formats {
            *self.formats.entry(format.clone()).or_default() += count;
        }
        self.null_words += other.null_words;
        self.decoded_as_given += other.decoded_as_given;
        if let Some((count, record, column)) = &other.left_out {
            self.left_out.get_or_insert_with(|| (0, *record, column.clone())).0 += count;
        }
        if let Some((count, record, key)) = &other.late_keys {
            self.late_keys.get_or_insert_with(|| (0, *record, key.clone())).0 += count;
        }
        for (column, count) in &other.absent_keys {
            *self.absent_keys.entry(column.clone()).or_default() += count;
        }
        for (kind, loss) in &other.losses {
            self.losses.entry(kind).and_modify(|total| total.count += loss.count).or_insert_with(|| loss.clone());
        }
        other.errors.iter().for_each(|error| self.list_error(error.clone()));
    }

    /// Lists an error, unless there are too many.
    pub fn list_error(&mut self, error: RecordError) {
        if self.errors.len() < MAX_LISTED_ERRORS {
            self.errors.push(error);
        }
    }
}
