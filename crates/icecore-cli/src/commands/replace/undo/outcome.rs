//! The results for the values of an undo file.

use crate::report::{Abort, Report, code};
use icecore_tables::plural::{format_count, group_digits};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of unrestored values that the report lists.
const MAX_LISTED: usize = 100;

/// The result for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The old value was restored.
    PutBack,
    /// The row already had its old value.
    Already,
    /// The row has neither the stored value of the change nor the old value.
    ChangedSince,
    /// There is no row with its key.
    Gone,
    /// Its column does not accept the old value any more.
    Refused,
    /// The database stored something other than the old value.
    Altered,
}

impl Fate {
    fn name(self) -> &'static str {
        match self {
            Fate::PutBack => "put_back",
            Fate::Already => "already",
            Fate::ChangedSince => "changed_since",
            Fate::Gone => "gone",
            Fate::Refused => "refused",
            Fate::Altered => "altered",
        }
    }
}

/// Number of values by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct FateCounts {
    put_back: u64,
    already: u64,
    changed_since: u64,
    gone: u64,
    refused: u64,
    altered: u64,
}

/// The results for all values so far.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Number of values in the file.
    pub expected: u64,
    total: FateCounts,
    /// Counts by table and column.
    places: BTreeMap<String, BTreeMap<String, FateCounts>>,
    /// The first values that were not restored.
    left: Vec<UnrestoredValue>,
}

/// A value that was not restored.
#[derive(Debug, Serialize)]
struct UnrestoredValue {
    table: String,
    column: String,
    key: Vec<String>,
    reason: &'static str,
}

#[derive(Serialize)]
struct UndoSummary<'w> {
    undo: String,
    dry_run: bool,
    /// Number of values in the file.
    values: u64,
    #[serde(flatten)]
    total: FateCounts,
    tables: Vec<TableCounts<'w>>,
    left: &'w [UnrestoredValue],
}

#[derive(Serialize)]
struct TableCounts<'w> {
    table: &'w str,
    columns: Vec<ColumnCounts<'w>>,
}

#[derive(Serialize)]
struct ColumnCounts<'w> {
    column: &'w str,
    #[serde(flatten)]
    counts: FateCounts,
}

impl FateCounts {
    fn add(&mut self, fate: Fate) {
        *match fate {
            Fate::PutBack => &mut self.put_back,
            Fate::Already => &mut self.already,
            Fate::ChangedSince => &mut self.changed_since,
            Fate::Gone => &mut self.gone,
            Fate::Refused => &mut self.refused,
            Fate::Altered => &mut self.altered,
        } += 1;
    }

    fn sum(&self) -> u64 {
        self.put_back + self.already + self.changed_since + self.gone + self.refused + self.altered
    }
}

impl Outcome {
    /// Counts a value.
    pub fn count_value(&mut self, table: &str, column: &str, key: &[String], fate: Fate) {
        self.total.add(fate);
        // Avoids allocating names for each value.
        match self.places.get_mut(table).and_then(|columns| columns.get_mut(column)) {
            Some(counts) => counts.add(fate),
            None => {
                self.places.entry(table.to_owned()).or_default().entry(column.to_owned()).or_default().add(fate);
            }
        }
        if !matches!(fate, Fate::PutBack | Fate::Already) && self.left.len() < MAX_LISTED {
            let (table, column) = (table.to_owned(), column.to_owned());
            self.left.push(UnrestoredValue { table, column, key: key.to_vec(), reason: fate.name() });
        }
    }

    /// Returns the number of values examined so far.
    pub fn seen_count(&self) -> u64 {
        self.total.sum()
    }

    /// Reports the totals.
    pub fn report(&self, dry_run: bool, report: &Report) {
        let verb = if dry_run { "would be restored" } else { "restored" };
        let is_touched = |columns: &&BTreeMap<String, FateCounts>| columns.values().any(|counts| counts.put_back > 0);
        let tables = self.places.values().filter(is_touched).count() as u64;
        let values = format_count(self.total.put_back, "value", "values");
        report.remark("done", format!("{values} {verb} in {}", format_count(tables, "table", "tables")));
        let total = &self.total;
        let more = [
            (total.already, "already", "already had their old values"),
            (total.changed_since, "changed", "have been changed since, and are left as they are"),
            (total.gone, "gone", "belong to rows that no longer exist"),
            (total.refused, "refused", "are left as they are: their columns no longer accept the old values"),
            (total.altered, "altered", "were written, but the database stored something else (a trigger?)"),
        ];
        for (count, kind, text) in more {
            if count > 0 {
                report.remark(kind, format!("{} {text}", group_digits(count)));
            }
        }
    }

    /// Returns the report as JSON.
    pub fn to_json(&self, undo: &Path, dry_run: bool) -> Result<String, Abort> {
        let tables = self.places.iter().map(|(table, columns)| TableCounts {
            table,
            columns: columns.iter().map(|(column, counts)| ColumnCounts { column, counts: *counts }).collect(),
        });
        let written = UndoSummary {
            undo: undo.display().to_string(),
            dry_run,
            values: self.expected,
            total: self.total,
            tables: tables.collect(),
            left: &self.left,
        };
        let mut text = Vec::new();
        crate::json::push_indented(&written, &mut text)
            .map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
        text.push(b'\n');
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
