//! `icecore replace --db`: changes values in the tables of a database, by ranges of their keys.

use super::resume::ResumeState;
use super::undo::Journal;
use super::{ReplaceJob, ReplaceResults, dry_run, messages, summary};
use crate::database::{database_error, table_error};
use crate::output_writer::OutputWriter;
use crate::report::{Abort, Report, code, usage_text_error};
use crate::target::{Outputs, Target};
use icecore::rewrite::{self, Edits, Tally};
use icecore_store::Address;
use icecore_store::table::{Cell, Change, Column, Form, Row, Table};
use icecore_tables::replace::change_counts::{BrokenValue, ChangeCounts, ValueChanged};
use icecore_tables::replace::show::ChangeContext;
use icecore_tables::replace::value;

impl ReplaceJob<'_> {
    /// Changes the selected tables.
    pub(super) fn change_database(&self, files: &[std::path::PathBuf], report: &mut Report) -> Result<(), Abort> {
        let args = self.args;
        if let Some(file) = files.first() {
            return Err(usage_text_error(format!("`{}`: --db takes no files", file.display())));
        }
        if args.tables.is_empty() && !args.all_tables {
            return Err(usage_text_error(
                "--db needs --table TABLE, which may be given several times, or --all-tables",
            ));
        }
        if args.in_place_args.output_args.output.is_some()
            || args.in_place_args.output_args.out_dir.is_some()
            || args.in_place_args.in_place
            || args.form.is_some()
        {
            return Err(usage_text_error("-o, --out-dir, --in-place and --in are for files, not for --db"));
        }
        let mut outputs = Outputs::new(&[], args.force);
        let summary_destination = args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
        let address = args.database.resolve_existing_address()?;
        let names = match args.all_tables {
            true => icecore_store::table::list_names(&address).map_err(database_error)?,
            false => args.tables.clone(),
        };
        let mut resume = match args.resume.as_ref().filter(|_| !args.dry_run) {
            Some(file) => ResumeState::open(file, &self.rules)?,
            None => ResumeState::default(),
        };
        let mut journal = Journal::open(args, &address, &self.rules, &mut resume, report)?;
        let mut results = ReplaceResults::default();
        let mut writer = OutputWriter::stdout();
        let mut is_complete = true;
        crate::progress::set_input_count(names.len());
        for name in &names {
            report.count_input();
            let mut progress_files = ProgressFiles { resume: &mut resume, journal: &mut journal };
            let result = self.change_table(&address, name, &mut progress_files, &mut results, &mut writer, report);
            if let Err(Abort::Failed(code, message)) = result {
                is_complete = false;
                report.report_fault(code, name, message);
                // With --all-tables, tables that can't be changed, such as one without a key, are skipped.
                if code != code::FINDING && !args.all_tables {
                    break;
                }
                continue;
            }
            result?;
        }
        if is_complete {
            journal.finish()?;
        }
        writer.flush()?;
        messages::report_totals(&results, &self.rules, args, &self.column_registry, report);
        let undo_file = journal.written_path();
        if let Some(file) = undo_file {
            let file = file.display();
            let text =
                format!("the old values are in {file}: icecore replace --undo {file} --db {address} puts them back");
            report.report_command_note("undo", text);
        }
        let build_summary = || {
            summary::format_summary(
                &results.counts,
                &results.inputs,
                &self.rules,
                &self.column_registry,
                args.dry_run,
                undo_file,
            )
        };
        summary_destination.map_or(Ok(()), |destination| Target::write_text(destination, &build_summary()?))
    }

    /// Changes the selected columns of a table, in transactions of some rows each.
    fn change_table(
        &self,
        address: &Address,
        name: &str,
        progress_files: &mut ProgressFiles<'_>,
        results: &mut ReplaceResults,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<(), Abort> {
        if progress_files.resume.is_done(name) {
            report.report_command_note("resume", format!("{name}: already done, according to the file of --resume"));
            return Ok(());
        }
        crate::progress::begin_input(name);
        let table = Table::open(address, name, self.args.key.as_deref());
        let mut table = table.map_err(|error| table_error(address, name, database_error(error)))?;
        let filter = self.args.table_filter().without_tables();
        let is_selected = |column: &Column| filter.selects(table.schema(), table.name(), &column.name);
        let columns: Vec<usize> = table
            .columns()
            .iter()
            .enumerate()
            .filter(|(_, column)| is_selected(column))
            .map(|(index, _)| index)
            .collect();
        let registry_number = |column: &usize| {
            let name = table.columns().get(*column).map_or("", |column| &column.name);
            self.column_registry.number_place(table.schema(), table.name(), name).unwrap_or_default()
        };
        let registry_numbers: Vec<u32> = columns.iter().map(registry_number).collect();
        for column in table.columns() {
            self.column_registry.number_place(table.schema(), table.name(), &column.name);
        }
        let values_before = results.counts.total().values;
        let mut last_done_key = progress_files.resume.last_key(name);
        let mut walk =
            TableWalk { job: self, name, registry_numbers: &registry_numbers, columns: &columns, row_number: 0 };
        while !columns.is_empty() {
            let rows = match table.read_rows(last_done_key.as_deref(), &columns, self.args.rows) {
                Ok(rows) => rows,
                Err(error) => return Err(walk.interruption_error(error, last_done_key.as_deref())),
            };
            let Some(last_row) = rows.last() else { break };
            let last_key = last_row.key.clone();
            walk.change_rows(&mut table, &rows, progress_files, &mut results.counts, writer)
                .map_err(|error| walk.interruption_error(error, last_done_key.as_deref()))?;
            writer.release_record()?;
            progress_files.resume.set_last_key(name, &last_key)?;
            last_done_key = Some(last_key);
        }
        progress_files.resume.finish_table(name)?;
        let is_changed = results.counts.total().values > values_before;
        let (input, form) = (name.to_owned(), "table".to_owned());
        results.inputs.push(summary::InputSummary { input, form, encoding: None, is_changed });
        Ok(())
    }
}

