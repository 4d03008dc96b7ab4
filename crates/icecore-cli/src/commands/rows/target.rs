//! The form in which rows are written, from the command line.

use super::Rows;
use crate::class_map;
use crate::reading;
use crate::report::{Abort, usage_of};
use icecore::{Stage, format};
use icecore_tables::rows::columnar::Container;
use icecore_tables::rows::plan::{JSON, OutputForm};

/// Returns the form of the rows, and the JSON inside them.
pub fn form(args: &Rows) -> Result<(OutputForm, Stage), Abort> {
    let (out, json) = match (args.to(), Container::from_name(args.to())) {
        // Only the types are requested.
        (_, None) if args.typed.schema_only => (OutputForm::Columns(Container::Parquet), JSON),
        (_, Some(container)) => (OutputForm::Columns(container), JSON),
        ("csv", None) => (OutputForm::Csv, JSON),
        ("tsv", None) => (OutputForm::Tsv, JSON),
        (other, None) => (OutputForm::Json, other),
    };
    if format::by_name(json.split(':').next().unwrap_or(json)).is_none_or(|format| format.of_document().name != JSON) {
        return Err(unknown(args));
    }
    let mut stage = Stage::parse(json).map_err(crate::report::usage)?;
    stage = stage.of_line().unwrap_or(stage);
    reading::set(&mut stage, &args.to_options).map_err(crate::report::usage)?;
    class_map::set(&mut stage, &[])?;
    if stage.format().name != JSON || !stage.wrappers().is_empty() || stage.settings().number("indent") > Some(0) {
        return Err(unknown(args));
    }
    if args.csv_safe && !matches!(out, OutputForm::Csv | OutputForm::Tsv) {
        return Err(usage_of("`--csv-safe` is for `-t csv` and `-t tsv`"));
    }
    Ok((out, stage))
}

/// Returns the error for a form in which rows are not written.
fn unknown(args: &Rows) -> Abort {
    usage_of(format!(
        "rows are written as json (without indent), csv, tsv, parquet, arrow or arrows, not as `{}`",
        icecore::text::printable(args.to())
    ))
}

/// Returns the extension of a file of rows.
pub fn extension(args: &Rows) -> Result<&'static str, Abort> {
    Ok(match form(args)?.0 {
        OutputForm::Csv => "csv",
        OutputForm::Tsv => "tsv",
        OutputForm::Json => "ndjson",
        OutputForm::Columns(container) => container.name(),
    })
}
