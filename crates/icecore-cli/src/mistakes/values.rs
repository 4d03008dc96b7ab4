//! Mistyped values of options.

use super::{all_options, context_text, set_tip};
use crate::records::Framing;
use crate::report::{Abort, usage_text_error};
use clap::error::{ContextKind, ContextValue, Error};
use clap::{Command, ValueEnum};
use icecore::text::printable;
use icecore_tables::form::NDJSON;
use std::path::PathBuf;

/// Options, values that people try, and the value that they mean.
const SYNONYMS: &[(&str, &str, &str)] = &[
    ("color paging", "yes on true force 1", "always"),
    ("color paging", "no off false none 0", "never"),
    ("report", "plain human txt", "text"),
    ("each bytes frame", "line newline newlines lf jsonl ndjson", "lines"),
    ("each bytes frame", "zero null 0 nulls", "nul"),
    ("each bytes frame", "protobuf leb128", "varint"),
    ("each bytes frame", "u32 length 32", "u32be"),
    ("each bytes frame", "u16 16", "u16be"),
    ("each bytes frame", "u64 64", "u64be"),
    ("in", "json jsonl json-lines", NDJSON),
    ("in", "text txt line", "lines"),
    ("in", "postgres psql copy", "pgcopy"),
    ("in", "feather ipc", "arrow"),
    ("as", "rb", "ruby"),
    ("state", "running active processing claimed", "leased"),
    ("state", "queued pending available new", "ready"),
    ("state", "scheduled later", "delayed"),
    ("state", "completed complete finished success succeeded", "done"),
    ("on-error", "ignore pass copy leave", "keep"),
    ("on-error", "drop continue omit", "skip"),
    ("on-error", "fail abort raise exit error", "stop"),
    ("on-error", "empty nothing", "null"),
    ("compression", "zst", "zstd"),
    ("compression", "no off uncompressed", "none"),
    ("view", "side-by-side split", "columns"),
    ("view", "unified line", "lines"),
    ("<SHELL>", "sh", "bash"),
    ("<SHELL>", "pwsh ps1", "powershell"),
];

/// Options, values that people try, and advice.
const VALUE_ADVICE: &[(&str, &str, &str)] = &[
    ("in", "sqlite db sqlite3", "a database is read by `icecore rows --db sqlite:FILE --table TABLE`"),
    ("in", "excel xlsx xls ods", "save the table as CSV: `--in csv`"),
    (
        "state",
        "failed error errors failure retrying",
        "failed jobs are tried again, --state delayed; after their last attempt they are dead, --state dead",
    ),
    ("in", "xml html", "text in XML is changed by `icecore replace OLD NEW FILE`"),
    ("as", "python", "in Python, `classes=[…]` takes the names that `icecore classes FILE` lists"),
];

fn has_word(words: &str, searched: &str) -> bool {
    words.split(' ').any(|word| word == searched)
}

/// Adds to the error for a wrong value the value, option or command that was probably meant.
pub fn explain(mut error: Error, commands: &[&Command]) -> Error {
    let (option, value) =
        (context_text(&error, ContextKind::InvalidArg), context_text(&error, ContextKind::InvalidValue));
    // The option is written `--each[=<FRAME>]` or `--limit <NAME=N,…>`.
    let name = option.strip_prefix("--").unwrap_or(&option).split(['[', ' ', '=']).next().unwrap_or_default();
    let advice = other_option_advice(name, &value, commands).or_else(|| {
        let lower = value.to_ascii_lowercase();
        let text = VALUE_ADVICE.iter().find(|(names, values, _)| has_word(names, name) && has_word(values, &lower));
        text.map(|(_, _, text)| (*text).to_owned())
    });
    let advice = advice.or_else(|| Some(format!("did you mean `{}`?", suggest_value(name, &value, &error)?)));
    set_tip(&mut error, advice);
    error
}

/// Returns the value that was probably meant: by another name, or by a similar spelling.
fn suggest_value(name: &str, value: &str, error: &Error) -> Option<String> {
    let Some(ContextValue::Strings(valid_values)) = error.get(ContextKind::ValidValue) else { return None };
    let lower = value.to_ascii_lowercase();
    let synonym = SYNONYMS.iter().find(|(names, values, _)| has_word(names, name) && has_word(values, &lower));
    let synonym =
        synonym.map(|(_, _, value)| *value).filter(|value| valid_values.iter().any(|valid_value| valid_value == value));
    synonym.or_else(|| icecore::text::nearest(value, valid_values.iter().map(String::as_str))).map(str::to_owned)
}

/// Returns advice about another option or command that does what a wrong value of this option was meant to do.
fn other_option_advice(name: &str, value: &str, commands: &[&Command]) -> Option<String> {
    let command = commands.last()?;
    let has_option = |name: &str| all_options(command).any(|option| option.get_long() == Some(name));
    match name {
        "each" if command.get_name() != "convert" && Framing::from_str(value, true).is_ok() => {
            Some(format!("records in frames are for `icecore convert --each={value}`"))
        }
        "report" if command.get_name() == "bench" => {
            Some("reports that --json wrote are shown by `--show <FILE>`".to_owned())
        }
        "report" if has_option("summary") && value.contains(['.', '/']) => {
            Some("counts are written as JSON by `--summary <FILE>`".to_owned())
        }
        "limit" if value.parse::<u64>().is_ok() && has_option("items") => {
            Some(format!("did you mean `--items {value}`? --limit bounds what reading may cost"))
        }
        "limit" if value.parse::<u64>().is_ok() && has_option("concurrency") && has_option("rate") => {
            Some("did you mean `--rate <N/DURATION>` or `--concurrency <N>`?".to_owned())
        }
        _ => None,
    }
}

/// Refuses a first file that is the name of a frame and does not exist: `--each lines` for `--each=lines`.
pub fn refuse_framing_as_file(framing: Option<Framing>, files: &[PathBuf]) -> Result<(), Abort> {
    let first = files.first().filter(|file| framing == Some(Framing::Documents) && !file.exists());
    match first.and_then(|file| file.to_str()).filter(|name| Framing::from_str(name, false).is_ok()) {
        Some(name) => {
            Err(usage_text_error(format!("there is no file `{name}`; did you mean `--each={name}`, with `=`?")))
        }
        None => Ok(()),
    }
}

/// Returns an error if the name of an output ends like that of compressed data, for a command that writes text.
pub fn refuse_compressed_output(output: Option<&PathBuf>) -> Result<(), Abort> {
    const COMPRESSORS: [(&str, &str); 4] = [("gz", "gzip"), ("zst", "zstd"), ("bz2", "bzip2"), ("xz", "xz")];
    let Some(path) = output else { return Ok(()) };
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match COMPRESSORS.iter().find(|(known, _)| *known == extension) {
        None => Ok(()),
        Some((_, program)) => {
            let name = printable(&path.to_string_lossy()).into_owned();
            Err(usage_text_error(format!(
                "`{name}` would not be compressed: leave out `.{extension}`, or pipe the output: `… | {program} >{name}`"
            )))
        }
    }
}
