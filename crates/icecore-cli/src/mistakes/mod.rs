//! Suggestions for mistakes on the command line. A suggestion is a similar spelling, or comes from a table of names
//! that other programs use. Otherwise the message lists what the command takes.

mod commands;
mod foreign;
mod formats;
mod paths;
mod values;

pub use commands::{explain_word, suggest_command_first};
pub use formats::{report_unused_options, stage, target_stage};
#[cfg(feature = "store")]
pub use paths::rooted_path;
pub use paths::{deeper_path_advice, filter_error, get_path_error, path_error};
pub use values::{refuse_compressed_output, refuse_framing_as_file};

use crate::short_help;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};

/// Former names of options, and their current names.
const RENAMED: [(&str, &str); 1] = [("most", "items")];
/// Maximum number of other commands that are listed because they have the option.
const MAX_LISTED_COMMANDS: usize = 3;

/// Adds a suggestion to an error of the command line.
pub fn explain(error: Error, top: &Command, words: &[String]) -> Error {
    let commands = named_commands(top, words);
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => values::explain(error, &commands),
        ErrorKind::InvalidSubcommand => commands::explain(error, &commands),
        ErrorKind::UnknownArgument => explain_option(error, &commands, words),
        ErrorKind::ArgumentConflict => explain_conflict(error, &commands),
        _ => error,
    }
}

/// Adds to the error for an unknown option the one that was probably meant, or the options that the command takes.
fn explain_option(mut error: Error, commands: &[&Command], words: &[String]) -> Error {
    let invalid_arg = context_text(&error, ContextKind::InvalidArg);
    let option = invalid_arg.split('=').next().unwrap_or_default();
    let advice = match option.starts_with('-') {
        true => Some(option_advice(option, commands, words)),
        false => foreign::word_advice(&table_key(commands)).map(str::to_owned),
    };
    let advice = joined_backup_suffix(option, words).or(advice);
    set_tip(&mut error, advice);
    // The parser's own usage text lists a similar option as if it were required, so it is replaced.
    if let Some(command) = commands.last() {
        let usage = (*command).clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    error
}

/// Adds advice to the error for two arguments that exclude each other.
fn explain_conflict(mut error: Error, commands: &[&Command]) -> Error {
    if table_key(commands) == "rows" && context_text(&error, ContextKind::InvalidArg) == "--all-tables" {
        let tip = "--all-tables is for --db: a dump is read with all its tables, unless --table names some";
        set_tip(&mut error, Some(tip.to_owned()));
    }
    error
}

/// Returns the advice about an unknown option. The last command is the innermost one.
fn option_advice(option: &str, commands: &[&Command], words: &[String]) -> String {
    let Some((command, top)) = commands.last().zip(commands.first()) else { return String::new() };
    let written_with_one_dash = || suggest_option(&with_two_dashes(option, words)?, command, &table_key(commands));
    if let Some(text) = suggest_option(option, command, &table_key(commands)).or_else(written_with_one_dash) {
        return text;
    }
    let mut commands_with_option = Vec::new();
    find_commands_with_option(top, option, top.get_name(), &mut commands_with_option);
    match commands_with_option.is_empty() || commands_with_option.len() > MAX_LISTED_COMMANDS {
        true => list_options(command, commands),
        false => format!("{option} is an option of {}", join_names(&commands_with_option)),
    }
}

/// Returns what an unknown option probably means: a former name, one of another program, or a similar spelling.
fn suggest_option(option: &str, command: &Command, key: &str) -> Option<String> {
    if let Some(text) = foreign::option_advice(key, option) {
        return Some(text.to_owned());
    }
    let find_option = |name: &str| all_options(command).find(|option| option.get_long() == Some(name));
    let long = option.strip_prefix("--");
    let current_name = RENAMED.iter().find(|(old, _)| long == Some(old)).map(|(_, new)| *new);
    let similar = || {
        let names: Vec<&str> = all_options(command).filter_map(Arg::get_long).collect();
        icecore::text::nearest(long?, names.into_iter())
    };
    let suggestion = current_name.and_then(find_option).or_else(|| foreign::synonyms(option).find_map(find_option));
    let suggestion = suggestion.or_else(|| similar().and_then(find_option))?;
    Some(format!("did you mean `{}`?", short_help::option_with_values(suggestion)))
}

/// Returns the long option that was written with one dash, such as `--json` for `-json`. The parser reports only one
/// of its letters, `option`.
fn with_two_dashes(option: &str, words: &[String]) -> Option<String> {
    let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1)?;
    let is_single_dashed = |word: &&String| {
        word.len() > 2
            && word.starts_with('-')
            && !word.starts_with("--")
            && word.get(1..).is_some_and(|rest| rest.contains(letter))
    };
    let word = words.iter().find(is_single_dashed)?;
    Some(format!("-{}", word.split('=').next()?))
}

