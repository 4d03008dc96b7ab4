//! The help of `-h`: what a command does, examples, an explanation of its most used options, and the names of the
//! others. It fits on one screen.

use crate::paint::{Ink, Paint};
use clap::{Arg, Command};
use std::fmt::Write as _;

/// Maximum length of a line.
const WIDTH: usize = 80;
/// Number of lines of a screen.
const SCREEN_HEIGHT: usize = 24;
/// Maximum number of examples.
const MAX_EXAMPLES: usize = 3;

/// A blank at which no line is broken.
const NO_BREAK_SPACE: &str = "\u{a0}";

/// Heading of the options that all commands have.
pub const COMMON_HEADING: &str = "For all commands";

/// The options that are explained, by command. Commands that are not in this list explain all their own options.
const EXPLAINED_OPTIONS: [(&str, &str); 16] = [
    ("icecore inspect", "path depth items all deep json from"),
    ("icecore classes", "as deep json from"),
    ("icecore convert", "to output out-dir each deep strict partial from"),
    ("icecore query", "raw-output compact-output slurp each deep to output arg from"),
    ("icecore get", "raw paths to depth items deep from"),
    ("icecore paths", "depth items deep from"),
    ("icecore rows", "column in to output items table query db"),
    ("icecore replace", "replace url dry-run output in-place mend table db undo"),
    ("icecore edit", "set delete append rename-key rename-class editor dry-run output in-place"),
    ("icecore diff", "json exact output view depth items from"),
    ("icecore patch", "dry-run output in-place backup from"),
    ("icecore bench", "list data small only explain json html compare show"),
    ("icecore serve", "db listen token-file exec timeout keep-jobs"),
    ("icecore work", "queue exec concurrency timeout until-empty db"),
    ("icecore store put", "from key each db"),
    ("icecore queue push", "queue priority delay unique after chain db"),
];

/// Returns the short help of the command `name`, with as many examples as fit on a screen, but at least one.
pub fn render_short_help(command: &mut Command, name: &str, paint: Paint) -> String {
    // The list of commands alone fills a screen.
    if name == "icecore" {
        return render_with_examples(command, name, paint, MAX_EXAMPLES);
    }
    let texts = (2..=MAX_EXAMPLES).rev().map(|count| render_with_examples(command, name, paint, count));
    let fits = |text: &String| text.lines().count() <= SCREEN_HEIGHT;
    let mut candidates: Vec<String> = texts.collect();
    match candidates.iter().position(fits) {
        Some(index) => candidates.swap_remove(index),
        None => render_with_examples(command, name, paint, 1),
    }
}

/// Returns the names of the options that the short help of the command explains, separated by blanks.
pub fn explained_options(name: &str) -> Option<&'static str> {
    EXPLAINED_OPTIONS.iter().find(|(known, _)| *known == name).map(|(_, options)| *options)
}

/// Returns the short help with at most this many examples.
fn render_with_examples(command: &mut Command, name: &str, paint: Paint, examples: usize) -> String {
    let usage = command.render_usage().to_string();
    // Of several forms of usage, only the first is shown; an example or an option shows each of the others.
    let usage = usage.lines().next().filter(|_| !command.has_subcommands()).unwrap_or(&usage);
    let mut text = String::new();
    if let Some(about) = command.get_about() {
        let _ = writeln!(text, "{}\n", wrap_text(&about.to_string(), "").join("\n"));
    }
    let long_help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let lines: Vec<&str> = long_help
        .lines()
        .skip_while(|line| *line != "Examples:")
        .take_while(|line| !line.is_empty())
        .take(examples + 1)
        .collect();
    if !lines.is_empty() {
        text += &(lines.join("\n") + "\n\n");
    }
    text += usage;
    text += "\n";
    let commands = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let commands: Vec<_> =
        commands.map(|command| (command.get_name().to_owned(), first_line(command.get_about()))).collect();
    text += &format_table("Commands:", &commands, paint);
    let (explained_args, other_names) = split_options(command, name);
    let rows: Vec<_> =
        explained_args.into_iter().map(|option| (option_label(option), first_line(option.get_help()))).collect();
    text += &format_table("Options:", &rows, paint);
    let other_names: Vec<String> = other_names.into_iter().map(|name| format!("--{name}")).collect();
    let closing_sentence = match (other_names.is_empty(), name == "icecore") {
        (true, _) => format!("`{name} --help` says more."),
        (false, true) => format!("Options of all commands: {}. `{name} --help` says more.", other_names.join(", ")),
        (false, false) => format!("Other options: {}. `{name} --help` explains all.", other_names.join(", ")),
    };
    // No line break may be inside the quoted command.
    let help_command = format!("`{name} --help`");
    let lines = wrap_text(&closing_sentence.replace(&help_command, &help_command.replace(' ', NO_BREAK_SPACE)), "  ");
    text + &format_section(lines.into_iter().map(|line| line.replace(NO_BREAK_SPACE, " ")))
}

