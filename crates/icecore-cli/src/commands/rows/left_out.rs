//! Messages about tables and keys that are not in the output of `rows`.

use crate::report::{Abort, Report, usage_text_error};
use icecore::text::printable;
use icecore_tables::plural::{group_digits, join_names};
use icecore_tables::tally::Tally;

/// Describes tables that are left out because they have none of the requested columns.
pub fn describe_skipped_tables(names: &[String], advice: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", printable(name))).collect();
    let (tables, verbs) = match names.len() {
        1 => ("the table", ("has", "is")),
        _ => ("the tables", ("have", "are")),
    };
    let (has, is) = verbs;
    format!("{tables} {} {has} none of the columns and {is} left out; {advice}", join_names(&quoted))
}

/// Reports the rows that lack the key of a column. If all rows were read, a key that none of them has is an error: it
/// is probably a typing error.
pub fn report_absent_keys(tally: &Tally, name: &str, has_all_rows: bool, report: &Report) -> Result<(), Abort> {
    for (column, count) in &tally.absent_keys {
        let column = printable(column);
        if has_all_rows && *count == tally.records {
            return Err(usage_text_error(format!("no row of {name} has the key `{column}`")));
        }
        let verb = if *count == 1 { "has" } else { "have" };
        let text = format!("{} of {} rows {verb} no key `{column}`", group_digits(*count), group_digits(tally.records));
        report.report_note(name, "absent", text);
    }
    Ok(())
}
