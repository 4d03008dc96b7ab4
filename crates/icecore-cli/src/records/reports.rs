//! Reports on many records: the first errors one by one, and totals at the end.

use crate::report::{Abort, Report, code};
use crate::report_message::ReportMessage;
use crate::target::{Destination, Target};
use icecore::{Error, ErrorKind, Losses, value::Repair};
use icecore_tables::plural::{format_count, group_digits};
use icecore_tables::tally::{LOSS, LossCount, REFUSED, RecordError, Tally};
use serde::Serialize;

/// Maximum number of errors, and of repaired records, that are printed one by one.
const MAX_PRINTED: u64 = 10;

/// Why a record is not in the output.
pub enum Fault<'e> {
    /// It can't be read.
    Unreadable(&'e Error),
    /// The output format can't represent it.
    Unwritable(&'e Error),
    /// It has losses, which are not allowed.
    Refused(&'e Losses),
}

/// Returns true if the next error is still printed.
pub fn prints_next_error(tally: &Tally) -> bool {
    tally.bad < MAX_PRINTED
}

/// Reports an error in a row, unless many were reported. Increments `error_count`, the number of errors so far.
pub fn report_row_error(tally: &Tally, row_error: &RecordError, error_count: &mut u64, report: &mut Report) {
    let code = if row_error.kind == LOSS { code::FINDING } else { code::INPUT };
    report.raise_exit_code(code);
    *error_count += 1;
    let RecordError { record, offset, message, kind } = row_error;
    if *error_count <= MAX_PRINTED {
        let offset = Some(*offset).filter(|_| !tally.has_no_offsets);
        let at_offset = offset.map_or_else(String::new, |offset| format!(" at offset {offset}"));
        let report_message = ReportMessage::error(code, format!("row {record}{at_offset}, {message}")).with_kind(kind);
        report.print_message(&report_message.in_record(*record, offset).for_input(&tally.input));
    } else if *error_count == MAX_PRINTED + 1 {
        report_further_errors(tally, report);
    }
}

/// Reports a record that is not in the output; `bytes` begins at its start.
pub fn report_record_fault(
    tally: &mut Tally,
    fault: &Fault<'_>,
    record: u64,
    offset: u64,
    bytes: &[u8],
    report: &mut Report,
) {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let (code, kind, error) = match fault {
        Fault::Unreadable(error) => (code::INPUT, error.kind().as_str(), Some((*error).clone().moved(start))),
        Fault::Unwritable(error) if error.kind() == ErrorKind::Limit => {
            (code::INPUT, error.kind().as_str(), Some((*error).clone()))
        }
        Fault::Unwritable(error) => (code::OTHER, error.kind().as_str(), Some((*error).clone())),
        Fault::Refused(_) => (code::FINDING, LOSS, None),
    };
    report.raise_exit_code(code);
    let message = match (fault, &error) {
        (Fault::Refused(losses), _) => losses.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        (_, error) => error.as_ref().map_or_else(String::new, ToString::to_string),
    };
    let text = match fault {
        Fault::Unreadable(_) => format!("record {record}: {message}"),
        Fault::Unwritable(_) => {
            tally.unwritable += 1;
            format!("record {record} at offset {offset}: {message}")
        }
        Fault::Refused(_) => {
            tally.refused += 1;
            format!("record {record} at offset {offset}: {REFUSED}{message}")
        }
    };
    if prints_next_error(tally) {
        let report_message = ReportMessage::error(code, text).for_input(&tally.input);
        let report_message = match &error {
            Some(error) => report_message.with_error(error),
            None => report_message.with_kind(kind),
        };
        report.print_message(&report_message.in_record(record, Some(offset)));
        if let Fault::Unreadable(error) = fault {
            report.print_error_excerpt(error, bytes, offset);
        }
    }
    if tally.bad == MAX_PRINTED {
        report_further_errors(tally, report);
    }
    tally.bad += 1;
    tally.list_error(RecordError { record, offset, kind, message });
}

fn report_further_errors(tally: &Tally, report: &Report) {
    report.print_message(&ReportMessage::note("more", "further errors are only counted").for_input(&tally.input));
}

/// Counts a record that was repaired, and reports the first ones.
pub fn count_repaired_record(tally: &mut Tally, offset: u64, repairs: &[Repair], report: &mut Report) {
    if repairs.is_empty() {
        return;
    }
    if tally.repaired < MAX_PRINTED {
        report.report_repairs(&tally.input, usize::try_from(offset).unwrap_or(usize::MAX), repairs);
    }
    tally.repaired += 1;
}

/// Writes the reports at the end of an input.
pub fn report_totals(tally: &Tally, report: &mut Report, quiet: bool) {
    let (singular, plural) = if tally.has_rows { ("row", "rows") } else { ("record", "records") };
    if !quiet {
        for LossCount { count, record, path, kind } in tally.losses.values() {
            let description = kind.describe(*count);
            let text = format!("{} {description}, first in {singular} {record} at {path}", group_digits(*count));
            report.print_message(
                &ReportMessage::loss(kind.as_str(), *count, path, text)
                    .in_record(*record, None)
                    .for_input(&tally.input),
            );
        }
        if let Some((count, record, column)) = &tally.passed_on {
            let phrase =
                if *count == 1 { "expression of SQL is its text" } else { "expressions of SQL are their text" };
            let text = format!("{} {phrase}, first in {singular} {record} at column {column}", group_digits(*count));
            report_count(tally, "expressions", *count, text, report);
        }
        if let Some((count, record, column)) = &tally.kept_values {
            let phrase = if *count == 1 { "value is not" } else { "values are not" };
            let all = if tally.decoded_as_given == 0 { ", and no other value is" } else { "" };
            let text = format!(
                "{} {phrase} of the given format{all}: unchanged, first in {singular} {record} at column {column}; --kind-column marks them",
                group_digits(*count)
            );
            report_count(tally, "kept", *count, text, report);
        }
        if tally.null_words > 0 {
            let phrase = if tally.null_words == 1 { "value is" } else { "values are" };
            let text =
                format!("{} {phrase} the word NULL: `--null NULL` reads it as null", group_digits(tally.null_words));
            report_count(tally, "null-word", tally.null_words, text, report);
        }
        if let Some((count, record, column)) = &tally.texts_as_null {
            let phrase = if *count == 1 { "value is ordinary text" } else { "values are ordinary text" };
            let text = format!(
                "{} {phrase}, which the type of the column can't hold: null, first in {singular} {record} at column {column}; --schema '{column}: json' keeps the text",
                group_digits(*count)
            );
            report_count(tally, "null", *count, text, report);
        }
        if let Some((count, record, column)) = &tally.left_out {
            let phrase = if *count == 1 { "row has entries" } else { "rows have entries" };
            let text = format!(
                "{} {phrase} without a field, first in row {record} in {column}: a field of the type `rest` keeps them (--schema), and so does a type that is learned from more rows (--infer)",
                group_digits(*count)
            );
            report_count(tally, "left-out", *count, text, report);
        }
        if let Some((count, record, key)) = &tally.late_keys {
            let phrase = if *count == 1 { "row has a key" } else { "rows have keys" };
            let key = icecore::text::printable(key);
            let text = format!(
                "{} {phrase} without a column, first in row {record} the key `{key}`: --infer ROWS learns the columns from more rows, --columns names them",
                group_digits(*count)
            );
            report_count(tally, "left-out", *count, text, report);
        }
        if tally.opened > 0 {
            report_count(
                tally,
                "opened",
                tally.opened,
                format_count(tally.opened, "string opened", "strings opened"),
                report,
            );
        }
    }
    if tally.repaired > MAX_PRINTED {
        report_count(
            tally,
            "repaired",
            tally.repaired,
            format_count(tally.repaired, "record repaired", "records repaired"),
            report,
        );
    }
    let total = group_digits(tally.records);
    let undecodable = tally.bad - tally.unwritable - tally.refused;
    for (count, kind, problem) in [
        (undecodable, "undecodable", "can't be decoded"),
        (tally.unwritable, "unwritable", "can't be written"),
        (tally.refused, "refused", "refused"),
    ] {
        if count > 0 {
            report_count(tally, kind, count, format!("{} of {total} {plural} {problem}", group_digits(count)), report);
        }
    }
}

fn report_count(tally: &Tally, kind: &str, count: u64, message: String, report: &Report) {
    report.print_message(&ReportMessage::note(kind, message).with_count(count).for_input(&tally.input));
}

/// The contents of `--summary`.
#[derive(Serialize)]
struct Summary<'t> {
    records: u64,
    ok: u64,
    bad: u64,
    bytes: u64,
    inputs: &'t [Tally],
}

/// Writes the counts of all inputs.
pub fn write_summary(destination: Destination, tallies: &[Tally]) -> Result<(), Abort> {
    let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum();
    let summary = Summary {
        records: sum(|tally| tally.records),
        ok: sum(|tally| tally.ok),
        bad: sum(|tally| tally.bad),
        bytes: sum(|tally| tally.bytes),
        inputs: tallies,
    };
    let mut target = Target::new(destination)?;
    target.writer.write_json(&summary)?;
    target.writer.write_text("\n")?;
    target.complete_output()
}
