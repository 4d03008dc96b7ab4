//! Writes the undo file of a change of a database.
//!
//! The order of the steps makes it safe against kills: values change in a transaction, the stored values are read back,
//! the old values are made durable in the undo file, and only then the transaction is committed. So the file contains
//! everything that was committed, and perhaps one transaction that was not. The rows of such a transaction do not have
//! the values that the file records as stored, so an undo does not change them.

use super::super::args::Replace;
use super::super::resume::{self, ResumeState};
use super::payload::{CellDigest, ChangedCell, ChangedRow, Changes, MAX_KEY_COLUMNS, RunHeader, TableNames};
use super::record::{MAGIC, RecordKind};
use super::undo_file::UndoFile;
use crate::database::database_error;
use crate::report::{Abort, Report, code, io_reason};
use icecore_replace::Rules;
use icecore_store::table::{Cell, Change, Table};
use icecore_store::{Address, Error, ErrorKind};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Approximate number of bytes of old values in one record.
const RECORD_LEN: usize = 4 << 20;
/// Maximum number of pairs that are recorded, for people that read the file.
const MAX_RECORDED_PAIRS: usize = 20;
/// Maximum number of default names that are tried if files with such names exist.
const MAX_NAME_ATTEMPTS: usize = 1000;

/// The undo file of a change.
pub struct Journal {
    /// `None` if no old values are kept.
    mode: Option<JournalMode>,
    /// The payload of the record that begins a run.
    run_header: Vec<u8>,
    /// The number that each table has in the file.
    tables: HashMap<String, usize>,
    table_count: usize,
    /// Whether this command has written a record.
    has_written: bool,
}

enum JournalMode {
    /// The file is created when the first value changes.
    Planned(PlannedFile),
    Open(PathBuf, UndoFile),
}

/// Name of the file to create.
enum PlannedFile {
    Named(PathBuf),
    /// Beginning of the default name in the current folder.
    DefaultName(String),
}

impl Journal {
    /// Prepares the undo file. If the state of `--resume` names an undo file, opens that one, and adds to the state
    /// what was committed after the state was written.
    pub fn open(
        args: &Replace,
        address: &Address,
        rules: &Rules,
        resume: &mut ResumeState,
        report: &Report,
    ) -> Result<Journal, Abort> {
        let mut journal = Journal {
            mode: None,
            run_header: encode_run_header(address, rules)?,
            tables: HashMap::new(),
            table_count: 0,
            has_written: false,
        };
        if args.dry_run {
            return Ok(journal);
        }
        if let Some(file) = &args.undo_file {
            check_no_other_use(args, file)?;
        }
        if let Some(previous) = resume.undo_position().cloned() {
            let file = journal.open_previous(args, &previous.file)?;
            let Some(mut file) = file else { return Ok(journal) };
            file.cut_torn_end().map_err(|error| unwritable_error(&previous.file, &error))?;
            catch_up_resume_state(args, address, &mut file, previous.len, resume, report)?;
            if !args.no_undo {
                journal.table_count = file.entries.iter().filter(|entry| entry.head.kind == RecordKind::Table).count();
                journal.mode = Some(JournalMode::Open(previous.file, file));
            }
        } else if !args.no_undo {
            journal.mode = Some(JournalMode::Planned(match &args.undo_file {
                Some(path) if path.as_os_str() == "-" => {
                    return Err(Abort::Failed(code::USAGE, "--undo-file needs a file, not `-`".to_owned()));
                }
                Some(path) => {
                    // It is better to fail now than at the first value.
                    if path.symlink_metadata().is_ok() && !remove_without_values(path) {
                        return Err(exists_error(path));
                    }
                    PlannedFile::Named(path.clone())
                }
                None => PlannedFile::DefaultName(default_name(address)),
            }));
        }
        Ok(journal)
    }

