//! Suggestions for mistakes on the command line.

use crate::records::Frame;
use crate::report::{Abort, usage, usage_of};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, ValueEnum};
use icecore::select::Pattern;
use std::path::{Path, PathBuf};

/// Former names of options, and their current names.
const RENAMED: [(&str, &str); 1] = [("most", "items")];

/// Names that other programs use for commands of `queue`, and the names here.
const OTHER_COMMANDS: [(&str, &str); 14] = [
    ("add", "push"),
    ("put", "push"),
    ("enqueue", "push"),
    ("send", "push"),
    ("ls", "list"),
    ("jobs", "list"),
    ("show", "list"),
    ("failed", "dead"),
    ("failures", "dead"),
    ("status", "stats"),
    ("retry", "redrive"),
    ("requeue", "redrive"),
    ("unpause", "resume"),
    ("purge", "forget"),
];

const DRY_RUN: &str = "--dry-run shows what would change";

/// Options that other programs have: the command, the option, and how to do the same here.
const OTHER_OPTIONS: [(&str, &str, &str); 14] = [
    ("replace", "-n", DRY_RUN),
    ("edit", "-n", DRY_RUN),
    ("patch", "-n", DRY_RUN),
    ("rows", "--head", "the first 10 rows: `icecore rows --items 10 …`"),
    ("rows", "--sample", "the first 10 rows: `icecore rows --items 10 …`"),
    ("rows", "-n", "the first 10 rows: `icecore rows --items 10 …`"),
    ("rows", "--count", "the number of rows: `icecore rows -t ndjson … | wc -l`"),
    ("rows", "--where", "some rows: `icecore rows -t ndjson … | icecore query --each 'select(.id < 10)'`"),
    ("rows", "--filter", "some rows: `icecore rows -t ndjson … | icecore query --each 'select(.id < 10)'`"),
    ("edit", "--undo", "the file as it was is next to it, under the name that --backup gives it"),
    ("edit", "--restore", "the file as it was is next to it, under the name that --backup gives it"),
    ("paths", "--grep", "`icecore paths FILE | grep WORD`"),
    ("patch", "--reverse", "`icecore diff --json NEW OLD` writes the reverse difference"),
    ("patch", "-R", "`icecore diff --json NEW OLD` writes the reverse difference"),
];

/// Adds a suggestion to an error: an option with a similar name, or the command that has the option.
pub fn explain(mut error: Error, command: &Command, words: &[String]) -> Error {
    if matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
        return explain_value(error, command, words);
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        return explain_command(error, command, words);
    }
    if error.kind() == ErrorKind::ArgumentConflict {
        return explain_conflict(error, command, words);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    // An unknown option is rarely meant as a file with such a name.
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else { return error };
    let last = named(command, words).last().map_or("", |command| command.get_name());
    if let Some((_, _, text)) =
        OTHER_OPTIONS.iter().find(|(command, option, _)| *command == last && wrong.split('=').next() == Some(*option))
    {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*text).into()]));
        return error;
    }
    let Some(name) = wrong.strip_prefix("--").map(|name| name.split('=').next().unwrap_or(name).to_owned()) else {
        return error;
    };
    let commands = named(command, words);
    let known: Vec<&str> = commands.iter().flat_map(|command| options(command)).collect();
    if let Some((_, new)) = RENAMED.iter().find(|(old, new)| *old == name && known.contains(new)) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{new}")));
        return error;
    }
    match icecore::text::nearest(&name, known.into_iter()) {
        Some(near) => {
            let near = ContextValue::String(format!("--{near}"));
            error.insert(ContextKind::SuggestedArg, near);
        }
        None => {
            let mut homes = Vec::new();
            find_homes(command, &name, "icecore", &mut homes);
            if !homes.is_empty() {
                let homes: Vec<String> = homes.iter().map(|home| format!("`{home}`")).collect();
                let text = format!("--{name} is an option of {}", homes.join(", "));
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text.into()]));
            }
        }
    }
    error
}