/// Returns the options that are explained, and the names of the others. Options of all commands are named by the help
/// of `icecore` alone.
fn split_options<'c>(command: &'c Command, name: &str) -> (Vec<&'c Arg>, Vec<&'c str>) {
    let explained_names: Option<Vec<&str>> = explained_options(name).map(|options| options.split(' ').collect());
    let is_common =
        |option: &Arg| option.get_help_heading() == Some(COMMON_HEADING) || option.get_long() == Some("help");
    let is_explained = |option: &&Arg| match &explained_names {
        Some(names) => option.get_long().is_some_and(|name| names.contains(&name)),
        None => !option.is_global_set() && !is_common(option),
    };
    let options = command.get_opts().chain(flag_options(command)).filter(|option| !option.is_hide_set());
    let (mut explained_args, other_args): (Vec<&Arg>, Vec<&Arg>) = options.partition(is_explained);
    if let Some(names) = &explained_names {
        explained_args.sort_by_key(|option| names.iter().position(|name| Some(*name) == option.get_long()));
    }
    let is_listed = |option: &&Arg| name == "icecore" || !is_common(option);
    (explained_args, other_args.into_iter().filter(is_listed).filter_map(Arg::get_long).collect())
}

/// Returns the options without a value.
fn flag_options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_positional() && !arg.get_action().takes_values())
}

/// Joins lines into a section after an empty line; empty if there are no lines.
fn format_section(lines: impl IntoIterator<Item = String>) -> String {
    let lines: Vec<String> = lines.into_iter().collect();
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}

/// Lays out names and their descriptions, one per line.
fn format_table(title: &str, rows: &[(String, String)], paint: Paint) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().map(|(name, help)| {
        let help = shorten_text(help, WIDTH.saturating_sub(width + 4));
        format!("  {}  {help}", paint.column(Ink::Name, name, width)).trim_end().to_owned()
    });
    format_section([title.to_owned()].into_iter().chain(lines))
}

/// Returns the first line of a help text.
fn first_line(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

/// Shortens a help text to `width`, if possible before a part of the sentence, else after a word.
fn shorten_text(help: &str, width: usize) -> String {
    /// What a part of a sentence begins with.
    const PART_STARTS: [&str; 6] = ["; ", ": ", ", if", ", where", ", which", " ("];
    /// A shorter text would say too little.
    const MIN_LEN: usize = 15;
    if help.chars().count() <= width {
        return help.to_owned();
    }
    let fits = |end: &usize| help.get(..*end).is_some_and(|head| head.chars().count() <= width);
    let ends = PART_STARTS.iter().flat_map(|mark| help.match_indices(mark)).map(|(start, _)| start);
    if let Some(end) = ends.filter(fits).filter(|end| *end > MIN_LEN).max() {
        return help.get(..end).unwrap_or_default().to_owned();
    }
    let last_word_end =
        help.match_indices(' ').map(|(start, _)| start).filter(|end| fits(&(end + 1))).max().unwrap_or_default();
    format!("{}…", help.get(..last_word_end).unwrap_or_default())
}

/// Returns an option with its short form: `-c, --column <NAME>`.
fn option_label(option: &Arg) -> String {
    let short = option.get_short().map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
    short + &option_with_values(option)
}

/// Returns an option with the names of its values: `--column <NAME>`.
pub fn option_with_values(option: &Arg) -> String {
    let long = option.get_long().unwrap_or_default();
    let names = option.get_value_names().filter(|_| option.get_action().takes_values()).unwrap_or_default();
    let values: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    match (values.is_empty(), option.is_require_equals_set()) {
        (true, _) => format!("--{long}"),
        (false, true) => format!("--{long}[={}]", values.join(" ")),
        (false, false) => format!("--{long} {}", values.join(" ")),
    }
}

/// Wraps a text into lines. All lines except the first begin with `indent`.
fn wrap_text(text: &str, indent: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let is_full =
            lines.last().is_some_and(|line| !line.is_empty() && line.chars().count() + word.chars().count() >= WIDTH);
        if is_full {
            lines.push(indent.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::ColorMode;
    use clap::CommandFactory;

    /// Collects a command and all commands in it, each with its full name.
    fn collect_help(command: &Command, name: &str, commands: &mut Vec<(String, Command)>) {
        commands.push((name.to_owned(), command.clone()));
        for subcommand in command.get_subcommands() {
            collect_help(subcommand, &format!("{name} {}", subcommand.get_name()), commands);
        }
    }

    #[test]
    fn each_help_fits_on_a_screen() {
        let mut top = crate::cli::Cli::command();
        top.build();
        let mut commands = Vec::new();
        collect_help(&top, "icecore", &mut commands);
        for (name, mut command) in commands {
            let text = render_short_help(&mut command, &name, Paint::new(ColorMode::Never, &std::io::stdout()));
            // The list of commands alone fills a screen.
            let max_lines = if name == "icecore" { command.get_subcommands().count() + 18 } else { SCREEN_HEIGHT };
            assert!(text.lines().count() <= max_lines, "{name}: {} lines\n{text}", text.lines().count());
            let cut = text.lines().filter(|line| line.ends_with('…'));
            assert_eq!(cut.collect::<Vec<_>>(), Vec::<&str>::new(), "{name}: a text is cut in a sentence");
            let usage = text.lines().filter(|line| line.chars().count() > WIDTH && !line.contains("icecore "));
            assert_eq!(usage.collect::<Vec<_>>(), Vec::<&str>::new(), "{name}");
            if let Some((_, options)) = EXPLAINED_OPTIONS.iter().find(|(known, _)| *known == name) {
                for option in options.split(' ') {
                    let exists = command.get_arguments().any(|arg| arg.get_long() == Some(option));
                    assert!(exists || cfg!(not(all(feature = "store", feature = "bench"))), "{name} --{option}");
                }
            }
        }
    }
}
