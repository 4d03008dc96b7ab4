//! `icecore replace --undo`: restores the old values from an undo file.
//!
//! Records are processed from the last to the first, so a value that changed twice gets its original value. Each record
//! is a transaction of its own. A value is restored only if the row has exactly the value that the change stored; this
//! is checked here, by bytes, and again by the database when it writes.

use super::super::args::Replace;
use super::super::{dry_run, resume};
use super::batch::Batch;
use super::journal::check_no_other_use;
use super::outcome::{RestoreTotals, ValueResult};
use super::payload::{CellDigest, Changes, RunHeader, TableNames};
use super::record::RecordKind;
use super::undo_file::{RecordEntry, UndoFile};
use crate::arguments::Global;
use crate::database::database_error;
use crate::output_writer::OutputWriter;
use crate::paint::Paint;
use crate::progress;
use crate::report::{Abort, Report, code, io_reason, usage_text_error};
use crate::target::{Outputs, Target};
use icecore::rewrite::{Edits, Tally};
use icecore_store::table::Table;
use icecore_store::{Address, ErrorKind};
use icecore_tables::filter::Filter;
use icecore_tables::replace::places::TableColumn;
use icecore_tables::replace::show::ChangeContext;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

/// Restores the values that a change replaced.
pub fn run(args: &Replace, global: &Global, path: &Path, report: &mut Report) -> Result<(), Abort> {
    check_usage(args)?;
    check_no_other_use(args, path)?;
    let address = args.database.resolve_existing_address()?;
    let mut outputs = Outputs::new(&[], args.force);
    let summary_destination = args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
    report.count_input();
    let mut restore = Restore::open(args, global, path)?;
    restore.check_database(&address, report)?;
    restore.check_tables(&address)?;
    let mut state = match args.resume.as_ref().filter(|_| !args.dry_run) {
        Some(file) => Some((file, UndoState::open(file, &restore)?)),
        None => None,
    };
    let mut writer = OutputWriter::stdout();
    let result = restore.restore_records(&address, &mut state, &mut writer);
    writer.flush()?;
    restore.totals.report_totals(args.dry_run, report);
    for unknown in restore.unknown_names() {
        report.report_command_note("unknown", format!("{unknown} in the undo file"));
    }
    if let Some(destination) = summary_destination {
        Target::write_text(destination, &restore.totals.to_json(path, args.dry_run)?)?;
    }
    result
}

/// Checks what clap can't check: `--undo` needs a database, and takes no texts and files.
fn check_usage(args: &Replace) -> Result<(), Abort> {
    if let Some(word) = args.words.first() {
        let text = format!("`{}`: --undo takes neither texts nor files", word.to_string_lossy());
        return Err(usage_text_error(text));
    }
    if args.database.db.is_none() && args.database.db_file.is_none() {
        return Err(usage_text_error("--undo needs --db URL: the database whose values it puts back"));
    }
    Ok(())
}

/// An undo file, and the results so far.
struct Restore<'r> {
    args: &'r Replace,
    paint: Paint,
    file: UndoFile,
    runs: Vec<RunHeader>,
    tables: Vec<TableNames>,
    /// The records with values, in the order of the file.
    changes: Vec<RecordEntry>,
    /// For each table with values in the file, the numbers of the columns to restore: at first all columns with values,
    /// after `check_tables` only the selected ones.
    columns_to_restore: BTreeMap<usize, Vec<usize>>,
    filter: Filter,
    totals: RestoreTotals,
    /// In a dry run over several runs of a change: the values that the records so far would have restored, by table,
    /// key and column.
    simulated_digests: HashMap<(String, Vec<String>, usize), CellDigest>,
}

