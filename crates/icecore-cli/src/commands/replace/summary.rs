//! The report that `--summary` writes.

use crate::report::{Abort, code};
use icecore_replace::Rules;
use icecore_tables::replace::change_counts::ChangeCounts;
use icecore_tables::replace::places::ColumnRegistry;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// An input, and its form.
#[derive(Clone, Debug, Serialize)]
pub struct InputSummary {
    pub input: String,
    pub form: String,
    /// UTF-16 or UTF-32. Offsets in such an input are those of its text in UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    #[serde(rename = "changed")]
    pub is_changed: bool,
}

#[derive(Serialize)]
struct ReplaceSummary<'w> {
    dry_run: bool,
    /// Number of values that changed.
    values: u64,
    /// Number of strings that changed in those values.
    strings: u64,
    broken: u64,
    mended: u64,
    /// Number of repaired values, by the explanation of the damage.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    explanations: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "is_zero")]
    guessed: u64,
    inputs: &'w [InputSummary],
    tables: Vec<TableSummary>,
    pairs: Vec<PairSummary>,
    /// The first values that look frozen and are broken.
    broken_values: Vec<BrokenValueRow>,
    /// Number of literals with matches in statements that have no rows. They were not changed.
    outside: u64,
    /// The file with the old values.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo_file: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct TableSummary {
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
    table: String,
    columns: Vec<ColumnSummary>,
}

#[derive(Serialize)]
struct ColumnSummary {
    column: String,
    values: u64,
    strings: u64,
    /// Number of searched values, by format.
    frozen: BTreeMap<&'static str, u64>,
    broken: u64,
    mended: u64,
    opaque: u64,
    signed: u64,
    /// Matches inside other text, where lengths would become wrong.
    embedded: u64,
    /// Matches in more layers than are searched.
    beyond: u64,
    /// Keys with matches, which stay unchanged without `--keys`.
    kept_keys: u64,
    /// Names of classes with matches, which stay unchanged without `--classes`.
    kept_classes: u64,
    refused: u64,
    skipped: u64,
}

#[derive(Serialize)]
struct PairSummary {
    old: String,
    new: String,
    spelling: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct BrokenValueRow {
    input: String,
    table: String,
    column: String,
    row: u64,
    /// Offset of the value in the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// The key of its row, in a database.
    #[serde(skip_serializing_if = "String::is_empty")]
    key: String,
    format: &'static str,
    /// Number of texts around it.
    level: u32,
    /// Offset in it at which reading stopped.
    stopped: u64,
    reason: String,
    /// Its first bytes.
    begins: String,
}

/// Returns the report as JSON.
pub fn format_summary(
    change_counts: &ChangeCounts,
    inputs: &[InputSummary],
    rules: &Rules,
    column_registry: &ColumnRegistry,
    dry_run: bool,
    undo_file: Option<&Path>,
) -> Result<String, Abort> {
    let total = change_counts.total();
    let mut tables: BTreeMap<(Option<String>, String), Vec<ColumnSummary>> = BTreeMap::new();
    for (number, counts) in &change_counts.places {
        let table_column = column_registry.place(*number);
        tables.entry((table_column.schema, table_column.table)).or_default().push(ColumnSummary {
            column: table_column.column,
            values: counts.values,
            strings: counts.tally.changed,
            frozen: counts.tally.frozen.iter().collect(),
            broken: counts.tally.broken,
            mended: counts.tally.repaired,
            opaque: counts.tally.opaque,
            signed: counts.tally.signed,
            embedded: counts.tally.embedded,
            beyond: counts.tally.beyond,
            kept_keys: counts.tally.kept_keys,
            kept_classes: counts.tally.kept_classes,
            refused: counts.refused + counts.tally.unrepresentable,
            skipped: counts.skipped,
        });
    }
    let to_table = |((schema, table), columns)| TableSummary { schema, table, columns };
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let to_pair = |(number, count): (&usize, &u64)| {
        let pair = rules.pairs().get(*number)?;
        Some(PairSummary {
            old: lossy(pair.old()),
            new: lossy(pair.replacement()),
            spelling: pair.spelling().name(),
            count: *count,
        })
    };
    let to_broken_row = |value: &icecore_tables::replace::change_counts::BrokenValue| {
        let table_column = column_registry.place(value.place);
        BrokenValueRow {
            input: value.input.clone(),
            table: table_column.table,
            column: table_column.column,
            row: value.row,
            offset: value.offset,
            key: value.key.clone(),
            format: value.broken.format,
            level: value.broken.level,
            stopped: value.broken.offset,
            reason: value.broken.reason.clone(),
            begins: lossy(&value.broken.head),
        }
    };
    let summary = ReplaceSummary {
        dry_run,
        values: total.values,
        strings: total.tally.changed,
        broken: total.tally.broken,
        mended: total.tally.repaired,
        explanations: total.tally.explanations.clone(),
        guessed: total.tally.guessed,
        inputs,
        tables: tables.into_iter().map(to_table).collect(),
        pairs: change_counts.pairs.iter().filter_map(to_pair).collect(),
        broken_values: change_counts.broken.iter().map(to_broken_row).collect(),
        outside: change_counts.outside,
        undo_file: undo_file.map(|path| path.display().to_string()),
    };
    let mut text = Vec::new();
    crate::json::push_indented(&summary, &mut text).map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
    text.push(b'\n');
    Ok(String::from_utf8_lossy(&text).into_owned())
}
