//! Names of formats that do not exist here.

use crate::report::{Abort, Report, usage_error, usage_text_error};
use icecore::format::Side;
use icecore::{Error, Stage, format, wrap};

/// Formats that are neither read nor written: their names, what to do instead to read them, and what to do instead to
/// write them. `{}` stands for the name.
const FOREIGN: &[(&str, &str, &str)] = &[
    (
        "yaml yml",
        "YAML is not read: `yq -o json FILE | icecore convert -f json` reads it as JSON",
        "YAML is not written, but JSON is valid YAML: `-t json`",
    ),
    (
        "csv tsv",
        "`{}` is a form of tables: `icecore rows --in {} FILE` reads them",
        "`{}` is a form of tables: `icecore query -r '.[] | [.id, .name] | @{}' FILE` makes one of a document, and \
         `icecore rows -t {} FILE` one of rows in a dump or a database",
    ),
    (
        "parquet arrow arrows feather",
        "`{}` is a form of tables: `icecore rows --in {} FILE` reads them",
        "`{}` is a form of tables: `icecore query -c '.[]' FILE | icecore rows --in ndjson -t {} -o FILE.{}` makes one of a \
         list of records, and `icecore rows -t {} FILE` one of rows in a dump or a database",
    ),
    (
        "xlsx xls excel ods",
        "a spreadsheet is not read: save it as CSV for `icecore rows FILE`",
        "a spreadsheet is not written: `icecore rows -t csv` writes tables that it opens",
    ),
    (
        "sql mysql pgcopy sqlite",
        "`icecore rows FILE` reads the rows of a dump, and `icecore rows --db URL` those of a database",
        "`{}` is not written: `icecore rows -t csv` writes tables",
    ),
    (
        "xml html toml ini msgpack cbor bson protobuf protobuf3 avro pickle python plist bencode amf wddx hessian",
        "`{}` is not read: convert it to JSON with another program, and use `-f json`",
        "`{}` is not written: most programs read JSON, `-t json`",
    ),
    ("auto detect any guess", "the format is detected if --from is not given", "JSON is written if --to is not given"),
    (
        "text txt raw string plain",
        "`{}` is not a format: `icecore rows --in lines FILE` reads lines of text",
        "`{}` is not a format: `icecore get -r PATH FILE` prints strings without quotes",
    ),
    (
        "var_dump print_r var-dump print-r",
        "`{}` is not read: PHP's var_export is, as `var-export`",
        "`{}` is not written: PHP's var_export is, as `var-export`",
    ),
    ("rom", "did you mean `--from`, with two dashes?", "did you mean `--from`, with two dashes?"),
    ("o", "did you mean `--to`, with two dashes?", "did you mean `--to`, with two dashes?"),
];

/// Parses the format of an input.
pub fn stage(text: &str) -> Result<Stage, Abort> {
    Stage::parse(text).map_err(|error| format_error(text, error, Side::Read))
}

/// Parses the format of an output.
pub fn target_stage(text: &str) -> Result<Stage, Abort> {
    Stage::parse(text).map_err(|error| format_error(text, error, Side::Write))
}

/// Reports options of a format that apply only to the other side of a conversion. `side` is what the command does
/// with the format.
pub fn report_unused_options(stage: &Stage, side: Side, report: &Report) {
    let format = stage.format().name;
    let other_side = if side == Side::Read { "writing" } else { "reading" };
    for option in stage.options_without_effect(side) {
        let advice = match (format, option) {
            ("json", "class") => ", and such objects are read as maps; json:typed writes objects that can be read back",
            _ => "",
        };
        let text = format!("{format}:{option} has no effect here: it is an option for {other_side}{advice}");
        report.report_command_note("option", text);
    }
}

/// Returns the error for an invalid format, with the advice that fits best.
fn format_error(text: &str, error: Error, side: Side) -> Abort {
    let name = text.rsplit('/').next().unwrap_or(text);
    let name = name.split(':').next().unwrap_or(name);
    let foreign = FOREIGN.iter().find(|(names, ..)| names.split(' ').any(|known| known.eq_ignore_ascii_case(name)));
    if let Some((_, read, write)) = foreign {
        return usage_text_error(if side == Side::Read { read } else { write }.replace("{}", name));
    }
    // The first part of `NAME=OPTION` or `NAME OPTION`.
    let word = name.split([' ', '=']).next().unwrap_or(name);
    let with_colon = format!("{word}:{}", name.get(word.len() + 1..).unwrap_or_default());
    if word != name && Stage::parse(&with_colon).is_ok() {
        return usage_text_error(format!(
            "options follow a colon: did you mean `{}`?",
            icecore::text::printable(&with_colon)
        ));
    }
    let found = error.found().unwrap_or_default().to_owned();
    let is_wrapper_alone = |wrapper: &&&icecore::wrap::Wrapper| found == format!("`{}` alone", wrapper.name);
    if let Some(wrapper) = wrap::by_name(name).as_ref().filter(is_wrapper_alone)
        && wrapper.options.iter().any(|option| option.name == "key")
    {
        return usage_text_error(format!(
            "a format follows the wrapper: `{name}/marshal`, or with the key that checks it \
             `'{name}:key=\"SECRET\",salt=\"signed cookie\"/marshal'`; `icecore formats {name}` explains the options"
        ));
    }
    let is_unknown_name = [name, text].iter().any(|candidate| found == format!("`{candidate}`"));
    if !is_unknown_name || format::by_name(name).is_some() || wrap::by_name(name).is_some() {
        return usage_error(error);
    }
    let all_names: Vec<&str> = format::all().iter().map(|format| format.name).collect();
    let suggestion = error.help().filter(|help| help.starts_with("did you mean")).map(|help| format!("{help} "));
    let separator = if suggestion.is_some() { "; " } else { ". " };
    let suggestion = suggestion.unwrap_or_default();
    usage_text_error(format!(
        "there is no format {found}{separator}{suggestion}The formats are {}",
        all_names.join(", ")
    ))
}
