//! The command `icecore`: looks into and converts the data that Perl, PHP and
//! Ruby freeze. All the work is the engine's.

mod class_map;
mod cli;
mod commands;
mod filter;
mod form;
mod json;
mod limits;
mod paint;
mod pool;
mod progress;
mod reading;
mod records;
mod report;
mod said;
mod signals;
mod sink;
mod source;
mod stream;
mod target;
mod terminal;
mod unpack;
mod whole;

use clap::error::ContextKind;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.len() == 1 && std::io::stdin().is_terminal() {
        // There is nothing to read: a short help is what helps.
        let _ = cli::Cli::command().print_help();
        return ExitCode::SUCCESS;
    }
    let words = with_command(words);
    let cli = cli::Cli::try_parse_from(&words).unwrap_or_else(|error| refuse(&error, &words));
    let paint = paint::Paint::new(cli.global.color, &std::io::stderr());
    let mut report = report::Report::new(paint, cli.global.quiet, cli.command.report());
    let end = cli.global.check(&cli.command).and_then(|()| commands::run(&cli, &mut report));
    report.finish(end)
}

/// Says what is wrong with the command line, or prints the help that it asks for. Words of
/// it are shown as messages show names: a file may be called like an option.
fn refuse(error: &clap::Error, words: &[OsString]) -> ! {
    let shown = words.iter().map(|word| icecore::text::printable(&word.to_string_lossy()).into_owned());
    match cli::Cli::try_parse_from(shown) {
        Err(shown) if error.use_stderr() => shown.exit(),
        _ => error.exit(),
    }
}

/// Puts `inspect` where no command was named, and `--help` where `help` was. A word that
/// is no file but nearly a command is an error that says which.
fn with_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut command = cli::Cli::command();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let word = word.to_string_lossy();
        match &*word {
            "-h" | "--help" | "-V" | "--version" => return words,
            "-q" | "--quiet" => at += 1,
            "--limit" | "--color" => at += 2,
            word if word.starts_with("--limit=") || word.starts_with("--color=") => at += 1,
            word if command.find_subcommand(word).is_some() => return words,
            "help" if !Path::new("help").exists() => {
                words.remove(at);
                words.push("--help".into());
                return words;
            }
            word => {
                let is_file = word == "-" || Path::new(word).exists();
                if let Err(error) = command.try_get_matches_from_mut(&words)
                    && error.get(ContextKind::SuggestedSubcommand).is_some()
                    && !is_file
                {
                    refuse(&error, &words);
                }
                break;
            }
        }
    }
    words.insert(1, "inspect".into());
    words
}
