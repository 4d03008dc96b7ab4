//! Mistyped commands, and names that other programs use for them.

use super::{context_text, set_tip, table_key};
use crate::shell_words::quote_for_shell;
use clap::Command;
use clap::error::{ContextKind, Error};
use std::path::Path;

/// Names that other programs use for commands: the command that contains them (`""` for `icecore` itself), the names,
/// and what to type here.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    ("", "show view cat print dump tree hexdump less head", "inspect"),
    ("", "info type identify file what mime", "detect"),
    (
        "",
        "decode encode to from transform transcode serialize unserialize deserialize thaw freeze export json",
        "convert",
    ),
    ("", "jq filter select", "query"),
    ("", "keys ls list", "paths"),
    ("", "sed sub gsub search-replace sr", "replace"),
    ("", "set update modify delete remove unset add", "edit"),
    ("", "compare cmp", "diff"),
    ("", "apply merge", "patch"),
    ("", "tables table columns sql csv import row db", "rows"),
    ("", "put save", "store put"),
    ("", "push enqueue", "queue push"),
    ("", "jobs job", "queue list"),
    ("", "server daemon http web", "serve"),
    ("", "worker run consume", "work"),
    ("", "benchmark measure compare-speed", "bench"),
    ("", "completion complete", "completions"),
    ("", "manual manpage", "man"),
    ("", "version", "--version"),
    ("", "undo revert", "replace --undo FILE"),
    ("", "repair fix mend", "replace --mend FILE"),
    ("queue", "add put enqueue send create new", "push"),
    ("queue", "ls jobs show get peek", "list"),
    ("queue", "failed failures errors", "dead"),
    ("queue", "status count size info queues", "stats"),
    ("queue", "retry requeue restart", "redrive"),
    ("queue", "again repeat", "replay"),
    ("queue", "stop hold", "pause"),
    ("queue", "unpause start continue", "resume"),
    ("queue", "config configure limit", "set"),
    ("queue", "purge clear flush delete remove rm clean prune", "forget"),
    ("queue", "cron every", "schedule"),
    ("queue", "crons timers", "schedules"),
    ("store", "add set insert import save push create", "put"),
    ("store", "show cat read fetch", "get"),
    ("store", "list ls all export dump", "each"),
    ("store", "search query select where", "find"),
    ("store", "delete del remove drop", "rm"),
    ("store", "expired purge prune clean", "expire"),
    ("store", "info size count status", "stats"),
    ("store", "move clone migrate backup", "copy"),
];

/// Words that are not names of commands, and how to do what they mean.
const COMMAND_ADVICE: &[(&str, &str)] = &[
    (
        "validate check verify lint test valid",
        "`icecore convert FILE >/dev/null` reads all of it: the exit code is 4 if it can't be decoded",
    ),
    (
        "format pretty fmt prettify beautify pp",
        "`icecore convert -t json:indent=2 FILE` prints JSON on several lines; `icecore formats` lists the formats",
    ),
    ("count length len wc", "`icecore query length FILE` counts the items"),
    (
        "grep search find",
        "`icecore paths FILE | grep WORD` prints the paths of values; `icecore query '.. | strings | select(test(\"WORD\"))' \
         FILE` only the strings",
    ),
];

/// Names that people try among the commands of `queue`, and the command elsewhere that they mean.
const OUTSIDE_QUEUE: &[(&str, &str)] = &[(
    "pop take claim consume work worker run process",
    "`icecore work --queue QUEUE --exec COMMAND` runs a command for each job",
)];

/// Returns the subcommand that a word probably means: `convert`, or `queue push`. `key` is the name of `command` in
/// the tables.
fn suggest_command(command: &Command, key: &str, word: &str) -> Option<String> {
    let synonym =
        OTHER_NAMES.iter().find(|(parent, names, _)| *parent == key && names.split(' ').any(|name| name == word));
    let similar = || {
        let names: Vec<&str> = subcommand_names(command).collect();
        icecore::text::nearest(word, names.into_iter())
    };
    synonym.map(|(_, _, name)| *name).or_else(similar).map(str::to_owned)
}