impl<'r> Restore<'r> {
    /// Reads the whole file, so that invalid records are found before anything is changed.
    fn open(args: &'r Replace, global: &Global, path: &Path) -> Result<Restore<'r>, Abort> {
        progress::begin_input(&path.display().to_string());
        let file = UndoFile::open_for_reading(path)?;
        let mut restore = Restore {
            args,
            paint: Paint::new(global.color, &io::stdout()),
            file,
            runs: Vec::new(),
            tables: Vec::new(),
            changes: Vec::new(),
            columns_to_restore: BTreeMap::new(),
            filter: args.table_filter(),
            totals: RestoreTotals::default(),
            simulated_digests: HashMap::new(),
        };
        for entry in restore.file.entries.clone() {
            restore.index_record(&entry)?;
        }
        Ok(restore)
    }

    /// Checks a record, and keeps the parts that later records need.
    fn index_record(&mut self, entry: &RecordEntry) -> Result<(), Abort> {
        let payload = self.file.read_payload(entry)?;
        let parse_error = |file: &UndoFile, error: serde_json::Error| file.record_error(entry, &error.to_string());
        match entry.head.kind {
            RecordKind::Run => {
                self.runs.push(serde_json::from_slice(&payload).map_err(|error| parse_error(&self.file, error))?)
            }
            RecordKind::Table => {
                self.tables.push(serde_json::from_slice(&payload).map_err(|error| parse_error(&self.file, error))?);
            }
            RecordKind::Changes => {
                let changes = self.decode_changes(entry, &payload)?;
                for cell in changes.rows.iter().flat_map(|row| &row.cells) {
                    let column_numbers = self.columns_to_restore.entry(changes.table).or_default();
                    if !column_numbers.contains(&cell.column) {
                        column_numbers.push(cell.column);
                    }
                }
                self.totals.value_count += changes.cell_count();
                self.changes.push(*entry);
            }
            RecordKind::End => {}
        }
        Ok(())
    }

    /// Decodes the changes of a record, and checks that their tables and columns are known.
    fn decode_changes(&self, entry: &RecordEntry, payload: &[u8]) -> Result<Changes, Abort> {
        let changes = Changes::decode(payload).map_err(|reason| self.file.record_error(entry, &reason))?;
        let Some(names) = self.tables.get(changes.table) else {
            return Err(self.file.record_error(entry, "its table is not named before it"));
        };
        for row in &changes.rows {
            if row.key.len() != names.key.len() {
                return Err(self.file.record_error(entry, "a key has another number of columns than its table's"));
            }
            if row.cells.iter().any(|cell| cell.column >= names.columns.len()) {
                return Err(self.file.record_error(entry, "a value is of a column that is not named"));
            }
        }
        Ok(changes)
    }

    /// Checks that the undo file belongs to this database, and notes an incomplete last record.
    fn check_database(&self, address: &Address, report: &Report) -> Result<(), Abort> {
        if self.file.is_torn {
            let text = "the last record of the undo file is not whole: the change was ended before it committed that";
            report.report_command_note("torn", text.to_owned());
        }
        let identity = address.identity();
        let Some(other_run) = self.runs.iter().find(|run| run.identity != identity) else { return Ok(()) };
        if self.args.other_db {
            return Ok(());
        }
        let database_name = icecore::text::printable(&other_run.database);
        Err(usage_text_error(format!(
            "the undo file is of {database_name}, not of {address}: --other-db uses it here all the same; values are put back only \
             where rows hold what the change wrote"
        )))
    }

    /// Checks that all tables and columns exist, before anything is changed.
    fn check_tables(&mut self, address: &Address) -> Result<(), Abort> {
        for number in self.columns_to_restore.keys().copied().collect::<Vec<_>>() {
            let Some(names) = self.tables.get(number) else { continue };
            let table = open_table(address, names)?;
            let is_selected = |column: &usize| {
                let name = names.columns.get(*column).map_or("", |name| name);
                self.filter.selects(table.schema(), table.name(), name)
            };
            let changed_columns = self.columns_to_restore.get(&number).map_or(&[][..], Vec::as_slice);
            let selected: Vec<usize> = changed_columns.iter().copied().filter(is_selected).collect();
            map_columns(&table, names, &selected)?;
            self.columns_to_restore.insert(number, selected);
        }
        Ok(())
    }

    /// Processes all records, from the last to the first.
    fn restore_records(
        &mut self,
        address: &Address,
        state: &mut Option<(&std::path::PathBuf, UndoState)>,
        writer: &mut OutputWriter,
    ) -> Result<(), Abort> {
        let mut current_table: Option<(usize, Table)> = None;
        let remaining_records =
            state.as_ref().map_or(self.changes.len(), |(_, state)| state.remaining.min(self.changes.len()));
        for index in (0..remaining_records).rev() {
            let Some(entry) = self.changes.get(index).copied() else { continue };
            let payload = self.file.read_payload(&entry)?;
            let changes = self.decode_changes(&entry, &payload)?;
            let names = self.tables.get(changes.table).cloned();
            if let Some(names) = names.filter(|_| {
                self.columns_to_restore.get(&changes.table).is_some_and(|column_numbers| !column_numbers.is_empty())
            }) {
                let mut table = match current_table.take() {
                    Some((number, table)) if number == changes.table => table,
                    _ => open_table(address, &names)?,
                };
                self.restore_record(&mut table, &names, &changes, writer)
                    .map_err(|error| self.interruption_error(error))?;
                writer.release_record()?;
                current_table = Some((changes.table, table));
            }
            if let Some((file, state)) = state {
                state.remaining = index;
                resume::replace_file(file, state)?;
            }
            progress::set_record_count(self.totals.examined_count());
        }
        Ok(())
    }

    /// Restores the values of a record, in one transaction.
    fn restore_record(
        &mut self,
        table: &mut Table,
        names: &TableNames,
        changes: &Changes,
        writer: &mut OutputWriter,
    ) -> icecore_store::Result<()> {
        let column_numbers = self.columns_to_restore.get(&changes.table).cloned().unwrap_or_default();
        let columns = map_columns(table, names, &column_numbers).map_err(|error| match error {
            Abort::Failed(_, text) => icecore_store::Error::new(ErrorKind::Input, text),
            Abort::Closed => icecore_store::Error::new(ErrorKind::Input, "closed"),
        })?;
        let mut batch = Batch::new(changes, &columns);
        if self.args.dry_run {
            batch.compare_only(table)?;
            self.simulate_earlier_runs(names, &mut batch);
            self.show_values(table, names, &batch, writer);
        } else {
            batch.restore_values(table)?;
        }
        for pending in &batch.cells {
            let column = names.columns.get(pending.change.column).map_or("", |name| name);
            self.totals.count_value(&names.name, column, pending.key, pending.result);
        }
        Ok(())
    }

    /// Corrects the results of a dry run for values that changed in several runs. Nothing is written, so the database
    /// still has the values that the records of later runs would have replaced.
    fn simulate_earlier_runs(&mut self, names: &TableNames, batch: &mut Batch<'_>) {
        if self.runs.len() < 2 {
            return;
        }
        for pending in &mut batch.cells {
            let cell_id = (names.name.clone(), pending.key.to_vec(), pending.change.column);
            let old_digest = CellDigest::from_cell(&pending.change.old);
            if let Some(current) = self.simulated_digests.get(&cell_id) {
                pending.result = match *current {
                    current if current == old_digest => ValueResult::AlreadyOld,
                    current if current == pending.change.stored => ValueResult::Restored,
                    _ => ValueResult::ChangedSince,
                };
            }
            if pending.result == ValueResult::Restored {
                self.simulated_digests.insert(cell_id, old_digest);
            }
        }
    }

    /// Shows the values to restore.
    fn show_values(&self, table: &Table, names: &TableNames, batch: &Batch<'_>, writer: &mut OutputWriter) {
        for pending in batch.cells.iter().filter(|pending| pending.result == ValueResult::Restored) {
            // A value that changed in a later run as well was already shown with the record of that run.
            let Some(current) = &pending.current else { continue };
            let table_column = TableColumn {
                schema: table.schema().map(str::to_owned),
                table: table.name().to_owned(),
                column: names.columns.get(pending.change.column).cloned().unwrap_or_default(),
            };
            let key = super::super::database::format_key(&table.key_names(), pending.key);
            let edits = Edits::between(current, &pending.change.old.bytes);
            let context = ChangeContext { input: &key, place: &table_column, row: 0, tally: &Tally::default() };
            dry_run::show_keyed_changes(&context, current, &edits, self.paint, writer.buffer_mut());
        }
    }

    /// Adds to an error that the values restored so far stay.
    fn interruption_error(&self, error: icecore_store::Error) -> Abort {
        match database_error(error) {
            Abort::Failed(code, message) if !self.args.dry_run => {
                let advice = "restored values stay; the same command continues";
                Abort::Failed(code, format!("{message}: {advice}"))
            }
            other => other,
        }
    }

    /// Returns the tables and columns of the command line that the file does not contain.
    fn unknown_names(&self) -> Vec<String> {
        let mut columns = Vec::new();
        for table in &self.tables {
            let (schema, name) = match table.name.split_once('.') {
                Some((schema, name)) => (Some(schema), name),
                None => (None, &*table.name),
            };
            columns.extend(table.columns.iter().map(|column| (schema, name, &**column)));
        }
        self.filter.find_unknown_names(columns.into_iter())
    }
}

/// Opens a table that the file names, and checks that its key is the same as before.
fn open_table(address: &Address, names: &TableNames) -> Result<Table, Abort> {
    let table = Table::open(address, &names.name, names.chosen_key.as_deref()).map_err(database_error)?;
    if table.key_names() != names.key {
        let text = format!(
            "the key of the table `{}` is ({}), and was ({}) when it was changed: nothing can be put back",
            names.name,
            table.key_names().join(", "),
            names.key.join(", ")
        );
        return Err(Abort::Failed(code::FINDING, text));
    }
    Ok(table)
}

/// Maps the column numbers of the undo file to those of the table.
fn map_columns(table: &Table, names: &TableNames, column_numbers: &[usize]) -> Result<BTreeMap<usize, usize>, Abort> {
    let mut columns = BTreeMap::new();
    for number in column_numbers {
        let Some(name) = names.columns.get(*number) else { continue };
        let Some(column) = table.columns().iter().position(|column| column.name == *name) else {
            let text = format!("there is no column `{name}` of text or bytes in `{}`: nothing was changed", names.name);
            return Err(Abort::Failed(code::FINDING, text));
        };
        columns.insert(*number, column);
    }
    Ok(columns)
}

/// The progress of an undo, in the file of `--resume`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoState {
    /// Digest of the last record of the undo file, in hexadecimal.
    undo: String,
    /// The values of `--table`, `--column` and `--skip-column`.
    tables: Vec<String>,
    columns: Vec<String>,
    skipped: Vec<String>,
    /// Number of records that are not restored yet; they are the first ones of the file.
    #[serde(rename = "left")]
    remaining: usize,
}

impl UndoState {
    /// Reads the state, or creates it.
    fn open(file: &Path, restore: &Restore<'_>) -> Result<UndoState, Abort> {
        let args = restore.args;
        let last_digest = restore.file.entries.last().map(|entry| entry.head.digest);
        let initial = UndoState {
            undo: last_digest.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect(),
            tables: args.tables.clone(),
            columns: args.columns.clone(),
            skipped: args.skipped.clone(),
            remaining: restore.changes.len(),
        };
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(initial),
            Err(error) => return Err(resume::file_error(file, io_reason(&error))),
        };
        let state: UndoState = serde_json::from_slice(&bytes)
            .map_err(|error| resume::file_error(file, format!("not a file of --resume for --undo: {error}")))?;
        let is_same = state.undo == initial.undo
            && (&state.tables, &state.columns, &state.skipped) == (&initial.tables, &initial.columns, &initial.skipped);
        if !is_same {
            let text =
                "it is of another undo file, or of other tables and columns: another file, or none, begins again";
            return Err(resume::file_error(file, text.to_owned()));
        }
        Ok(state)
    }
}