/// Returns the advice for a suffix that is joined with `-i`, as `sed -i.bak` takes it.
fn joined_backup_suffix(option: &str, words: &[String]) -> Option<String> {
    let word = words.iter().find(|word| word.starts_with("-i.") && option == "-.")?;
    Some(format!("the suffix of backups is an option of its own: `-i --backup {}`", word.get(2..)?))
}

/// Joins names: `a`, `a and b`, `a, b and c`.
fn join_names(names: &[String]) -> String {
    match names {
        [leading @ .., last] if !leading.is_empty() => format!("{} and {last}", leading.join(", ")),
        _ => names.concat(),
    }
}

/// Returns a sentence with the most used options of a command.
fn list_options(command: &Command, commands: &[&Command]) -> String {
    let name: Vec<&str> = commands.iter().map(|command| command.get_name()).collect();
    let name = name.join(" ");
    let explained_names = short_help::explained_options(&name);
    let is_explained = |option: &&Arg| match explained_names {
        Some(names) => option.get_long().is_some_and(|name| names.split(' ').any(|known| known == name)),
        None => !option.is_global_set() && option.get_long() != Some("help"),
    };
    let mut options: Vec<&str> = all_options(command).filter(is_explained).filter_map(Arg::get_long).collect();
    if let Some(names) = explained_names {
        options.sort_by_key(|name| names.split(' ').position(|known| known == *name));
    }
    let options: Vec<String> = options.iter().map(|name| format!("--{name}")).collect();
    match options.is_empty() {
        true => format!("`{name} -h` shows what it takes"),
        false => format!("`{name}` takes {}; `{name} -h` shows all", options.join(", ")),
    }
}

/// Replaces the suggestions of an error by this one, or removes them.
fn set_tip(error: &mut Error, tip: Option<String>) {
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

/// Returns the text of this kind from the context of an error, or an empty one.
fn context_text(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Returns the name of the innermost command in the tables: `rows`, `queue-push`.
fn table_key(commands: &[&Command]) -> String {
    commands.iter().skip(1).map(|command| command.get_name()).collect::<Vec<_>>().join("-")
}

/// Returns the command and the subcommands that the words name, from the outermost to the innermost.
pub fn named_commands<'c>(command: &'c Command, words: &[String]) -> Vec<&'c Command> {
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

/// Collects the commands below `command` that have this option.
fn find_commands_with_option(command: &Command, option: &str, path: &str, found_commands: &mut Vec<String>) {
    let has_this_name = |known: &Arg| match option.strip_prefix("--") {
        Some(name) => known.get_long() == Some(name),
        None => known
            .get_short()
            .is_some_and(|short| option.strip_prefix('-').is_some_and(|name| name == short.to_string())),
    };
    for subcommand in command.get_subcommands() {
        let path = format!("{path} {}", subcommand.get_name());
        if all_options(subcommand).any(has_this_name) {
            found_commands.push(format!("`{path}`"));
        }
        find_commands_with_option(subcommand, option, &path, found_commands);
    }
}
