//! The command line: the one table from which help, completions and man pages are generated.

use crate::arguments::Global;
use crate::commands;
#[cfg(feature = "bench")]
use crate::commands::bench::Bench;
use crate::commands::edit::Edit;
use crate::commands::formats::Formats;
use crate::commands::manual::{Completions, Man};
use crate::commands::replace::Replace;
#[cfg(feature = "serve")]
use crate::commands::serve::Serve;
use crate::commands::{
    classes::Classes, convert::Convert, detect::Detect, diff::Diff, get::Get, inspect::Inspect, patch::Patch,
    paths::Paths, query::Query, rows::Rows,
};
#[cfg(feature = "store")]
use crate::commands::{queue::Queue, store::Store, work::Work};
use crate::report::{Abort, Report, code};
use clap::{CommandFactory, Parser, Subcommand};

/// Inspects and converts data frozen by Perl, PHP and Ruby, without running any of it.
#[derive(Debug, Parser)]
#[command(
    name = "icecore",
    version,
    override_usage = "icecore [inspect] [FILE]...\n       icecore COMMAND [ARGUMENTS]",
    after_help = "A FILE of `-`, or none, is the standard input. `icecore FILE` is `icecore inspect FILE`. `icecore help COMMAND` says more.",
    after_long_help = EXAMPLES,
    subcommand_required = true,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Inspect(Inspect),
    Detect(Detect),
    Classes(Classes),
    Convert(Convert),
    Query(Box<Query>),
    Get(Get),
    Paths(Paths),
    Rows(Box<Rows>),
    Replace(Box<Replace>),
    Edit(Box<Edit>),
    Diff(Diff),
    Patch(Patch),
    #[cfg(feature = "store")]
    Store(Store),
    #[cfg(feature = "store")]
    Queue(Queue),
    #[cfg(feature = "serve")]
    Serve(Box<Serve>),
    #[cfg(feature = "store")]
    Work(Work),
    #[cfg(feature = "bench")]
    Bench(Box<Bench>),
    Formats(Formats),
    Completions(Completions),
    Man(Man),
}

impl Command {
    /// Returns true if the command prints text for reading rather than data.
    pub fn is_for_reading(&self) -> bool {
        match self {
            Command::Inspect(_)
            | Command::Detect(_)
            | Command::Classes(_)
            | Command::Query(_)
            | Command::Get(_)
            | Command::Paths(_)
            | Command::Formats(_) => true,
            #[cfg(feature = "bench")]
            Command::Bench(_) => true,
            Command::Replace(replace) => replace.dry_run,
            Command::Edit(edit) => edit.changes.dry_run,
            Command::Patch(patch) => patch.changes.dry_run,
            // Git starts a pager itself.
            Command::Diff(diff) => !diff.git,
            #[cfg(feature = "store")]
            Command::Store(store) => store.action.is_for_reading(),
            #[cfg(feature = "store")]
            Command::Queue(queue) => queue.action.is_for_reading(),
            _ => false,
        }
    }

    /// Returns true if the command processes inputs and ends when it is done.
    pub fn processes_inputs(&self) -> bool {
        match self {
            Command::Formats(_) | Command::Completions(_) | Command::Man(_) => false,
            #[cfg(feature = "serve")]
            Command::Serve(_) => false,
            #[cfg(feature = "store")]
            Command::Work(_) => false,
            _ => true,
        }
    }
}

/// Runs the selected command.
pub fn run(cli: &Cli, report: &mut Report) -> Result<(), Abort> {
    let global = &cli.global;
    check_limits(global, &cli.command)?;
    match &cli.command {
        Command::Inspect(args) => commands::inspect::run(args, global, report),
        Command::Detect(args) => commands::detect::run(args, global, report),
        Command::Classes(args) => commands::classes::run(args, global, report),
        Command::Convert(args) => commands::convert::run(args, global, report),
        Command::Query(args) => commands::query::run(args, global, report),
        Command::Get(args) => commands::get::run(args, global, report),
        Command::Paths(args) => commands::paths::run(args, global, report),
        Command::Rows(args) => commands::rows::run(args, global, report),
        Command::Replace(args) => commands::replace::run(args, global, report),
        Command::Edit(args) => commands::edit::run(args, global, report),
        Command::Diff(args) => commands::diff::run(args, global, report),
        Command::Patch(args) => commands::patch::run(args, global, report),
        #[cfg(feature = "store")]
        Command::Store(args) => commands::store::run(args, global, report),
        #[cfg(feature = "store")]
        Command::Queue(args) => commands::queue::run(args, global, report),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(args, global),
        #[cfg(feature = "store")]
        Command::Work(args) => commands::work::run(args, report),
        #[cfg(feature = "bench")]
        Command::Bench(args) => commands::bench::run(args, global, report),
        Command::Formats(args) => commands::formats::run(args, global),
        Command::Completions(args) => commands::manual::print_completions(args, Cli::command()),
        Command::Man(args) => commands::manual::print_man_pages(args, Cli::command(), report),
    }
}

/// Refuses limits of filters for commands that run no filter.
fn check_limits(global: &Global, command: &Command) -> Result<(), Abort> {
    if (global.limits.steps.is_some() || global.limits.memory.is_some()) && !matches!(command, Command::Query(_)) {
        let text = "`--limit steps=N` and `--limit memory=N` are for the filters of `icecore query`".to_owned();
        return Err(Abort::Failed(code::USAGE, text));
    }
    Ok(())
}

const EXAMPLES: &str = "\
A FILE of `-`, or none, is the standard input. `icecore FILE` is `icecore inspect FILE`.

Examples:
  icecore session.storable                      what is in it
  icecore detect /var/lib/app                   what all these files are
  icecore classes --as perl cache.srl           the classes that must be allowed
  icecore convert orders.storable               JSON to the standard output
  icecore get '$.cart[0].sku' session.storable  one value of it
  icecore convert -t sereal:compress=zstd a.storable -o a.srl

Exit codes:
  0  fine
  1  a loss under --strict, or a finding: a path that an input lacks, an edit that does not fit,
     a class that no allow-list can name, a difference (diff), a file that a difference does not
     fit (patch), something that became worse (bench --fail-on)
  2  wrong usage, or a file that can't be read or written
  4  some input can't be decoded
  5  anything else

Recipes for each command, with what they print: docs/cookbook/README.md of the source.";
