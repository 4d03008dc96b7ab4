//! The user's own data as a scenario.

use super::Bench;
use crate::arguments::Global;
use crate::commands::rows::{self, Rows};
use crate::mistakes;
use crate::report::{Abort, Report, code};
use crate::source::Source;
use clap::Parser;
use icecore::{Document, Stage};
use icecore_lab::scenario::{self, Scenario};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Format in which values pass from a table to the lab; it keeps all that a document contains.
const VALUE_FORMAT: &str = "json:typed";

/// Returns the data of `--data` as a scenario; `None` if it can't be read, which is reported.
pub fn load_scenario(
    args: &Bench,
    file: &Path,
    global: &Global,
    report: &mut Report,
) -> Result<Option<Scenario>, Abort> {
    let source = Source::from_path(Some(file));
    let name = source.name();
    let loaded_document = match &args.column {
        Some(column) => Some(read_column(column, args, file, global, report)?),
        None => read_document(args, &source, &name, global, report)?,
    };
    let Some((document, format)) = loaded_document else { return Ok(None) };
    let title = source.relative_path.display().to_string();
    let mut scenario = Scenario::from_document(&title, document, scenario::default_baseline(&format));
    scenario.engine = scenario::ENGINE.iter().map(|&format| format.to_owned()).collect();
    if !scenario.engine.contains(&format) && Stage::parse(&format).is_ok() {
        scenario.engine.insert(0, format);
    }
    Ok(Some(scenario))
}

/// A document, and the name of its format.
type LoadedDocument = (Document<'static>, String);

fn read_document(
    args: &Bench,
    source: &Source,
    name: &str,
    global: &Global,
    report: &mut Report,
) -> Result<Option<LoadedDocument>, Abort> {
    let given_stage = args.format.as_deref().map(mistakes::stage).transpose()?;
    let bytes = match source.read() {
        Ok(bytes) => bytes,
        Err(error) => {
            report.report_io_error(name, &error);
            return Ok(None);
        }
    };
    let loaded_document = given_stage.map_or_else(|| icecore::detect::stage_of(&bytes), Ok).and_then(|stage| {
        let document = icecore::read_as(&bytes, &stage, &global.limits)?;
        Ok((document.into_owned(), stage.format().name.to_owned()))
    });
    Ok(loaded_document.map_err(|error| report.report_unreadable(name, &error, &bytes)).ok())
}

/// The command line of `icecore rows`, which reads the table.
#[derive(Parser)]
struct RowsCommandLine {
    #[command(flatten)]
    rows: Rows,
}

/// Returns all values of a column as one list, from the output of `icecore rows`.
fn read_column(
    column: &str,
    args: &Bench,
    file: &Path,
    global: &Global,
    report: &mut Report,
) -> Result<LoadedDocument, Abort> {
    let other_error = |error: &dyn std::fmt::Display| Abort::Failed(code::OTHER, error.to_string());
    let folder = tempfile::tempdir().map_err(|error| other_error(&error))?;
    let rows_file = folder.path().join("rows");
    let form = args.format.as_deref().unwrap_or("csv");
    let words = ["rows", "--in", form, "-t", VALUE_FORMAT, "--on-error", "stop", "--column", column, "-o"];
    let words = words.map(OsString::from).into_iter().chain([rows_file.clone().into(), file.as_os_str().to_owned()]);
    let command_line =
        RowsCommandLine::try_parse_from(words).map_err(|error| Abort::Failed(code::USAGE, error.to_string()))?;
    rows::run(&command_line.rows, global, report)?;
    let name = column.split('=').next().unwrap_or_default();
    let text = std::fs::read_to_string(&rows_file).map_err(|error| other_error(&error))?;
    let mut list = ListJoiner::default();
    for row in text.lines() {
        let cells: JsonObject<'_> = serde_json::from_str(row).map_err(|error| other_error(&error))?;
        let cell = cells.get(name).ok_or_else(|| Abort::Failed(code::USAGE, format!("there is no column {name}")))?;
        list.push(cell.get()).map_err(|error| other_error(&error))?;
    }
    let list = list.into_list_text();
    let stage = Stage::parse(VALUE_FORMAT).map_err(|error| other_error(&error))?;
    let document = icecore::read_as(list.as_bytes(), &stage, &global.limits).map_err(|error| other_error(&error))?;
    // `NAME=WRAPPER/FORMAT:OPTION` names the format of the values.
    let format = column.split_once('=').map_or("", |(_, path)| path);
    let format = format.rsplit('/').next().unwrap_or_default().split(':').next().unwrap_or_default();
    Ok((document.into_owned(), format.to_owned()))
}

type JsonObject<'j> = BTreeMap<String, &'j RawValue>;

/// Joins documents in `json:typed` into one document: their list.
#[derive(Default)]
struct ListJoiner {
    items: String,
    /// The object around a value that plain JSON can't express, without that value.
    wrapper_object: String,
}

impl ListJoiner {
    fn push(&mut self, document: &str) -> serde_json::Result<()> {
        let mut value = document;
        let mut wrapper_object = JsonObject::new();
        if document.starts_with("{\"$icecore\"") {
            wrapper_object = serde_json::from_str(document)?;
            value = wrapper_object.remove("$value").map_or("null", RawValue::get);
        }
        if !wrapper_object.is_empty() {
            self.wrapper_object = serde_json::to_string(&wrapper_object)?;
        }
        if !self.items.is_empty() {
            self.items.push(',');
        }
        self.items.push_str(value);
        Ok(())
    }

    fn into_list_text(self) -> String {
        match self.wrapper_object.strip_suffix('}') {
            Some(wrapper_start) => format!("{wrapper_start},\"$value\":[{}]}}", self.items),
            None => format!("[{}]", self.items),
        }
    }
}
