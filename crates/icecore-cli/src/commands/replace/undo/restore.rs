//! `icecore replace --undo`: restores the old values from an undo file.
//!
//! Records are processed from the last to the first, so a value that changed twice gets its original value. Each record
//! is a transaction of its own. A value is restored only if the row has exactly the value that the change stored; this
//! is checked here, by bytes, and again by the database when it writes.

use super::super::args::Replace;
use super::super::{dry_run, resume};
use super::batch::Batch;
use super::journal::check_others;
use super::outcome::{Fate, Outcome};
use super::payload::{CellDigest, Changes, RunHeader, TableNames};
use super::record::RecordKind;
use super::undo_file::{RecordEntry, UndoFile};
use crate::arguments::Global;
use crate::database::database_error;
use crate::paint::Paint;
use crate::progress;
use crate::report::{Abort, Report, code, io_reason, usage_text_error};
use crate::sink::Sink;
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
    check_others(args, path)?;
    let address = args.database.resolve_address()?;
    let mut outputs = Outputs::new(&[], args.force);
    let place = args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
    report.count_input();
    let mut restore = Restore::open(args, global, path)?;
    restore.check_database(&address, report)?;
    restore.check_tables(&address)?;
    let mut state = match args.resume.as_ref().filter(|_| !args.dry_run) {
        Some(file) => Some((file, UndoState::open(file, &restore)?)),
        None => None,
    };
    let mut sink = Sink::stdout();
    let end = restore.restore_records(&address, &mut state, &mut sink);
    sink.flush()?;
    restore.outcome.report(args.dry_run, report);
    for unknown in restore.unknown_names() {
        report.remark("unknown", format!("{unknown} in the undo file"));
    }
    if let Some(place) = place {
        Target::write_text(place, &restore.outcome.to_json(path, args.dry_run)?)?;
    }
    end
}

/// Refuses options that do not go together with `--undo`; clap refuses most of them.
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
    /// The selected columns of each table that have values in the file.
    used: BTreeMap<usize, Vec<usize>>,
    filter: Filter,
    outcome: Outcome,
    /// In a dry run over several runs of a change: the values as they would be by now.
    pretended: HashMap<(String, Vec<String>, usize), CellDigest>,
}

