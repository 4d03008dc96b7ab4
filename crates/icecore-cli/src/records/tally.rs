//! What came of many records: one report at the end, not one for each.

use crate::plural::grouped;
use crate::report::{Abort, REFUSED, Report, code};
use crate::said::Said;
use crate::target::{Destination, Target};
use icecore::{Error, ErrorKind, LossKind, Losses, value::Repair};
use serde::Serialize;
use std::collections::BTreeMap;

/// How many errors are printed one by one, and how many repaired records.
const TOLD: u64 = 10;
/// How many errors a summary lists.
const LISTED: usize = 100;

/// The kind of what went wrong where a loss was refused.
pub const LOSS: &str = "loss";

/// A kind of loss over all records.
#[derive(Clone, Debug, Serialize)]
pub struct Lost {
    count: u64,
    /// The first record that lost it, and where in it.
    record: u64,
    path: String,
    #[serde(skip)]
    kind: LossKind,
}

/// A record that went wrong.
#[derive(Clone, Debug, Serialize)]
pub struct Wrong {
    pub record: u64,
    /// Where the record starts in the input.
    pub offset: u64,
    pub kind: &'static str,
    pub message: String,
}

/// Counts over the records of an input. What `--summary` writes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    pub input: String,
    pub records: u64,
    pub ok: u64,
    pub bad: u64,
    pub bytes: u64,
    /// By kind, sorted.
    pub losses: BTreeMap<&'static str, Lost>,
    pub errors: Vec<Wrong>,
    /// Records that were repaired to read them.
    #[serde(skip_serializing_if = "is_zero")]
    pub repaired: u64,
    /// Strings that `--deep` opened.
    #[serde(skip_serializing_if = "is_zero")]
    pub opened: u64,
    /// Expressions of SQL that are in the output as their text: how many, and the first row and column.
    #[serde(skip)]
    passed_on: Option<(u64, u64, String)>,
    /// Rows with entries for which a typed column has no field: how many, and the first row and column.
    #[serde(skip)]
    left_out: Option<(u64, u64, String)>,
    /// The records that could not be written, and those that only lost something.
    #[serde(skip)]
    unwritable: u64,
    #[serde(skip)]
    refused: u64,
    #[serde(skip)]
    told: u64,
    /// They are the rows of a table.
    #[serde(skip)]
    has_rows: bool,
    /// Where they start can't be said.
    #[serde(skip)]
    has_no_offsets: bool,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Why a record is not in the output.
