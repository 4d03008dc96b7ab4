//! `icecore replace --db`: changes values in the tables of a database, by ranges of their keys.

use super::resume::Resume;
use super::undo::Journal;
use super::{Done, Job, said, shown, written};
use crate::database::failed;
use crate::report::{Abort, Report, code, usage_of};
use crate::sink::Sink;
use crate::target::{Outputs, Target};
use icecore::rewrite::{self, Edits, Tally};
use icecore_store::Address;
use icecore_store::table::{Cell, Change, Column, Form, Row, Table};
use icecore_tables::replace::account::{Account, Wrong};
use icecore_tables::replace::show::Head;
use icecore_tables::replace::value;

impl Job<'_> {
    /// Changes the selected tables.
    pub(super) fn database(&self, files: &[std::path::PathBuf], report: &mut Report) -> Result<(), Abort> {
        let args = self.args;
        if let Some(file) = files.first() {
            return Err(usage_of(format!("`{}`: --db takes no files", file.display())));
        }
        if args.tables.is_empty() && !args.all_tables {
            return Err(usage_of("--db needs --table TABLE, which may be given several times, or --all-tables"));
        }
        if args.place.written.output.is_some()
            || args.place.written.out_dir.is_some()
            || args.place.in_place
            || args.form.is_some()
        {
            return Err(usage_of("-o, --out-dir, --in-place and --in are for files, not for --db"));
        }
        let mut outputs = Outputs::new(&[], args.force);
        let place = args.summary.as_ref().map(|path| outputs.place(path)).transpose()?;
        let address = args.database.address()?;
        let names = match args.all_tables {
            true => icecore_store::table::list_names(&address).map_err(failed)?,
            false => args.tables.clone(),
        };
        let mut resume = match args.resume.as_ref().filter(|_| !args.dry_run) {
            Some(file) => Resume::open(file, &self.rules)?,
            None => Resume::default(),
        };
        let mut journal = Journal::open(args, &address, &self.rules, &mut resume, report)?;
        let mut done = Done::default();
        let mut sink = Sink::stdout();
        let mut is_whole = true;
        crate::progress::inputs(names.len());
        for name in &names {
            report.input();
            let mut progress = Progress { resume: &mut resume, journal: &mut journal };
            let end = self.table(&address, name, &mut progress, &mut done, &mut sink, report);
            if let Err(Abort::Failed(code, message)) = end {
                is_whole = false;
                report.fault(code, name, message);
                // With --all-tables, tables that can't be changed, such as one without a key, are skipped.
                if code != code::FINDING && !args.all_tables {
                    break;
                }
                continue;
            }
            end?;
        }
        if is_whole {
            journal.finish()?;
        }
        sink.flush()?;
        said::after(&done, &self.rules, args, &self.places, report);
        let undo_file = journal.written_path();
        if let Some(file) = undo_file {
            let file = file.display();
            let text =
                format!("the old values are in {file}: icecore replace --undo {file} --db {address} puts them back");
            report.remark("undo", text);
        }
        let written = || written::text(&done.account, &done.inputs, &self.rules, &self.places, args.dry_run, undo_file);
        place.map_or(Ok(()), |place| Target::text(place, &written()?))
    }

    fn table(
        &self,
        address: &Address,
        name: &str,
        progress: &mut Progress<'_>,
        done: &mut Done,
        sink: &mut Sink,
        report: &mut Report,
    ) -> Result<(), Abort> {
        if progress.resume.is_done(name) {
            report.remark("resume", format!("{name}: already done, according to the file of --resume"));
            return Ok(());
        }
        crate::progress::begin(name);
        let mut table = Table::open(address, name, self.args.key.as_deref()).map_err(failed)?;
        let filter = self.args.filter().of_any_table();
        let takes = |column: &Column| filter.takes(table.schema(), table.name(), &column.name);
        let columns: Vec<usize> =
            table.columns().iter().enumerate().filter(|(_, column)| takes(column)).map(|(at, _)| at).collect();
        let number = |column: &usize| {
            let name = table.columns().get(*column).map_or("", |column| &column.name);
            self.places.number(table.schema(), table.name(), name).unwrap_or_default()
        };
        let places: Vec<u32> = columns.iter().map(number).collect();
        for column in table.columns() {
            self.places.number(table.schema(), table.name(), &column.name);
        }
        let before = done.account.total().values;
        let mut after = progress.resume.after(name);
        let mut walk = Walk { job: self, name, places: &places, columns: &columns, row: 0 };
        while !columns.is_empty() {
            let rows = match table.rows(after.as_deref(), &columns, self.args.rows) {
                Ok(rows) => rows,
                Err(error) => return Err(walk.stopped(error, after.as_deref())),
            };
            let Some(last) = rows.last() else { break };
            let last = last.key.clone();
            walk.rows(&mut table, &rows, progress, &mut done.account, sink)
                .map_err(|error| walk.stopped(error, after.as_deref()))?;
            sink.pass()?;
            progress.resume.note(name, &last)?;
            after = Some(last);
        }
        progress.resume.finish(name)?;
        let is_changed = done.account.total().values > before;
        let (input, form) = (name.to_owned(), "table".to_owned());
        done.inputs.push(written::Input { input, form, encoding: None, is_changed });
        Ok(())
    }
}

/// The records of the progress and of old values.
struct Progress<'p> {
    resume: &'p mut Resume,
    journal: &'p mut Journal,
}

/// The walk over a table.
struct Walk<'w, 'j> {
    job: &'w Job<'j>,
    name: &'w str,
    columns: &'w [usize],
    /// Numbers of the columns in the account.
    places: &'w [u32],
    row: u64,
}

