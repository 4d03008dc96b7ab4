//! The command `icecore`: inspects and converts data frozen by Perl, PHP and Ruby. The engine does all the work.

// `///` on an option is its help: a text for terminals.
#![allow(rustdoc::bare_urls, rustdoc::broken_intra_doc_links)]

mod allocator;
mod arguments;
mod class_map;
mod cli;
mod commands;
mod csv_style;
#[cfg(feature = "store")]
mod database;
mod document_reader;
mod file_bytes;
mod file_id;
mod foreign_input;
mod hints;
mod json;
#[cfg(feature = "store")]
mod key_args;
mod limits;
mod mistakes;
mod output_writer;
mod pager;
mod paint;
mod progress;
mod records;
mod report;
mod report_message;
mod screen;
mod secrets;
mod shell_words;
mod short_help;
mod signals;
mod source;
mod stream;
mod target;
mod terminal;
mod tty;

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, FromArgMatches, ValueEnum};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The format `toy` is a part of all builds for tests. Only its own test enables it.
    #[cfg(feature = "toy")]
    if std::env::var_os("ICECORE_TOY").is_some() {
        icecore::format::show_toy();
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    let mut command = build_command(&words);
    if words.len() == 1 && std::io::stdin().is_terminal() {
        // Without arguments and input, print the short help.
        command.build();
        let paint = paint::Paint::new(paint::ColorMode::Auto, &std::io::stdout());
        let _ = std::io::stdout().write_all(short_help::render_short_help(&mut command, "icecore", paint).as_bytes());
        return ExitCode::SUCCESS;
    }
    let words = insert_command(words, &command);
    let cli = parse_arguments(command, &words).unwrap_or_else(|error| exit_with_usage_error(&error, &words));
    let global = &cli.global;
    let paint = paint::Paint::new(global.color, &std::io::stderr());
    screen::enable_paging(global.paging, cli.command.is_for_reading());
    if !global.quiet && cli.command.processes_inputs() {
        progress::start_display();
    }
    let mut report = report::Report::new(paint, global.quiet, global.report);
    let result = cli::run(&cli, &mut report);
    let code = report.finish(result);
    screen::finish_output();
    progress::remove_line();
    code
}

/// Returns the table of all arguments. A `--color` among `words` also applies to the texts that the parser prints.
fn build_command(words: &[OsString]) -> clap::Command {
    cli::Cli::command().color(match find_option_value::<paint::ColorMode>("--color", words) {
        Some(paint::ColorMode::Always) => ColorChoice::Always,
        Some(paint::ColorMode::Never) => ColorChoice::Never,
        _ if paint::is_disabled_by_env() => ColorChoice::Never,
        _ => ColorChoice::Auto,
    })
}

/// Returns the last value of an option, ignoring all other words. Works before the command line is parsed.
fn find_option_value<T: ValueEnum>(flag: &str, words: &[OsString]) -> Option<T> {
    let words = || words.iter().map(|word| word.to_string_lossy());
    let value_of = |(word, next): (Cow<'_, str>, Cow<'_, str>)| match word.strip_prefix(flag)? {
        "" => Some(next.into_owned()),
        rest => rest.strip_prefix('=').map(str::to_owned),
    };
    let pairs = words().zip(words().skip(1).chain([Cow::Borrowed("")]));
    pairs.filter_map(value_of).last().and_then(|value| T::from_str(&value, false).ok())
}

fn parse_arguments(mut command: clap::Command, words: &[OsString]) -> Result<cli::Cli, clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    let mut cli = cli::Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    cli.global.set_limits();
    #[cfg(feature = "store")]
    if let cli::Command::Rows(rows) = &mut cli.command {
        rows.adopt_database_file();
    }
    Ok(cli)
}

/// Reports a mistake on the command line, or prints the requested help. Words of the command line are escaped like
/// names in messages: a file may be named like an option.
fn exit_with_usage_error(error: &clap::Error, words: &[OsString]) -> ! {
    let printable_words = words.iter().map(|word| icecore::text::printable(&word.to_string_lossy()).into_owned());
    let printable_words: Vec<OsString> = printable_words.map(OsString::from).collect();
    match parse_arguments(build_command(&printable_words), &printable_words) {
        Err(error) if error.use_stderr() => {
            let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let mut command = build_command(&printable_words);
            // This adds the options that all commands have.
            command.build();
            mistakes::explain(error, &command, &words).exit()
        }
        _ if error.kind() == ErrorKind::InvalidUtf8 => exit_with_mistake(&invalid_utf8_text(words), words),
        _ => exit_with_help(error, words),
    }
}