    /// Opens the undo file that a state of `--resume` names.
    fn open_previous(&self, args: &Replace, previous: &Path) -> Result<Option<UndoFile>, Abort> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if let Some(other) = args.undo_file.as_ref().filter(|path| absolute(path) != absolute(previous)) {
            let text = format!("this change has its undo file already, {}: leave --undo-file out", previous.display());
            return Err(resume::file_error(other, text));
        }
        if previous.symlink_metadata().is_err() {
            if args.no_undo {
                return Ok(None);
            }
            let text = "the undo file of this change is missing: put it back there, or go on without one by --no-undo";
            return Err(resume::file_error(previous, text.to_owned()));
        }
        check_no_other_use(args, previous)?;
        UndoFile::open_for_writing(previous).map(Some)
    }

    /// Changes values in one transaction, which is committed once their old values are durable. Returns for each
    /// value whether it was changed. `last_key` is the key of the last row that was examined.
    pub fn change_values(
        &mut self,
        table: &mut Table,
        table_name: &str,
        chosen_key: Option<&str>,
        changes: &[Change<'_>],
        last_key: &[String],
        resume: &mut ResumeState,
    ) -> icecore_store::Result<Vec<bool>> {
        if self.mode.is_none() {
            return table.change(changes);
        }
        if table.key_names().len() > MAX_KEY_COLUMNS {
            let text = format!(
                "a key of more than {MAX_KEY_COLUMNS} columns can't be undone: --no-undo changes it all the same"
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        let names = TableNames {
            name: table_name.to_owned(),
            chosen_key: chosen_key.map(str::to_owned),
            key: table.key_names().into_iter().map(str::to_owned).collect(),
            columns: table.columns().iter().map(|column| column.name.clone()).collect(),
        };
        let mut transaction = table.begin()?;
        let were_applied = transaction.change(changes)?;
        let applied_changes: Vec<&Change<'_>> = changes
            .iter()
            .zip(&were_applied)
            .filter(|(_, was_applied)| **was_applied)
            .map(|(change, _)| change)
            .collect();
        if !applied_changes.is_empty() {
            let stored_digests = read_back(&mut transaction, &applied_changes)?;
            self.record_old_values(&names, &applied_changes, &stored_digests, last_key, resume)?;
        }
        transaction.commit()?;
        Ok(were_applied)
    }

    /// Appends the old values of a transaction, and makes them durable.
    fn record_old_values(
        &mut self,
        names: &TableNames,
        applied_changes: &[&Change<'_>],
        stored_digests: &[CellDigest],
        last_key: &[String],
        resume: &mut ResumeState,
    ) -> icecore_store::Result<()> {
        let (path, file) = open_file(&mut self.mode, resume)?;
        let write_error = |error: &io::Error| store_error(unwritable_error(path, error));
        if !self.has_written {
            file.append(RecordKind::Run, &self.run_header).map_err(|error| write_error(&error))?;
            self.has_written = true;
        }
        let table = match self.tables.get(&names.name) {
            Some(number) => *number,
            None => {
                let payload = serde_json::to_vec(names).map_err(|error| write_error(&error.into()))?;
                file.append(RecordKind::Table, &payload).map_err(|error| write_error(&error))?;
                let number = self.table_count;
                self.table_count += 1;
                self.tables.insert(names.name.clone(), number);
                number
            }
        };
        let mut record = Changes { table, ..Changes::default() };
        let mut record_len = 0;
        for (change, stored) in applied_changes.iter().zip(stored_digests) {
            if record_len > 0 && record_len + change.old.len() > RECORD_LEN {
                file.append(RecordKind::Changes, &record.encode()).map_err(|error| write_error(&error))?;
                (record.rows, record_len) = (Vec::new(), 0);
            }
            // 64 bytes are the estimated size of the key, the digest and the lengths.
            record_len += change.old.len() + 64;
            let old = Cell { bytes: change.old.to_vec(), is_text: change.is_text };
            let cell = ChangedCell { column: change.column, old, stored: *stored };
            match record.rows.last_mut().filter(|row| row.key == change.key) {
                Some(row) => row.cells.push(cell),
                None => record.rows.push(ChangedRow { key: change.key.to_vec(), cells: vec![cell] }),
            }
        }
        record.last_key = Some(last_key.to_vec());
        file.append(RecordKind::Changes, &record.encode()).map_err(|error| write_error(&error))?;
        file.sync().map_err(|error| write_error(&error))?;
        resume.set_undo_file(path, file.complete_len);
        Ok(())
    }

    /// Records that the file is complete, after all tables are done.
    pub fn finish(&mut self) -> Result<(), Abort> {
        let Some(JournalMode::Open(path, file)) = &mut self.mode else { return Ok(()) };
        if file.entries.last().is_some_and(|entry| entry.head.kind == RecordKind::End) {
            return Ok(());
        }
        let result = file.append(RecordKind::End, b"").and_then(|()| file.sync());
        result.map_err(|error| unwritable_error(path, &error))
    }

    /// Returns the path of the undo file, if this command wrote old values to it.
    pub fn written_path(&self) -> Option<&Path> {
        match &self.mode {
            Some(JournalMode::Open(path, _)) if self.has_written => Some(path),
            _ => None,
        }
    }
}

/// Checks that no other option names the undo file as its output.
pub fn check_no_other_use(args: &Replace, undo: &Path) -> Result<(), Abort> {
    // If the file does not exist yet, the links of its folder are resolved.
    let resolve = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(in_folder).unwrap_or(path)
    };
    for (option, other) in [("--resume", &args.resume), ("--summary", &args.summary)] {
        if other.as_ref().is_some_and(|other| resolve(other) == resolve(undo)) {
            return Err(resume::file_error(undo, format!("{option} and the undo file must be different files")));
        }
    }
    Ok(())
}

/// Removes an undo file without values, which a command leaves if it is killed before it changes anything. Returns
/// true if the file was such a file.
fn remove_without_values(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    // A command that is killed while it creates the file leaves only a part of the first bytes.
    let has_cut_magic = || std::fs::read(path).is_ok_and(|bytes| MAGIC.starts_with(&bytes));
    let has_no_values = || {
        let file = UndoFile::open_for_writing(path);
        file.is_ok_and(|file| file.entries.iter().all(|entry| entry.head.kind != RecordKind::Changes))
    };
    let is_without_values = if metadata.len() < MAGIC.len() as u64 { has_cut_magic() } else { has_no_values() };
    metadata.is_file() && is_without_values && std::fs::remove_file(path).is_ok()
}

/// Returns the undo file. It is created when the first value changes.
fn open_file<'m>(
    mode: &'m mut Option<JournalMode>,
    resume: &mut ResumeState,
) -> icecore_store::Result<(&'m Path, &'m mut UndoFile)> {
    if let Some(JournalMode::Planned(plan)) = mode {
        let (path, file) = create_file(plan).map_err(store_error)?;
        // A command that resumes must find the file, whatever happens to this one.
        resume.set_undo_file(&path, file.complete_len);
        resume.write().map_err(store_error)?;
        *mode = Some(JournalMode::Open(path, file));
    }
    match mode {
        Some(JournalMode::Open(path, file)) => Ok((path, file)),
        _ => Err(Error::new(ErrorKind::Input, "no undo file was planned")),
    }
}

/// Creates the undo file. If files with its default name exist, a number is added to the name.
fn create_file(plan: &PlannedFile) -> Result<(PathBuf, UndoFile), Abort> {
    match plan {
        PlannedFile::Named(path) => match UndoFile::create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists_error(path)),
            result => result.map(|file| (path.clone(), file)).map_err(|error| unwritable_error(path, &error)),
        },
        PlannedFile::DefaultName(stem) => {
            for number in 1..=MAX_NAME_ATTEMPTS {
                let path = PathBuf::from(match number {
                    1 => format!("{stem}.undo"),
                    number => format!("{stem}-{number}.undo"),
                });
                match UndoFile::create(&path) {
                    Ok(file) => return Ok((path, file)),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(unwritable_error(&path, &error)),
                }
            }
            Err(exists_error(Path::new(stem)))
        }
    }
}