/// The files that record the progress and the old values.
struct ProgressFiles<'p> {
    resume: &'p mut ResumeState,
    journal: &'p mut Journal,
}

/// The walk over a table.
struct TableWalk<'w, 'j> {
    job: &'w ReplaceJob<'j>,
    name: &'w str,
    /// Indices of the selected columns in the table.
    columns: &'w [usize],
    /// Number of each selected column in the [`ColumnRegistry`](icecore_tables::replace::places::ColumnRegistry).
    registry_numbers: &'w [u32],
    /// Number of the current row, from 1 on.
    row_number: u64,
}

/// A value to change.
struct PlannedChange<'p> {
    row: &'p Row,
    cell: &'p Cell,
    /// Index in the selected columns.
    column_index: usize,
    row_number: u64,
    edits: Edits,
    new_value: Vec<u8>,
    tally: Tally,
    /// Number of occurrences of each pair.
    pair_counts: std::collections::BTreeMap<usize, u64>,
}

impl TableWalk<'_, '_> {
    /// Changes the values of some rows, in one transaction.
    fn change_rows(
        &mut self,
        table: &mut Table,
        rows: &[Row],
        progress_files: &mut ProgressFiles<'_>,
        counts: &mut ChangeCounts,
        writer: &mut OutputWriter,
    ) -> icecore_store::Result<()> {
        let mut planned_changes = Vec::new();
        for row in rows {
            self.row_number += 1;
            for (column_index, cell) in row.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                planned_changes.extend(self.plan_change(table, row, column_index, cell, counts));
            }
        }
        crate::progress::set_record_count(self.row_number);
        let mut were_applied = vec![true; planned_changes.len()];
        if !self.job.args.dry_run && !planned_changes.is_empty() {
            let planned_columns = planned_changes
                .iter()
                .map(|plan: &PlannedChange<'_>| (plan, self.columns.get(plan.column_index).copied()));
            let changes: Vec<Change<'_>> = planned_columns
                .map(|(plan, column)| Change {
                    key: &plan.row.key,
                    column: column.unwrap_or_default(),
                    is_text: plan.cell.is_text,
                    old: &plan.cell.bytes,
                    new: &plan.new_value,
                })
                .collect();
            let last_key = rows.last().map_or(&[][..], |row| &row.key);
            let (name, key) = (self.name, self.job.args.key.as_deref());
            were_applied =
                progress_files.journal.change_values(table, name, key, &changes, last_key, progress_files.resume)?;
        }
        for (mut plan, is_applied) in planned_changes.into_iter().zip(were_applied) {
            let registry_number = self.registry_numbers.get(plan.column_index).copied().unwrap_or_default();
            if !is_applied {
                counts.places.entry(registry_number).or_default().skipped += 1;
                continue;
            }
            if self.job.args.dry_run {
                self.show_change(table, &plan, registry_number, writer);
            }
            counts.add_pair_counts(&plan.pair_counts);
            let broken_before = counts.broken.len();
            counts.add_value(registry_number, plan.row_number, None, ValueChanged::Yes, &mut plan.tally);
            set_table_and_key(counts.broken.get_mut(broken_before..).unwrap_or_default(), self.name, plan.row);
        }
        Ok(())
    }