/// Returns how to do what a word means that is not the name of a command. `key` is the name of the command before it.
fn command_advice(key: &str, word: &str) -> Option<&'static str> {
    let advice = COMMAND_ADVICE.iter().find(|(words, _)| key.is_empty() && words.split(' ').any(|known| known == word));
    advice.map(|(_, text)| *text)
}

/// Returns the names of the visible commands of a command.
fn subcommand_names(command: &Command) -> impl Iterator<Item = &str> {
    command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).map(Command::get_name)
}

/// Adds to the error for an unknown command the one that was probably meant, or the names of all commands.
pub fn explain(mut error: Error, commands: &[&Command]) -> Error {
    let word = context_text(&error, ContextKind::InvalidSubcommand);
    let Some(command) = commands.last() else { return error };
    let name: Vec<&str> = commands.iter().map(|command| command.get_name()).collect();
    let name = name.join(" ");
    let outside_queue = OUTSIDE_QUEUE
        .iter()
        .find(|(names, _)| table_key(commands) == "queue" && names.split(' ').any(|name| name == word));
    let advice = command_advice(&table_key(commands), &word);
    let tip = match (outside_queue, suggest_command(command, &table_key(commands), &word)) {
        (Some((_, text)), _) => (*text).to_owned(),
        _ if advice.is_some() => advice.unwrap_or_default().to_owned(),
        (None, Some(suggestion)) => format!("did you mean `{name} {suggestion}`?"),
        (None, None) => {
            let names: Vec<&str> = subcommand_names(command).collect();
            format!("the commands are {}", names.join(", "))
        }
    };
    set_tip(&mut error, Some(tip));
    error
}

/// Maximum length of a word that may be a mistyped command.
const MAX_COMMAND_LEN: usize = 30;

/// Returns the message for a first word that is not a command, if it can't be a file either.
pub fn explain_word(word: &str, top: &Command) -> Option<String> {
    if word == "-" || word.starts_with('-') || word.contains(['.', '/', '\\']) || Path::new(word).exists() {
        return None;
    }
    let printable_word = icecore::text::shortened(&icecore::text::printable(word), 60).into_owned();
    if word.len() > MAX_COMMAND_LEN || word.contains([':', '{', '%', '=']) {
        return Some(format!("there is no file `{printable_word}`; if this is data: printf %s 'DATA' | icecore"));
    }
    if let Some(advice) = command_advice("", word) {
        return Some(format!("there is no command or file `{printable_word}`; {advice}"));
    }
    Some(match suggest_command(top, "", word) {
        Some(suggestion) => {
            format!("there is no command or file `{printable_word}`; did you mean `icecore {suggestion}`?")
        }
        None => format!("there is no command or file `{printable_word}`; `icecore -h` lists the commands"),
    })
}

/// Returns the message for an option of a command before the name of the command: `--db URL store stats`.
pub fn suggest_command_first(words: &[String], top: &Command) -> Option<String> {
    let inspect = top.find_subcommand("inspect")?;
    let takes_value = |word: &String| {
        inspect.get_arguments().any(|option| {
            option.get_action().takes_values()
                && option.get_long().is_some_and(|name| word.strip_prefix("--") == Some(name))
        })
    };
    let is_value = |index: usize| index.checked_sub(1).and_then(|before| words.get(before)).is_some_and(takes_value);
    let is_command = |index: usize, word: &String| {
        top.find_subcommand(word).is_some() && !is_value(index) && !Path::new(word).exists()
    };
    let command_index = words.iter().enumerate().position(|(index, word)| index > 0 && is_command(index, word))?;
    let (before, after) = (words.get(1..command_index)?, words.get(command_index..)?);
    let quoted_words: Vec<String> = after.iter().chain(before).map(|word| quote_for_shell(word)).collect();
    Some(format!("the command comes first: icecore {}", quoted_words.join(" ")))
}