impl<'r> Restore<'r> {
    /// Reads the whole file, so that invalid records are found before anything is changed.
    fn open(args: &'r Replace, global: &Global, path: &Path) -> Result<Restore<'r>, Abort> {
        progress::begin_input(&path.display().to_string());
        let file = UndoFile::open(path, false)?;
        let mut restore = Restore {
            args,
            paint: Paint::new(global.color, &io::stdout()),
            file,
            runs: Vec::new(),
            tables: Vec::new(),
            changes: Vec::new(),
            used: BTreeMap::new(),
            filter: args.table_filter(),
            outcome: Outcome::default(),
            pretended: HashMap::new(),
        };
        for entry in restore.file.entries.clone() {
            restore.index_record(&entry)?;
        }
        Ok(restore)
    }

    /// Checks a record, and keeps the parts that later records need.
    fn index_record(&mut self, entry: &RecordEntry) -> Result<(), Abort> {
        let payload = self.file.read_payload(entry)?;
        let unreadable = |file: &UndoFile, error: serde_json::Error| file.record_error(entry, &error.to_string());
        match entry.head.kind {
            RecordKind::Run => {
                self.runs.push(serde_json::from_slice(&payload).map_err(|error| unreadable(&self.file, error))?)
            }
            RecordKind::Table => {
                self.tables.push(serde_json::from_slice(&payload).map_err(|error| unreadable(&self.file, error))?);
            }
            RecordKind::Changes => {
                let changes = self.decode(entry, &payload)?;
                for cell in changes.rows.iter().flat_map(|row| &row.cells) {
                    let used = self.used.entry(changes.table).or_default();
                    if !used.contains(&cell.column) {
                        used.push(cell.column);
                    }
                }
                self.outcome.expected += changes.cell_count();
                self.changes.push(*entry);
            }
            RecordKind::End => {}
        }
        Ok(())
    }

    /// Decodes the changes of a record, and checks that their tables and columns are known.
    fn decode(&self, entry: &RecordEntry, payload: &[u8]) -> Result<Changes, Abort> {
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

    fn check_database(&self, address: &Address, report: &Report) -> Result<(), Abort> {
        if self.file.is_torn {
            let text = "the last record of the undo file is not whole: the change was ended before it committed that";
            report.remark("torn", text.to_owned());
        }
        let identity = address.identity();
        let Some(other) = self.runs.iter().find(|run| run.identity != identity) else { return Ok(()) };
        if self.args.other_db {
            return Ok(());
        }
        let database_name = icecore::text::printable(&other.database);
        Err(usage_text_error(format!(
            "the undo file is of {database_name}, not of {address}: --other-db uses it here all the same; values are put back only \
             where rows hold what the change wrote"
        )))
    }

    /// Checks that all tables and columns exist, before anything is changed.
    fn check_tables(&mut self, address: &Address) -> Result<(), Abort> {
        for number in self.used.keys().copied().collect::<Vec<_>>() {
            let Some(names) = self.tables.get(number) else { continue };
            let table = open_table(address, names)?;
            let takes = |column: &usize| {
                let name = names.columns.get(*column).map_or("", |name| name);
                self.filter.selects(table.schema(), table.name(), name)
            };
            let used = self.used.get(&number).map_or(&[][..], Vec::as_slice);
            let selected: Vec<usize> = used.iter().copied().filter(takes).collect();
            map_columns(&table, names, &selected)?;
            self.used.insert(number, selected);
        }
        Ok(())
    }

    /// Processes all records, from the last to the first.
    fn restore_records(
        &mut self,
        address: &Address,
        state: &mut Option<(&std::path::PathBuf, UndoState)>,
        sink: &mut Sink,
    ) -> Result<(), Abort> {
        let mut open: Option<(usize, Table)> = None;
        let left = state.as_ref().map_or(self.changes.len(), |(_, state)| state.left.min(self.changes.len()));
        for index in (0..left).rev() {
            let Some(entry) = self.changes.get(index).copied() else { continue };
            let payload = self.file.read_payload(&entry)?;
            let changes = self.decode(&entry, &payload)?;
            let names = self.tables.get(changes.table).cloned();
            if let Some(names) = names.filter(|_| self.used.get(&changes.table).is_some_and(|used| !used.is_empty())) {
                let mut table = match open.take() {
                    Some((number, table)) if number == changes.table => table,
                    _ => open_table(address, &names)?,
                };
                self.restore_record(&mut table, &names, &changes, sink)
                    .map_err(|error| self.interruption_error(error))?;
                sink.release_record()?;
                open = Some((changes.table, table));
            }
            if let Some((file, state)) = state {
                state.left = index;
                resume::replace_file(file, state)?;
            }
            progress::set_record_count(self.outcome.seen_count());
        }
        Ok(())
    }

    /// Restores the values of a record, in one transaction.
    fn restore_record(
        &mut self,
        table: &mut Table,
        names: &TableNames,
        changes: &Changes,
        sink: &mut Sink,
    ) -> icecore_store::Result<()> {
        let used = self.used.get(&changes.table).cloned().unwrap_or_default();
        let columns = map_columns(table, names, &used).map_err(|error| match error {
            Abort::Failed(_, text) => icecore_store::Error::new(ErrorKind::Input, text),
            Abort::Closed => icecore_store::Error::new(ErrorKind::Input, "closed"),
        })?;
        let mut batch = Batch::new(changes, &columns);
        if self.args.dry_run {
            batch.compare_only(table)?;
            self.simulate_earlier_runs(names, &mut batch);
            self.show_values(table, names, &batch, sink);
        } else {
            batch.restore_values(table)?;
        }
        for pending in &batch.cells {
            let column = names.columns.get(pending.cell.column).map_or("", |name| name);
            self.outcome.count_value(&names.name, column, pending.key, pending.fate);
        }
        Ok(())
    }

    /// In a dry run nothing is written, so this sets the state that later records would leave for values that changed
    /// twice.
    fn simulate_earlier_runs(&mut self, names: &TableNames, batch: &mut Batch<'_>) {
        if self.runs.len() < 2 {
            return;
        }
        for pending in &mut batch.cells {
            let place = (names.name.clone(), pending.key.to_vec(), pending.cell.column);
            let old = CellDigest::from_cell(&pending.cell.old);
            if let Some(now) = self.pretended.get(&place) {
                pending.fate = match *now {
                    now if now == old => Fate::Already,
                    now if now == pending.cell.stored => Fate::PutBack,
                    _ => Fate::ChangedSince,
                };
            }
            if pending.fate == Fate::PutBack {
                self.pretended.insert(place, old);
            }
        }
    }

    /// Shows the values to restore.
    fn show_values(&self, table: &Table, names: &TableNames, batch: &Batch<'_>, sink: &mut Sink) {
        for pending in batch.cells.iter().filter(|pending| pending.fate == Fate::PutBack) {
            // If a value changed twice, the record after this one shows the second change.
            let Some(now) = &pending.now else { continue };
            let place = TableColumn {
                schema: table.schema().map(str::to_owned),
                table: table.name().to_owned(),
                column: names.columns.get(pending.cell.column).cloned().unwrap_or_default(),
            };
            let key = super::super::database::format_key(&table.key_names(), pending.key);
            let edits = Edits::between(now, &pending.cell.old.bytes);
            let head = ChangeContext { input: &key, place: &place, row: 0, tally: &Tally::default() };
            dry_run::show_keyed_changes(&head, now, &edits, self.paint, sink.buffer_mut());
        }
    }

    /// Returns the end of the command for an error during the restoration.
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
        let mut places = Vec::new();
        for table in &self.tables {
            let (schema, name) = match table.name.split_once('.') {
                Some((schema, name)) => (Some(schema), name),
                None => (None, &*table.name),
            };
            places.extend(table.columns.iter().map(|column| (schema, name, &**column)));
        }
        self.filter.find_unknown_names(places.into_iter())
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

/// Maps the columns of a file to their numbers in the table.
fn map_columns(table: &Table, names: &TableNames, used: &[usize]) -> Result<BTreeMap<usize, usize>, Abort> {
    let mut columns = BTreeMap::new();
    for number in used {
        let Some(name) = names.columns.get(*number) else { continue };
        let Some(place) = table.columns().iter().position(|column| column.name == *name) else {
            let text = format!("there is no column `{name}` of text or bytes in `{}`: nothing was changed", names.name);
            return Err(Abort::Failed(code::FINDING, text));
        };
        columns.insert(*number, place);
    }
    Ok(columns)
}

/// The progress of an undo, in the file of `--resume`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoState {
    /// The undo file, and the selected values.
    undo: String,
    tables: Vec<String>,
    columns: Vec<String>,
    skipped: Vec<String>,
    /// Number of remaining records, from the first one on.
    left: usize,
}

impl UndoState {
    /// Reads the state, or creates it.
    fn open(file: &Path, restore: &Restore<'_>) -> Result<UndoState, Abort> {
        let args = restore.args;
        let last = restore.file.entries.last().map(|entry| entry.head.check);
        let new = UndoState {
            undo: last.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect(),
            tables: args.tables.clone(),
            columns: args.columns.clone(),
            skipped: args.skipped.clone(),
            left: restore.changes.len(),
        };
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(new),
            Err(error) => return Err(resume::file_error(file, io_reason(&error))),
        };
        let state: UndoState = serde_json::from_slice(&bytes)
            .map_err(|error| resume::file_error(file, format!("not a file of --resume for --undo: {error}")))?;
        let is_same = state.undo == new.undo
            && (&state.tables, &state.columns, &state.skipped) == (&new.tables, &new.columns, &new.skipped);
        if !is_same {
            let text =
                "it is of another undo file, or of other tables and columns: another file, or none, begins again";
            return Err(resume::file_error(file, text.to_owned()));
        }
        Ok(state)
    }
}
