//! Completions and man pages, from the definitions of the command line.

use crate::report::{Abort, Report, code, io_reason, usage_of};
use crate::sink::Sink;
use crate::target::{Outputs, Target};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

/// Print the completions for a shell: bash, zsh, fish, elvish or powershell
#[derive(Debug, Args)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}

/// Print the man page of icecore, or of a command
#[derive(Debug, Args)]
pub struct Man {
    pub command: Option<String>,
    /// Write all pages to this folder instead
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Overwrite pages that exist
    #[arg(long, requires = "out_dir")]
    pub force: bool,
}

/// Runs `icecore completions SHELL`.
pub fn completions(args: &Completions, mut table: clap::Command) -> Result<(), Abort> {
    table = offer_formats(table);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut table, "icecore", &mut script);
    let mut sink = Sink::stdout();
    sink.text(&String::from_utf8_lossy(&script))?;
    sink.flush()
}

/// Changes options that take a format so that completions offer the names of formats.
fn offer_formats(table: clap::Command) -> clap::Command {
    use clap::builder::PossibleValuesParser;
    let names = || icecore::format::all().iter().map(|format| format.name);
    table.mut_subcommands(|command| {
        let is_rows = command.get_name() == "rows";
        let command = command.mut_args(|arg| match arg.get_long() {
            Some("to") if is_rows => arg.value_parser(PossibleValuesParser::new(super::rows::FORMS)),
            Some("from" | "from-b") => arg.value_parser(PossibleValuesParser::new(names())),
            Some("to") if arg.get_value_names().is_some_and(|names| names == ["FORMAT"]) => {
                arg.value_parser(PossibleValuesParser::new(names()))
            }
            _ => arg,
        });
        if command.has_subcommands() { offer_formats(command) } else { command }
    })
}

/// Runs `icecore man [COMMAND]`.
pub fn pages(args: &Man, mut top: clap::Command, report: &mut Report) -> Result<(), Abort> {
    // This makes the pages show the options that all commands share.
    top.build();
    if let Some(folder) = &args.out_dir {
        return all_pages(&top, folder, Outputs::new(&[], args.force), report);
    }
    let wanted = args.command.as_deref();
    let command = match wanted {
        None => Some(&top),
        Some(name) => top.get_subcommands().find(|command| command.get_name() == name),
    };
    let unknown = || {
        let names: Vec<&str> = top.get_subcommands().map(clap::Command::get_name).collect();
        let name = wanted.unwrap_or_default();
        let near = icecore::text::nearest(name, names.iter().copied());
        let meant = near.map_or_else(|| ". ".to_owned(), |near| format!("; did you mean `{near}`? "));
        usage_of(format!("there is no command `{name}`{meant}The commands are {}", names.join(", ")))
    };
    let mut sink = Sink::stdout();
    sink.text(&page(command.ok_or_else(unknown)?, wanted)?)?;
    sink.flush()
}

fn all_pages(top: &clap::Command, folder: &Path, mut outputs: Outputs, report: &mut Report) -> Result<(), Abort> {
    let failed = |error| Abort::Failed(code::USAGE, format!("{}: {}", folder.display(), io_reason(&error)));
    fs::create_dir_all(folder).map_err(failed)?;
    let commands = top.get_subcommands().filter(|command| !command.is_hide_set());
    for (command, name) in [(top, None)].into_iter().chain(commands.map(|command| (command, Some(command.get_name()))))
    {
        let path = folder.join(format!("{}.1", title(name)));
        let place = outputs.place(&path).and_then(|place| Target::text(place, &page(command, name)?));
        match place {
            Err(Abort::Failed(code, message)) => report.fault(code, "man", message),
            other => other?,
        }
    }
    Ok(())
}

fn title(name: Option<&str>) -> String {
    name.map_or_else(|| "icecore".to_owned(), |name| format!("icecore-{name}"))
}

fn page(command: &clap::Command, name: Option<&str>) -> Result<String, Abort> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone())
        .title(title(name))
        .source(concat!("icecore ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page).map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
