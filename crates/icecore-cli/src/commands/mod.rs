//! The commands.

pub mod bench;
pub mod classes;
pub mod convert;
#[cfg(feature = "store")]
pub mod database;
pub mod detect;
pub mod diff;
pub mod edit;
pub mod formats;
pub mod get;
pub mod inspect;
#[cfg(feature = "store")]
pub mod keyed;
pub mod manual;
pub mod patch;
pub mod paths;
pub mod query;
#[cfg(feature = "store")]
pub mod queue;
pub mod replace;
pub mod rows;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "store")]
pub mod store;
#[cfg(feature = "store")]
pub mod work;

use crate::cli::{Cli, Command};
use crate::report::{Abort, Report};

/// Runs the command that was named.
pub fn run(cli: &Cli, report: &mut Report) -> Result<(), Abort> {
    let global = &cli.global;
    match &cli.command {
        Command::Inspect(args) => inspect::run(args, global, report),
        Command::Detect(args) => detect::run(args, global, report),
        Command::Classes(args) => classes::run(args, global, report),
        Command::Convert(args) => convert::run(args, global, report),
        Command::Query(args) => query::run(args, global, report),
        Command::Get(args) => get::run(args, global, report),
        Command::Paths(args) => paths::run(args, global, report),
        Command::Rows(args) => rows::run(args, global, report),
        Command::Replace(args) => replace::run(args, global, report),
        Command::Edit(args) => edit::run(args, global, report),
        Command::Diff(args) => diff::run(args, global, report),
        Command::Patch(args) => patch::run(args, global, report),
        #[cfg(feature = "store")]
        Command::Store(args) => store::run(args, global, report),
        #[cfg(feature = "store")]
        Command::Queue(args) => queue::run(args, global, report),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, global),
        #[cfg(feature = "store")]
        Command::Work(args) => work::run(args, report),
        Command::Bench(args) => bench::run(args, global, report),
        Command::Formats(args) => formats::run(args, global),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::pages(args, report),
    }
}
