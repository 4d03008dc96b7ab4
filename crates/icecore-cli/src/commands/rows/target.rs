//! The form in which rows are written, from the command line.

use super::Rows;
use crate::class_map;
use crate::document_reader;
use crate::report::{Abort, usage_text_error};
use icecore::{Stage, format};
use icecore_tables::rows::columnar::Container;
use icecore_tables::rows::plan::{JSON, OutputForm};

/// Returns the form of the rows, and the JSON inside them.
pub fn parse_output_form(args: &Rows) -> Result<(OutputForm, Stage), Abort> {
    let (output_form, json_format) = match (args.output_form(), Container::from_name(args.output_form())) {
        // With --schema-only, no rows are written, so any form with types will do.
        (_, None) if args.column_types.schema_only => (OutputForm::Columns(Container::Parquet), JSON),
        (_, Some(container)) => (OutputForm::Columns(container), JSON),
        ("csv" | "csv:bom", None) => (OutputForm::Csv, JSON),
        ("tsv" | "tsv:bom", None) => (OutputForm::Tsv, JSON),
        (form, None) => (OutputForm::Json, form),
    };
    if format::by_name(json_format.split(':').next().unwrap_or(json_format))
        .is_none_or(|format| format.of_document().name != JSON)
    {
        return Err(unknown_form_error(args));
    }
    let mut stage = Stage::parse(json_format).map_err(crate::report::usage_error)?;
    stage = stage.of_line().unwrap_or(stage);
    document_reader::set_options(&mut stage, &args.to_options).map_err(crate::report::usage_error)?;
    class_map::apply_pairs(&mut stage, &[])?;
    if stage.format().name != JSON || !stage.wrappers().is_empty() || stage.settings().number("indent") > Some(0) {
        return Err(unknown_form_error(args));
    }
    if args.csv_safe && !matches!(output_form, OutputForm::Csv | OutputForm::Tsv) {
        return Err(usage_text_error("`--csv-safe` is for `-t csv` and `-t tsv`"));
    }
    Ok((output_form, stage))
}

/// Returns whether a byte order mark begins the rows.
pub fn has_byte_order_mark(args: &Rows) -> bool {
    args.output_form().ends_with(":bom")
}

/// Returns the error for a form in which rows are not written.
fn unknown_form_error(args: &Rows) -> Abort {
    let form = icecore::text::printable(args.output_form());
    let with_options = form.split_once(':').filter(|(name, _)| super::FORMS.contains(name) && *name != JSON);
    usage_text_error(match with_options {
        Some((name, options)) => {
            let known = if matches!(name, "csv" | "tsv") { "no options other than `bom`" } else { "no options" };
            format!("{name} has {known}; those of the values in it are for --to-opt: `-t {name} --to-opt {options}`")
        }
        None => {
            format!("rows are written as json (without indent), csv, tsv, parquet, arrow or arrows, not as `{form}`")
        }
    })
}

/// Returns the extension of a file of rows.
pub fn file_extension(args: &Rows) -> Result<&'static str, Abort> {
    Ok(match parse_output_form(args)?.0 {
        OutputForm::Csv => "csv",
        OutputForm::Tsv => "tsv",
        OutputForm::Json => "ndjson",
        OutputForm::Columns(container) => container.name(),
    })
}
