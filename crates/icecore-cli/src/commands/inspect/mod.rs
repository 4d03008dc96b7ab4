//! `icecore inspect`

mod deep;
mod describe;
mod json;
mod text;
mod tree;

use crate::cli::{Global, Inspect};
use crate::paint::Paint;
use crate::reading::{self, Detail, Reader};
use crate::report::{Abort, Report, code};
use crate::sink::Sink;
use crate::source::Source;
use deep::{Look, Spent};
use icecore::{Error, Outcome, Stage};
use tree::{Show, Tree};

pub fn run(args: &Inspect, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let reader = Reader::new(&args.from, &global.limit)?;
    let sources = Source::all(&args.files, report);
    let mut sink = Sink::stdout();
    for source in &sources {
        report.input();
        inspect(source, &reader, args, global, report, &mut sink)?;
        sink.flush()?;
    }
    Ok(())
}

fn inspect(
    source: &Source,
    reader: &Reader<'_>,
    args: &Inspect,
    global: &Global,
    report: &mut Report,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let name = source.name();
    let bytes = match source.read() {
        Ok(bytes) => bytes,
        Err(error) => {
            report.io(&name, &error);
            return Ok(());
        }
    };
    let paint = Paint::new(global.color, &std::io::stdout());
    let Some(opened) = reader.open(&name, &bytes, report) else { return Ok(()) };
    if sink.position() > 0 && !args.json {
        sink.text("\n")?;
    }
    let bytes = &*opened.bytes;
    let spent = Spent::nothing(opened.limits(), bytes.len());
    sink.reports_on(&global.limit, bytes.len());
    reader.documents(&name, &opened, Detail::Yes, report, |stage, outcome, start, _| {
        let end = start + outcome.consumed.min(bytes.len() - start);
        // A part of a document has no end of its own.
        let end = if outcome.error.is_some() { bytes.len() } else { end };
        let piece =
            Piece { name: &name, stage, notes: &opened.notes, bytes: &bytes[start..end], start, is_apart: false };
        let depth = args.depth.unwrap_or(u32::MAX);
        let look = Look { opens: args.deep, spent: &spent, level: 0, base: 0, depth };
        if args.json {
            json::document(&piece, &outcome, args, look, sink)?;
        } else {
            text::document(&piece, &outcome, args, look, paint, sink)?;
        }
        // What is wrong behind it is said after it.
        sink.flush()?;
        Ok(outcome.document.into_tape())
    })?;
    Ok(())
}

/// The part of an input that is one document.
struct Piece<'p> {
    name: &'p str,
    stage: &'p Stage,
    /// What its wrappers said, by name.
    notes: &'p [(&'static str, String)],
    bytes: &'p [u8],
    /// Where it starts in the input.
    start: usize,
    /// It does not stand in the input as it is: offsets are its own.
    is_apart: bool,
}

/// What is to be shown of a document.
fn show<'d>(name: &str, outcome: &'d Outcome<'_>, args: &Inspect, fold: bool) -> Result<Tree<'d>, Abort> {
    let absent = |error: Error| match error.path() {
        // The path is one, but this document does not have it.
        Some(_) => {
            let (expected, found) = (error.expected().unwrap_or_default(), error.found().unwrap_or_default());
            Abort::Failed(code::FINDING, format!("{name}: expected {expected}, found {found}"))
        }
        None => reading::usage(error),
    };
    let top = match &args.path {
        Some(path) => Some(outcome.document.find(path).map_err(absent)?.index()),
        None => None,
    };
    Ok(Tree::new(&outcome.document, Show { top, depth: args.depth.unwrap_or(u32::MAX), all: args.all, fold }))
}

/// What is to be shown of a document that stood in a string.
fn show_inside<'d>(outcome: &'d Outcome<'_>, args: &Inspect, look: Look<'_>, fold: bool) -> Tree<'d> {
    Tree::new(&outcome.document, Show { top: None, depth: look.depth, all: args.all, fold })
}

/// What the format says of its own variant.
fn variant(piece: &Piece<'_>) -> String {
    (piece.stage.format().detect)(piece.bytes).map_or(String::new(), |guess| guess.variant)
}
