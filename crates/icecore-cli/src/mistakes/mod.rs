//! Suggestions for mistakes on the command line. A suggestion is close in spelling, or in a table of names that other
//! programs use; otherwise the command says what it takes.

mod commands;
mod foreign;
mod formats;
mod paths;
mod values;

pub use commands::{explain_word, options_come_after};
pub use formats::{stage, target_stage};
#[cfg(feature = "store")]
pub use paths::whole_path;
pub use paths::{of_filter, of_get, of_path};
pub use values::refuse_frame_as_file;

use crate::short_help;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};

/// Former names of options, and their current names.
const RENAMED: [(&str, &str); 1] = [("most", "items")];
/// Maximum number of commands that are named because they have an option.
const HOMES: usize = 3;

/// Adds a suggestion to an error of the command line.
pub fn explain(error: Error, top: &Command, words: &[String]) -> Error {
    let commands = named(top, words);
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => values::explain(error, &commands),
        ErrorKind::InvalidSubcommand => commands::explain(error, &commands),
        ErrorKind::UnknownArgument => explain_option(error, &commands, words),
        ErrorKind::ArgumentConflict => explain_conflict(error, &commands),
        _ => error,
    }
}

/// Adds to the error for an unknown option what was probably meant, or what the command takes.
fn explain_option(mut error: Error, commands: &[&Command], words: &[String]) -> Error {
    let wrong = text_of(&error, ContextKind::InvalidArg);
    let option = wrong.split('=').next().unwrap_or_default();
    let advice = match option.starts_with('-') {
        true => Some(option_advice(option, commands, words)),
        false => foreign::word_advice(&key(commands)).map(str::to_owned),
    };
    let advice = joined_backup_suffix(option, words).or(advice);
    with_tip(&mut error, advice);
    // The usage of the parser names a similar option as if it were required.
    if let Some(command) = commands.last() {
        let usage = (*command).clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    error
}

/// Adds to an error of two arguments what is meant by one of them.
fn explain_conflict(mut error: Error, commands: &[&Command]) -> Error {
    if key(commands) == "rows" && text_of(&error, ContextKind::InvalidArg) == "--all-tables" {
        let tip = "--all-tables is for --db: a dump is read with all its tables, unless --table names some";
        with_tip(&mut error, Some(tip.to_owned()));
    }
    error
}

/// Returns what to say about an unknown option. The innermost command is the last one.
fn option_advice(option: &str, commands: &[&Command], words: &[String]) -> String {
    let Some((command, top)) = commands.last().zip(commands.first()) else { return String::new() };
    let with_one_dash = || likely_meant(&with_two_dashes(option, words)?, command, &key(commands));
    if let Some(text) = likely_meant(option, command, &key(commands)).or_else(with_one_dash) {
        return text;
    }
    let mut homes = Vec::new();
    find_homes(top, option, top.get_name(), &mut homes);
    match homes.is_empty() || homes.len() > HOMES {
        true => what_it_takes(command, commands),
        false => format!("{option} is an option of {}", listed(&homes)),
    }
}

/// Returns what an unknown option probably means: a former name, one of another program, or a similar spelling.
fn likely_meant(option: &str, command: &Command, key: &str) -> Option<String> {
    if let Some(text) = foreign::advice(key, option) {
        return Some(text.to_owned());
    }
    let find = |name: &str| all_options(command).find(|option| option.get_long() == Some(name));
    let long = option.strip_prefix("--");
    let renamed = RENAMED.iter().find(|(old, _)| long == Some(old)).map(|(_, new)| *new);
    let near = || {
        let known: Vec<&str> = all_options(command).filter_map(Arg::get_long).collect();
        icecore::text::nearest(long?, known.into_iter())
    };
    let meant = renamed.and_then(find).or_else(|| foreign::synonyms(option).find_map(find));
    let meant = meant.or_else(|| near().and_then(find))?;
    Some(format!("did you mean `{}`?", short_help::spell_option(meant)))
}

/// Returns the long option that was written with one dash, such as `--json` for `-json`. `option` is one of its letters.
fn with_two_dashes(option: &str, words: &[String]) -> Option<String> {
    let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1)?;
    let is_it = |word: &&String| {
        word.len() > 2
            && word.starts_with('-')
            && !word.starts_with("--")
            && word.get(1..).is_some_and(|rest| rest.contains(letter))
    };
    let word = words.iter().find(is_it)?;
    Some(format!("-{}", word.split('=').next()?))
}

/// Returns the advice for a suffix that is joined with `-i`, as `sed -i.bak` takes it.
fn joined_backup_suffix(option: &str, words: &[String]) -> Option<String> {
    let word = words.iter().find(|word| word.starts_with("-i.") && option == "-.")?;
    Some(format!("the suffix of backups is an option of its own: `-i --backup {}`", word.get(2..)?))
}

/// Joins names: `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [leading @ .., last] if !leading.is_empty() => format!("{} and {last}", leading.join(", ")),
        _ => names.concat(),
    }
}

/// Names the usual options of a command.
fn what_it_takes(command: &Command, commands: &[&Command]) -> String {
    let name: Vec<&str> = commands.iter().map(|command| command.get_name()).collect();
    let name = name.join(" ");
    let default_names = short_help::usual(&name);
    let is_usual = |option: &&Arg| match default_names {
        Some(names) => option.get_long().is_some_and(|name| names.split(' ').any(|known| known == name)),
        None => !option.is_global_set() && option.get_long() != Some("help"),
    };
    let mut options: Vec<&str> = all_options(command).filter(is_usual).filter_map(Arg::get_long).collect();
    if let Some(names) = default_names {
        options.sort_by_key(|name| names.split(' ').position(|known| known == *name));
    }
    let options: Vec<String> = options.iter().map(|name| format!("--{name}")).collect();
    match options.is_empty() {
        true => format!("`{name} -h` shows what it takes"),
        false => format!("`{name}` takes {}; `{name} -h` shows all", options.join(", ")),
    }
}

/// Replaces the suggestions of an error by this one.
fn with_tip(error: &mut Error, tip: Option<String>) {
    for kind in [
        ContextKind::Suggested,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
        ContextKind::SuggestedCommand,
    ] {
        error.remove(kind);
    }
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Returns a text of an error, or an empty one.
fn text_of(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Returns the name of the innermost command in the tables: `rows`, `queue-push`.
fn key(commands: &[&Command]) -> String {
    commands.iter().skip(1).map(|command| command.get_name()).collect::<Vec<_>>().join("-")
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

/// Returns the visible options of a command.
fn all_options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|option| !option.is_hide_set() && !option.is_positional())
}

/// Finds the commands that have this option as one of their own.
fn find_homes(command: &Command, option: &str, path: &str, homes: &mut Vec<String>) {
    let is_it = |known: &Arg| match option.strip_prefix("--") {
        Some(name) => known.get_long() == Some(name),
        None => known
            .get_short()
            .is_some_and(|short| option.strip_prefix('-').is_some_and(|name| name == short.to_string())),
    };
    for inner in command.get_subcommands() {
        let path = format!("{path} {}", inner.get_name());
        if all_options(inner).any(is_it) {
            homes.push(format!("`{path}`"));
        }
        find_homes(inner, option, &path, homes);
    }
}