/// Returns the message for an argument that must be UTF-8 and is not.
fn invalid_utf8_text(words: &[OsString]) -> String {
    let is_culprit = |index: &usize| {
        // All other words are replaced by text, so that only this one can be wrong.
        let with_text = |(other, word): (usize, &OsString)| match other == *index {
            true => word.clone(),
            false => icecore::text::printable(&word.to_string_lossy()).into_owned().into(),
        };
        let words: Vec<OsString> = words.iter().enumerate().map(with_text).collect();
        words[*index].to_str().is_none()
            && parse_arguments(build_command(&words), &words).is_err_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    let argument = (1..words.len()).find(is_culprit).and_then(|index| words.get(index));
    let argument = argument.map_or_else(String::new, |word| format!(" `{}`", escape_bytes(word.as_encoded_bytes())));
    format!("the argument{argument} is not UTF-8: only names of files may have other bytes")
}

/// Returns bytes as text, where those that are not UTF-8 are written `\xe9`.
fn escape_bytes(bytes: &[u8]) -> String {
    let escape_chunk = |chunk: std::str::Utf8Chunk<'_>| {
        let invalid: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("{}{invalid}", icecore::text::printable(chunk.valid()))
    };
    bytes.utf8_chunks().map(escape_chunk).collect()
}

/// Prints a help text, which is paged like other text for reading.
fn exit_with_help(error: &clap::Error, words: &[OsString]) -> ! {
    let paint =
        paint::Paint::new(find_option_value("--color", words).unwrap_or(paint::ColorMode::Auto), &std::io::stdout());
    let is_short = error.kind() != ErrorKind::DisplayVersion && !words.iter().any(|word| word == "--help");
    let text = match is_short {
        true => short_help_for(words, paint),
        false if paint.is_enabled() => error.render().ansi().to_string(),
        false => error.render().to_string(),
    };
    let is_for_reading = true;
    screen::enable_paging(find_option_value("--paging", words).unwrap_or_default(), is_for_reading);
    // A reader that closes the output early has read enough.
    let _ = screen::open_stdout().write_all(text.as_bytes());
    screen::finish_output();
    std::process::exit(error.exit_code())
}

/// Returns the help of `-h` for the command that these words name.
fn short_help_for(words: &[OsString], paint: paint::Paint) -> String {
    let mut top = build_command(words);
    top.build();
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let commands = mistakes::named_commands(&top, &words);
    let name: Vec<&str> = commands.iter().map(|command| command.get_name()).collect();
    let command = commands.last().map_or_else(|| top.clone(), |command| (*command).clone());
    short_help::render_short_help(&mut { command }, &name.join(" "), paint)
}

/// Inserts `inspect` if no command is given, and replaces `help` by `--help`. A first word that is neither a command nor
/// a file is an error, which names the command that was probably meant.
fn insert_command(mut words: Vec<OsString>, command: &clap::Command) -> Vec<OsString> {
    let mut index = 1;
    while let Some(word) = words.get(index) {
        let word = word.to_string_lossy();
        match &*word {
            "-h" | "--help" | "-V" | "--version" => return words,
            "-q" | "--quiet" => index += 1,
            "--limit" | "--color" | "--paging" | "--report" => index += 2,
            word if ["--limit=", "--color=", "--paging=", "--report="].iter().any(|flag| word.starts_with(flag)) => {
                index += 1
            }
            word if command.find_subcommand(word).is_some() => return words,
            "help" if !Path::new("help").exists() => {
                words.remove(index);
                words.push("--help".into());
                return words;
            }
            // A name that is not UTF-8 is one of a file.
            _ if words.get(index).is_some_and(|word| word.to_str().is_none() && Path::new(word).exists()) => break,
            word => {
                let all_words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
                let text = match word.starts_with('-') && word != "-" {
                    true => mistakes::suggest_command_first(&all_words, command),
                    false => mistakes::explain_word(word, command),
                };
                if let Some(text) = text {
                    exit_with_mistake(&text, &words);
                }
                break;
            }
        }
    }
    words.insert(1, "inspect".into());
    words
}

/// Reports a mistake in the order of the words, and ends the command.
fn exit_with_mistake(text: &str, words: &[OsString]) -> ! {
    let paint =
        paint::Paint::new(find_option_value("--color", words).unwrap_or(paint::ColorMode::Auto), &std::io::stderr());
    let quiet = false;
    let report = report::Report::new(paint, quiet, find_option_value("--report", words).unwrap_or_default());
    let _ = report.finish(Err(report::usage_text_error(text)));
    std::process::exit(report::code::USAGE.into())
}
