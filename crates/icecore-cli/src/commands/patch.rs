//! `icecore patch`

use super::diff::{bytes, document};
use crate::arguments::{Global, InputFormat};
use crate::reading::{Detail, Opened, Reader};
use crate::report::{Abort, Report, code};
use crate::source::Source;
use crate::target::{Outputs, Target};
use crate::terminal;
use clap::{Args, ValueHint};
use icecore::ErrorKind;
use icecore_diff::Refusal;
use std::path::PathBuf;

/// Apply a difference that `icecore diff --json` wrote
///
/// Writes the file with the changes in its own format; parts that do not change keep their spelling. A file other than
/// the one from which the difference was made is refused: exit 1, with the place of the mismatch.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Patch {
    #[command(flatten)]
    pub from: InputFormat,
    /// File to change; `-` is the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// File with the difference; the standard input if not given
    #[arg(value_name = "DIFFERENCE", value_hint = ValueHint::FilePath)]
    pub difference: Option<PathBuf>,
    /// Write to this file; it appears when it is complete
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file, but never an input; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore patch before.storable change.json -o after.storable
  icecore diff --json a.php b.json | icecore patch a.php > c.php";

pub fn run(args: &Patch, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let (source, given) = (Source::one(Some(&args.file)), Source::one(args.difference.as_deref()));
    let is_stdin = |path: Option<&std::path::PathBuf>| path.is_none_or(|path| path.as_os_str() == "-");
    if is_stdin(Some(&args.file)) && is_stdin(args.difference.as_ref()) {
        let text = "only one of the file and the difference can be the standard input".to_owned();
        return Err(Abort::Failed(code::USAGE, text));
    }
    let reader = Reader::of(&args.from, None, &global.limit)?;
    let place = Outputs::new(&[source.clone(), given.clone()], args.force).output(args.output.as_ref())?;
    report.input();
    let (name, given_name) = (source.name(), given.name());
    let (Some(input), Some(json)) = (bytes(&source, report), bytes(&given, report)) else { return Ok(()) };
    let patch = match icecore_diff::Patch::read(&json, &global.limit) {
        Ok(patch) => patch,
        Err(error) => {
            report.unreadable(&given_name, &error, &json);
            return Ok(());
        }
    };
    let Some(opened) = reader.open(&name, &input, report) else { return Ok(()) };
    let Opened { stage, .. } = &opened;
    if args.output.is_none() && terminal::is_stdout() {
        terminal::refuse_binary(stage, args.force)?;
    }
    let format = stage.format().name;
    let Some(left) = document(&reader, &name, &opened, Detail::For(format), report)? else { return Ok(()) };
    let made = match patch.apply(&left) {
        Ok(made) => made,
        Err(Refusal::Broken(error)) => {
            report.unreadable(&given_name, &error, &[]);
            return Ok(());
        }
        Err(refusal) => {
            report.fault(code::FINDING, &name, refusal);
            return Ok(());
        }
    };
    let mut target = Target::new(place)?;
    if args.output.is_none() && !args.force {
        target.sink.tame();
    }
    if patch.is_empty() {
        // An empty patch keeps every byte.
        target.sink.bytes(&input)?;
        return target.keep();
    }
    match icecore::write_to(&made, stage, &global.limit, &mut target.sink) {
        Ok(losses) => report.losses(&name, &losses, false),
        Err(error) if error.kind() == ErrorKind::Output => return Err(target.sink.stop()),
        Err(error) => {
            report.unwritable(&name, &error);
            return Ok(());
        }
    }
    if !stage.is_binary() && !target.sink.at_line_start() && input.ends_with(b"\n") {
        target.sink.text("\n")?;
    }
    target.keep()
}