    /// Determines the change of a value; `None` if it does not change.
    fn plan_change<'p>(
        &self,
        table: &Table,
        row: &'p Row,
        column_index: usize,
        cell: &'p Cell,
        counts: &mut ChangeCounts,
    ) -> Option<PlannedChange<'p>> {
        let column_number = *self.columns.get(column_index)?;
        let column = table.columns().get(column_number)?;
        let (job, registry_number) = (self.job, self.registry_numbers.get(column_index).copied().unwrap_or_default());
        if !job.rewrite_options.base64 && !job.rewrite_options.repair && !job.rules.may_match(&cell.bytes) {
            return None;
        }
        let mut replacing = job.rules.replacing().with_encoded(job.rewrite_options.base64);
        let mut tally = Tally::default();
        let json_edits = (column.form == Form::Json).then(|| {
            rewrite::document(&cell.bytes, &job.json_stage, &mut replacing, &job.rewrite_options, &mut tally).ok()
        });
        let edits = match json_edits.flatten() {
            Some(edits) => edits,
            None => value::find_edits(&cell.bytes, &mut replacing, &job.rewrite_options, &mut tally),
        };
        let is_excluded = job.args.only_serialized && tally.frozen.is_empty();
        if is_excluded && tally.broken == 0 {
            return None;
        }
        let new_value = edits.apply(&cell.bytes);
        if edits.is_empty() || is_excluded {
            tally.changed = 0;
            if tally.is_notable() {
                let broken_before = counts.broken.len();
                counts.add_value(registry_number, self.row_number, None, ValueChanged::No, &mut tally);
                set_table_and_key(counts.broken.get_mut(broken_before..).unwrap_or_default(), self.name, row);
            }
            return None;
        }
        if !table.accepts_value(column_number, cell.is_text, &new_value) {
            counts.places.entry(registry_number).or_default().refused += 1;
            return None;
        }
        Some(PlannedChange {
            row,
            cell,
            column_index,
            row_number: self.row_number,
            edits,
            new_value,
            tally,
            pair_counts: replacing.take_counts(),
        })
    }

    fn show_change(&self, table: &Table, plan: &PlannedChange<'_>, registry_number: u32, writer: &mut OutputWriter) {
        let table_column = self.job.column_registry.place(registry_number);
        let key = format_key(&table.key_names(), &plan.row.key);
        let context = ChangeContext { input: &key, place: &table_column, row: 0, tally: &plan.tally };
        dry_run::show_keyed_changes(&context, &plan.cell.bytes, &plan.edits, self.job.paint, writer.buffer_mut());
    }

    /// Returns the error for an interrupted walk. The changes up to the key `last_done_key` remain, and the message
    /// says how to continue.
    fn interruption_error(&self, error: icecore_store::Error, last_done_key: Option<&[String]>) -> Abort {
        let (code, message) = match database_error(error) {
            Abort::Failed(code, message) => (code, message),
            other => return other,
        };
        match last_done_key {
            Some(last_done_key) if !self.job.args.dry_run => {
                let advice = match &self.job.args.resume {
                    Some(file) => {
                        format!("the same command continues from there, with the progress in {}", file.display())
                    }
                    None => "run it again for the rest".to_owned(),
                };
                Abort::Failed(code, format!("{message}; done up to the key {}: {advice}", last_done_key.join(", ")))
            }
            _ => Abort::Failed(code, message),
        }
    }
}

/// Sets the table and the key of values that were found broken in a row.
fn set_table_and_key(broken_values: &mut [BrokenValue], table: &str, row: &Row) {
    for value in broken_values {
        (value.input, value.key) = (table.to_owned(), row.key.join(", "));
    }
}

/// Formats a key: `id = 7`.
pub(super) fn format_key(names: &[&str], key: &[String]) -> String {
    let pairs: Vec<String> = names.iter().zip(key).map(|(name, value)| format!("{name} = {value}")).collect();
    pairs.join(", ")
}