/// Returns the digests of the values that the database stored.
fn read_back(
    transaction: &mut icecore_store::table::Transaction<'_>,
    applied_changes: &[&Change<'_>],
) -> icecore_store::Result<Vec<CellDigest>> {
    let mut columns: Vec<usize> = applied_changes.iter().map(|change| change.column).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut keys: Vec<&[String]> = applied_changes.iter().map(|change| change.key).collect();
    keys.dedup();
    let mut change_indices: HashMap<(&[String], usize), usize> = HashMap::new();
    for (index, change) in applied_changes.iter().enumerate() {
        change_indices.insert((change.key, change.column), index);
    }
    let mut stored_digests: Vec<Option<CellDigest>> = vec![None; applied_changes.len()];
    transaction.find_rows(&keys, &columns, &mut |row| {
        for (column, cell) in columns.iter().zip(&row.cells) {
            if let (Some(index), Some(cell)) = (change_indices.get(&(&*row.key, *column)), cell)
                && let Some(digest) = stored_digests.get_mut(*index)
            {
                *digest = Some(CellDigest::from_cell(cell));
            }
        }
        Ok(())
    })?;
    // A trigger may have removed the row or set the value to NULL. Then the digest of the written value is
    // used: no row matches it, so nothing will be restored.
    let digests = stored_digests.into_iter().zip(applied_changes).map(|(digest, change)| {
        digest.unwrap_or_else(|| CellDigest::from_cell(&Cell { bytes: change.new.to_vec(), is_text: change.is_text }))
    });
    Ok(digests.collect())
}

/// Adds to the state of `--resume` what was committed after the state was written. Without this, a kill between the
/// commit and the write would make the next command change the same rows again.
fn catch_up_resume_state(
    args: &Replace,
    address: &Address,
    file: &mut UndoFile,
    state_len: u64,
    resume: &mut ResumeState,
    report: &Report,
) -> Result<(), Abort> {
    let entries = file.entries.clone();
    let mut tables = Vec::new();
    let mut is_committed = false;
    for entry in &entries {
        if entry.head.kind == RecordKind::Table {
            let payload = file.read_payload(entry)?;
            let names: TableNames =
                serde_json::from_slice(&payload).map_err(|error| file.record_error(entry, &error.to_string()))?;
            tables.push(names);
        }
        if entry.head.kind != RecordKind::Changes || entry.offset < state_len {
            continue;
        }
        let payload = file.read_payload(entry)?;
        let changes = Changes::decode(&payload).map_err(|reason| file.record_error(entry, &reason))?;
        let names = tables.get(changes.table).ok_or_else(|| file.record_error(entry, "its table is not named"))?;
        let mut table = Table::open(address, &names.name, args.key.as_deref()).map_err(database_error)?;
        is_committed |= contains_stored_value(&mut table, names, &changes).map_err(database_error)?;
        if let Some(last_key) = changes.last_key
            && std::mem::take(&mut is_committed)
        {
            let text = format!("{}: the last transaction was committed, as the undo file shows", names.name);
            report.report_command_note("resume", text);
            resume.set_last_key(&names.name, &last_key)?;
        }
    }
    resume.set_undo_len(file.complete_len);
    resume.write()
}

/// Returns true if a row has a value that only the transaction can have stored. Then the whole transaction was
/// committed.
fn contains_stored_value(table: &mut Table, names: &TableNames, changes: &Changes) -> icecore_store::Result<bool> {
    let columns: Vec<Option<usize>> =
        names.columns.iter().map(|name| table.columns().iter().position(|column| column.name == *name)).collect();
    for row in &changes.rows {
        for cell in &row.cells {
            let Some(Some(column)) = columns.get(cell.column) else { continue };
            let mut is_stored = false;
            table.find_rows(&[&row.key], &[*column], &mut |found| {
                let current = found.cells.first().and_then(Option::as_ref);
                is_stored |= found.key == row.key
                    && current
                        .is_some_and(|current| *current != cell.old && CellDigest::from_cell(current) == cell.stored);
                Ok(())
            })?;
            if is_stored {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn encode_run_header(address: &Address, rules: &Rules) -> Result<Vec<u8>, Abort> {
    let shorten_text = |bytes: &[u8]| {
        icecore::text::shortened(&icecore::text::printable(&String::from_utf8_lossy(bytes)), 200).into_owned()
    };
    let run = RunHeader {
        program: format!("icecore {}", env!("CARGO_PKG_VERSION")),
        started: icecore_store::time::format_utc(now_millis()),
        database: address.to_string(),
        identity: address.identity(),
        pairs: rules
            .pairs()
            .iter()
            .take(MAX_RECORDED_PAIRS)
            .map(|pair| (shorten_text(pair.old()), shorten_text(pair.replacement())))
            .collect(),
    };
    serde_json::to_vec(&run).map_err(|error| Abort::Failed(code::OTHER, error.to_string()))
}

/// Returns the default name: `icecore-shop-20261129-051233`.
fn default_name(address: &Address) -> String {
    const MAX_DATABASE_NAME_LEN: usize = 60;
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name = address.database_name();
    let name: String =
        name.chars().take(MAX_DATABASE_NAME_LEN).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let timestamp = icecore_store::time::format_utc(now_millis());
    // Eight digits of the date, and six of the time.
    let digits: String = timestamp.chars().filter(char::is_ascii_digit).take(14).collect();
    let (date, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    format!("icecore-{name}-{date}-{time}")
}

fn now_millis() -> i64 {
    let elapsed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

fn exists_error(path: &Path) -> Abort {
    let text = "it exists, and an undo file is never overwritten: --undo-file names another one";
    resume::file_error(path, text.to_owned())
}

fn unwritable_error(path: &Path, error: &io::Error) -> Abort {
    let text = format!(
        "the undo file can't be written: {}. The transaction was not committed; --undo-file FILE writes it elsewhere, \
         --no-undo leaves it out",
        io_reason(error)
    );
    resume::file_error(path, text)
}

/// Converts an error so that it ends a transaction.
fn store_error(abort: Abort) -> Error {
    match abort {
        Abort::Failed(_, text) => Error::new(ErrorKind::Input, text),
        Abort::Closed => Error::new(ErrorKind::Input, "the output was closed"),
    }
}