/// Adds the name of a command to the error for a name that other programs use.
fn explain_command(mut error: Error, command: &Command, words: &[String]) -> Error {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let is_queue = named(command, words).last().is_some_and(|command| command.get_name() == "queue");
    let known = OTHER_COMMANDS.iter().find(|(other, _)| is_queue && other == wrong);
    if let Some((_, name)) = known {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![(*name).to_owned()]));
    }
    error
}

/// Adds to an error of two arguments what is meant by one of them.
fn explain_conflict(mut error: Error, command: &Command, words: &[String]) -> Error {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else { return error };
    let is_rows = named(command, words).last().is_some_and(|command| command.get_name() == "rows");
    if is_rows && wrong == "--all-tables" {
        let text = "--all-tables is for --db: a dump is read with all its tables, unless --table names some";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text.into()]));
    }
    error
}

/// Adds to an error of a value the option or command that accepts the value.
fn explain_value(mut error: Error, command: &Command, words: &[String]) -> Error {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let (option, value) = (of(ContextKind::InvalidArg), of(ContextKind::InvalidValue));
    let commands = named(command, words);
    let has = |name: &str| commands.iter().any(|command| options(command).any(|option| option == name));
    let text = match commands.last().map(|command| command.get_name()) {
        _ if option.starts_with("--each") && Frame::from_str(&value, false).is_ok() => {
            format!("records in frames are for `icecore convert --each={value}`")
        }
        Some("bench") if option.starts_with("--report") => "--show FILE shows a report that --json wrote".to_owned(),
        _ if option.starts_with("--limit") && has("items") && value.parse::<u64>().is_ok() => {
            format!("`--items {value}` sets how many items are shown")
        }
        _ if option.starts_with("--report") && has("summary") => "--summary FILE writes the counts as JSON".to_owned(),
        _ => return error,
    };
    error.remove(ContextKind::SuggestedValue);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text.into()]));
    error
}

/// Returns the error for an invalid path: a name without the dot, or a file in place of the path.
pub fn of_path(path: &str, files: &[PathBuf], error: icecore::Error) -> Abort {
    let shown = |text: &str| icecore::text::printable(text).into_owned();
    let meant = |text: &str| {
        let with_dot = format!(".{text}");
        [text, &with_dot].into_iter().find(|path| Pattern::parse(path).is_ok()).map(str::to_owned)
    };
    if Path::new(path).exists() {
        let first = files.first().and_then(|file| file.to_str()).and_then(meant);
        let path = shown(path);
        return usage_of(match first {
            Some(first) => format!("the path comes first: icecore get '{}' {path}", shown(&first)),
            None => format!("`{path}` is a file, and the path comes first: icecore get '$.name[0]' {path}"),
        });
    }
    match meant(path) {
        Some(meant) => usage_of(format!("`{}` is not a path: did you mean `{}`?", shown(path), shown(&meant))),
        None => usage(error),
    }
}

/// Returns the error for an invalid output format, with a hint if it is a form of tables.
pub fn of_target(to: &str, error: icecore::Error) -> Abort {
    let name = to.split(':').next().unwrap_or(to);
    match name {
        "csv" | "tsv" | "parquet" | "arrow" | "arrows" => usage_of(format!(
            "`{name}` is a form of tables, and this command writes documents: `icecore rows -t {name}` writes tables"
        )),
        _ => usage(error),
    }
}

/// Returns the command and the subcommands that the words name.
pub fn named<'c>(command: &'c Command, words: &[String]) -> Vec<&'c Command> {
    let mut commands = vec![command];
    for word in words.iter().skip(1) {
        if let Some(next) = commands.last().and_then(|command| command.find_subcommand(word)) {
            commands.push(next);
        }
    }
    commands
}

/// Returns the long names of the visible options of a command.
fn options(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter(|option| !option.is_hide_set()).filter_map(|option| option.get_long())
}

/// Finds the commands that have an option with this name.
fn find_homes(command: &Command, name: &str, path: &str, homes: &mut Vec<String>) {
    for inner in command.get_subcommands() {
        let path = format!("{path} {}", inner.get_name());
        if options(inner).any(|option| option == name) {
            homes.push(path.clone());
        }
        find_homes(inner, name, &path, homes);
    }
}