/// A value to change.
struct Planned<'p> {
    row: &'p Row,
    cell: &'p Cell,
    /// Index in the selected columns.
    at: usize,
    number: u64,
    edits: Edits,
    new: Vec<u8>,
    tally: Tally,
    counts: std::collections::BTreeMap<usize, u64>,
}

impl Walk<'_, '_> {
    /// Changes the values of some rows, in one transaction.
    fn rows(
        &mut self,
        table: &mut Table,
        rows: &[Row],
        progress: &mut Progress<'_>,
        account: &mut Account,
        sink: &mut Sink,
    ) -> icecore_store::Result<()> {
        let mut planned = Vec::new();
        for row in rows {
            self.row += 1;
            for (at, cell) in row.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                planned.extend(self.plan(table, row, at, cell, account));
            }
        }
        crate::progress::count(self.row);
        let mut applied = vec![true; planned.len()];
        if !self.job.args.dry_run && !planned.is_empty() {
            let planned = planned.iter().map(|plan: &Planned<'_>| (plan, self.columns.get(plan.at).copied()));
            let changes: Vec<Change<'_>> = planned
                .map(|(plan, column)| Change {
                    key: &plan.row.key,
                    column: column.unwrap_or_default(),
                    is_text: plan.cell.is_text,
                    old: &plan.cell.bytes,
                    new: &plan.new,
                })
                .collect();
            let last_key = rows.last().map_or(&[][..], |row| &row.key);
            let (name, key) = (self.name, self.job.args.key.as_deref());
            applied = progress.journal.change(table, name, key, &changes, last_key, progress.resume)?;
        }
        for (mut plan, is_done) in planned.into_iter().zip(applied) {
            let place = self.places.get(plan.at).copied().unwrap_or_default();
            if !is_done {
                account.places.entry(place).or_default().skipped += 1;
                continue;
            }
            if self.job.args.dry_run {
                self.show(table, &plan, place, sink);
            }
            account.pairs(&plan.counts);
            let before = account.broken.len();
            account.value(place, plan.number, None, true, &mut plan.tally);
            name_keys(account.broken.get_mut(before..).unwrap_or_default(), self.name, plan.row);
        }
        Ok(())
    }

    /// Determines the change of a value.
    fn plan<'p>(
        &self,
        table: &Table,
        row: &'p Row,
        at: usize,
        cell: &'p Cell,
        account: &mut Account,
    ) -> Option<Planned<'p>> {
        let chosen = *self.columns.get(at)?;
        let column = table.columns().get(chosen)?;
        let (job, place) = (self.job, self.places.get(at).copied().unwrap_or_default());
        if !job.how.base64 && !job.how.mend && !job.rules.may_match(&cell.bytes) {
            return None;
        }
        let mut replacing = job.rules.replacing().encoded(job.how.base64);
        let mut tally = Tally::default();
        let as_json = (column.form == Form::Json)
            .then(|| rewrite::document(&cell.bytes, &job.json, &mut replacing, &job.how, &mut tally).ok());
        let edits = match as_json.flatten() {
            Some(edits) => edits,
            None => value::edits(&cell.bytes, &mut replacing, &job.how, &mut tally),
        };
        if job.args.only_serialized && tally.frozen.is_empty() {
            return None;
        }
        let new = edits.apply(&cell.bytes);
        if edits.is_empty() {
            if tally.is_notable() {
                let before = account.broken.len();
                account.value(place, self.row, None, false, &mut tally);
                name_keys(account.broken.get_mut(before..).unwrap_or_default(), self.name, row);
            }
            return None;
        }
        if !table.fits(chosen, cell.is_text, &new) {
            account.places.entry(place).or_default().refused += 1;
            return None;
        }
        Some(Planned { row, cell, at, number: self.row, edits, new, tally, counts: replacing.take_counts() })
    }

    fn show(&self, table: &Table, plan: &Planned<'_>, place: u32, sink: &mut Sink) {
        let known = self.job.places.place(place);
        let key = key_text(&table.key(), &plan.row.key);
        let head = Head { input: &key, place: &known, row: 0, tally: &plan.tally };
        shown::keyed(&head, &plan.cell.bytes, &plan.edits, self.job.paint, sink.part());
    }

    /// Returns the end of the command for an error during the walk: changes so far remain, and the message says how to
    /// continue.
    fn stopped(&self, error: icecore_store::Error, after: Option<&[String]>) -> Abort {
        let code = match failed(error) {
            Abort::Failed(code, message) => (code, message),
            other => return other,
        };
        let (code, message) = code;
        match after {
            Some(after) if !self.job.args.dry_run => {
                let way = match &self.job.args.resume {
                    Some(file) => {
                        format!("the same command continues from there, with the progress in {}", file.display())
                    }
                    None => "run it again for the rest".to_owned(),
                };
                Abort::Failed(code, format!("{message}; done up to the key {}: {way}", after.join(", ")))
            }
            _ => Abort::Failed(code, message),
        }
    }
}

fn name_keys(wrong: &mut [Wrong], table: &str, row: &Row) {
    for wrong in wrong {
        (wrong.input, wrong.key) = (table.to_owned(), row.key.join(", "));
    }
}

/// Formats a key: `id = 7`.
pub(super) fn key_text(names: &[&str], key: &[String]) -> String {
    let pairs: Vec<String> = names.iter().zip(key).map(|(name, value)| format!("{name} = {value}")).collect();
    pairs.join(", ")
}
