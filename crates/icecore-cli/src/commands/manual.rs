//! Completions and man pages, from the definitions of the command line.

use crate::output_writer::OutputWriter;
use crate::report::{Abort, Report, code, io_reason, usage_text_error};
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
pub fn print_completions(args: &Completions, mut command: clap::Command) -> Result<(), Abort> {
    command = offer_formats(command);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "icecore", &mut script);
    let mut writer = OutputWriter::stdout();
    writer.write_text(&String::from_utf8_lossy(&script))?;
    writer.flush()
}

/// Makes completions offer the names of formats for options that take a format.
fn offer_formats(command: clap::Command) -> clap::Command {
    use clap::builder::PossibleValuesParser;
    let names = || icecore::format::all().iter().map(|format| format.name);
    command.mut_subcommands(|command| {
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
pub fn print_man_pages(args: &Man, mut top: clap::Command, report: &mut Report) -> Result<(), Abort> {
    // This makes the pages show the options that all commands share.
    top.build();
    if let Some(folder) = &args.out_dir {
        return write_all_pages(&top, folder, Outputs::new(&[], args.force), report);
    }
    let requested = args.command.as_deref();
    let command = match requested {
        None => Some(&top),
        Some(name) => top.get_subcommands().find(|command| command.get_name() == name),
    };
    let unknown_command_error = || {
        let names: Vec<&str> = top.get_subcommands().map(clap::Command::get_name).collect();
        let name = requested.unwrap_or_default();
        let similar = icecore::text::nearest(name, names.iter().copied());
        let suggestion = similar.map_or_else(|| ". ".to_owned(), |similar| format!("; did you mean `{similar}`? "));
        usage_text_error(format!("there is no command `{name}`{suggestion}The commands are {}", names.join(", ")))
    };
    let mut writer = OutputWriter::stdout();
    writer.write_text(&render_page(command.ok_or_else(unknown_command_error)?, requested)?)?;
    writer.flush()
}

fn write_all_pages(top: &clap::Command, folder: &Path, mut outputs: Outputs, report: &mut Report) -> Result<(), Abort> {
    let folder_error = |error| Abort::Failed(code::USAGE, format!("{}: {}", folder.display(), io_reason(&error)));
    fs::create_dir_all(folder).map_err(folder_error)?;
    let commands = top.get_subcommands().filter(|command| !command.is_hide_set());
    for (command, name) in [(top, None)].into_iter().chain(commands.map(|command| (command, Some(command.get_name()))))
    {
        let path = folder.join(format!("{}.1", page_title(name)));
        let result = outputs
            .destination_at(&path)
            .and_then(|destination| Target::write_text(destination, &render_page(command, name)?));
        match result {
            Err(Abort::Failed(code, message)) => report.report_fault(code, "man", message),
            result => result?,
        }
    }
    Ok(())
}

fn page_title(name: Option<&str>) -> String {
    name.map_or_else(|| "icecore".to_owned(), |name| format!("icecore-{name}"))
}

fn render_page(command: &clap::Command, name: Option<&str>) -> Result<String, Abort> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone())
        .title(page_title(name))
        .source(concat!("icecore ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page).map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
