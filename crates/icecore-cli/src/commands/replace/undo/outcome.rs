//! What became of the values of an undo file.

use crate::report::{Abort, Report, code};
use icecore_tables::plural::{format_count, group_digits};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of unrestored values that the report lists.
const MAX_LISTED: usize = 100;

/// The result for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueResult {
    /// The old value was restored.
    Restored,
    /// The row already had its old value.
    AlreadyOld,
    /// The row has neither the stored value of the change nor the old value.
    ChangedSince,
    /// There is no row with its key.
    RowGone,
    /// Its column does not accept the old value any more.
    Refused,
    /// The database stored something other than the old value.
    Altered,
}

impl ValueResult {
    fn name(self) -> &'static str {
        match self {
            ValueResult::Restored => "put_back",
            ValueResult::AlreadyOld => "already",
            ValueResult::ChangedSince => "changed_since",
            ValueResult::RowGone => "gone",
            ValueResult::Refused => "refused",
            ValueResult::Altered => "altered",
        }
    }
}

/// Number of values with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct ResultCounts {
    #[serde(rename = "put_back")]
    restored: u64,
    #[serde(rename = "already")]
    already_old: u64,
    changed_since: u64,
    #[serde(rename = "gone")]
    row_gone: u64,
    refused: u64,
    altered: u64,
}

/// The results for all values so far.
#[derive(Debug, Default)]
pub struct RestoreTotals {
    /// Number of values in the file.
    pub value_count: u64,
    total: ResultCounts,
    /// Counts by table and column.
    counts_by_column: BTreeMap<String, BTreeMap<String, ResultCounts>>,
    /// The first values that were not restored.
    unrestored_values: Vec<UnrestoredValue>,
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
    total: ResultCounts,
    tables: Vec<TableCounts<'w>>,
    #[serde(rename = "left")]
    unrestored: &'w [UnrestoredValue],
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
    counts: ResultCounts,
}

impl ResultCounts {
    fn add(&mut self, result: ValueResult) {
        *match result {
            ValueResult::Restored => &mut self.restored,
            ValueResult::AlreadyOld => &mut self.already_old,
            ValueResult::ChangedSince => &mut self.changed_since,
            ValueResult::RowGone => &mut self.row_gone,
            ValueResult::Refused => &mut self.refused,
            ValueResult::Altered => &mut self.altered,
        } += 1;
    }

    fn sum(&self) -> u64 {
        self.restored + self.already_old + self.changed_since + self.row_gone + self.refused + self.altered
    }
}

impl RestoreTotals {
    /// Counts a value.
    pub fn count_value(&mut self, table: &str, column: &str, key: &[String], result: ValueResult) {
        self.total.add(result);
        // The names are copied only for the first value of a column.
        match self.counts_by_column.get_mut(table).and_then(|columns| columns.get_mut(column)) {
            Some(counts) => counts.add(result),
            None => {
                self.counts_by_column
                    .entry(table.to_owned())
                    .or_default()
                    .entry(column.to_owned())
                    .or_default()
                    .add(result);
            }
        }
        if !matches!(result, ValueResult::Restored | ValueResult::AlreadyOld)
            && self.unrestored_values.len() < MAX_LISTED
        {
            let (table, column) = (table.to_owned(), column.to_owned());
            self.unrestored_values.push(UnrestoredValue { table, column, key: key.to_vec(), reason: result.name() });
        }
    }

    /// Returns the number of values examined so far.
    pub fn examined_count(&self) -> u64 {
        self.total.sum()
    }

    /// Reports the totals.
    pub fn report_totals(&self, dry_run: bool, report: &Report) {
        let verb = if dry_run { "would be restored" } else { "restored" };
        let has_restored =
            |columns: &&BTreeMap<String, ResultCounts>| columns.values().any(|counts| counts.restored > 0);
        let tables = self.counts_by_column.values().filter(has_restored).count() as u64;
        let values = format_count(self.total.restored, "value", "values");
        report.report_command_note("done", format!("{values} {verb} in {}", format_count(tables, "table", "tables")));
        let total = &self.total;
        let others = [
            (total.already_old, "already", "already had their old values"),
            (total.changed_since, "changed", "have been changed since, and are left as they are"),
            (total.row_gone, "gone", "belong to rows that no longer exist"),
            (total.refused, "refused", "are left as they are: their columns no longer accept the old values"),
            (total.altered, "altered", "were written, but the database stored something else (a trigger?)"),
        ];
        for (count, kind, text) in others {
            if count > 0 {
                report.report_command_note(kind, format!("{} {text}", group_digits(count)));
            }
        }
    }

    /// Returns the report as JSON.
    pub fn to_json(&self, undo: &Path, dry_run: bool) -> Result<String, Abort> {
        let tables = self.counts_by_column.iter().map(|(table, columns)| TableCounts {
            table,
            columns: columns.iter().map(|(column, counts)| ColumnCounts { column, counts: *counts }).collect(),
        });
        let summary = UndoSummary {
            undo: undo.display().to_string(),
            dry_run,
            values: self.value_count,
            total: self.total,
            tables: tables.collect(),
            unrestored: &self.unrestored_values,
        };
        let mut text = Vec::new();
        crate::json::push_indented(&summary, &mut text)
            .map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
        text.push(b'\n');
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