pub enum Fault<'e> {
    Unreadable(&'e Error),
    Unwritable(&'e Error),
    /// It lost something, and may not.
    Refused(&'e Losses),
}

impl Tally {
    pub fn new(input: &str) -> Tally {
        Tally { input: input.to_owned(), ..Tally::default() }
    }

    /// Of the rows of a table.
    pub fn rows(input: &str) -> Tally {
        Tally { has_rows: true, ..Tally::new(input) }
    }

    /// Of rows that stand nowhere by themselves, as in columns.
    #[cfg(feature = "columns")]
    pub fn without_offsets(self) -> Tally {
        Tally { has_no_offsets: true, ..self }
    }

    /// Whether the next error is printed.
    pub fn is_telling(&self) -> bool {
        self.bad < TOLD
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
    #[cfg(feature = "columns")]
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

    /// Tells what went wrong in a row, unless much did.
    pub fn tell(&mut self, wrong: &Wrong, report: &mut Report) {
        let code = if wrong.kind == LOSS { code::FINDING } else { code::INPUT };
        report.worse(code);
        self.told += 1;
        let Wrong { record, offset, message, kind } = wrong;
        if self.told <= TOLD {
            let offset = Some(*offset).filter(|_| !self.has_no_offsets);
            let place = offset.map_or_else(String::new, |offset| format!(" at offset {offset}"));
            let said = Said::error(code, format!("row {record}{place}, {message}")).with_kind(kind);
            report.say(&said.in_record(*record, offset).of(&self.input));
        } else if self.told == TOLD + 1 {
            self.tell_of_more(report);
        }
    }

    /// Reports a record that is not in the output; `bytes` is what stands from its
    /// start on.
    pub fn fault(&mut self, fault: &Fault<'_>, record: u64, offset: u64, bytes: &[u8], report: &mut Report) {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let (code, kind, error) = match fault {
            Fault::Unreadable(error) => (code::INPUT, error.kind().as_str(), Some((*error).clone().moved(start))),
            Fault::Unwritable(error) if error.kind() == ErrorKind::Limit => {
                (code::INPUT, error.kind().as_str(), Some((*error).clone()))
            }
            Fault::Unwritable(error) => (code::OTHER, error.kind().as_str(), Some((*error).clone())),
            Fault::Refused(_) => (code::FINDING, LOSS, None),
        };
        report.worse(code);
        let message = match (fault, &error) {
            (Fault::Refused(losses), _) => losses.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            (_, error) => error.as_ref().map_or_else(String::new, ToString::to_string),
        };
        let told = match fault {
            Fault::Unreadable(_) => format!("record {record}: {message}"),
            Fault::Unwritable(_) => {
                self.unwritable += 1;
                format!("record {record} at offset {offset}: {message}")
            }
            Fault::Refused(_) => {
                self.refused += 1;
                format!("record {record} at offset {offset}: {REFUSED}{message}")
            }
        };
        if self.is_telling() {
            let said = Said::error(code, told).of(&self.input);
            let said = match &error {
                Some(error) => said.because(error),
                None => said.with_kind(kind),
            };
            report.say(&said.in_record(record, Some(offset)));
            if let Fault::Unreadable(error) = fault {
                report.place(error, bytes, offset);
            }
        }
        if self.bad == TOLD {
            self.tell_of_more(report);
        }
        self.bad += 1;
        self.list(Wrong { record, offset, kind, message });
    }

    fn tell_of_more(&self, report: &Report) {
        report.say(&Said::note("more", "further errors are only counted").of(&self.input));
    }

    /// Counts a record that was repaired.
    pub fn repair(&mut self, offset: u64, repairs: &[Repair], report: &mut Report) {
        if repairs.is_empty() {
            return;
        }
        if self.repaired < TOLD {
            report.repairs(&self.input, usize::try_from(offset).unwrap_or(usize::MAX), repairs);
        }
        self.repaired += 1;
    }

    /// Says what there is to say in the end.
    pub fn end(&self, report: &mut Report, quiet: bool) {
        let (one, all) = if self.has_rows { ("row", "rows") } else { ("record", "records") };
        if !quiet {
            for Lost { count, record, path, kind } in self.losses.values() {
                let words = kind.describe(*count);
                let text = format!("{} {words}, first in {one} {record} at {path}", grouped(*count));
                report.say(&Said::loss(kind.as_str(), *count, path, text).in_record(*record, None).of(&self.input));
            }
            if let Some((count, record, column)) = &self.passed_on {
                let what =
                    if *count == 1 { "expression of SQL is its text" } else { "expressions of SQL are their text" };
                let text = format!("{} {what}, first in {one} {record} at column {column}", grouped(*count));
                self.tell_count("expressions", *count, text, report);
            }
            if let Some((count, record, column)) = &self.left_out {
                let what = if *count == 1 { "row has entries" } else { "rows have entries" };
                let text = format!(
                    "{} {what} without a field, first in row {record} in {column}: a field `rest` keeps them, and so does a type that is learned from more rows (--infer)",
                    grouped(*count)
                );
                self.tell_count("left-out", *count, text, report);
            }
            if self.opened > 0 {
                self.tell_count("opened", self.opened, format!("{} strings opened", grouped(self.opened)), report);
            }
        }
        if self.repaired > TOLD {
            self.tell_count("repaired", self.repaired, format!("{} records repaired", grouped(self.repaired)), report);
        }
        let seen = grouped(self.records);
        let decoded = self.bad - self.unwritable - self.refused;
        for (count, kind, what) in [
            (decoded, "undecodable", "can't be decoded"),
            (self.unwritable, "unwritable", "can't be written"),
            (self.refused, "refused", "refused"),
        ] {
            if count > 0 {
                self.tell_count(kind, count, format!("{} of {seen} {all} {what}", grouped(count)), report);
            }
        }
    }

    fn tell_count(&self, kind: &str, count: u64, message: String, report: &Report) {
        report.say(&Said::note(kind, message).counting(count).of(&self.input));
    }
}

/// What `--summary` writes.
#[derive(Serialize)]
struct Summary<'t> {
    records: u64,
    ok: u64,
    bad: u64,
    bytes: u64,
    inputs: &'t [Tally],
}

/// Writes the counts of all inputs.
pub fn write_summary(place: Destination, tallies: &[Tally]) -> Result<(), Abort> {
    let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum();
    let summary = Summary {
        records: sum(|tally| tally.records),
        ok: sum(|tally| tally.ok),
        bad: sum(|tally| tally.bad),
        bytes: sum(|tally| tally.bytes),
        inputs: tallies,
    };
    let mut target = Target::new(place)?;
    target.sink.json(&summary)?;
    target.sink.text("\n")?;
    target.keep()
}
