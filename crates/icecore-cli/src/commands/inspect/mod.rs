//! `icecore inspect`

mod args;
mod deep;
mod json;
mod parts;
mod path;
mod text;

pub use args::Inspect;

use crate::arguments::Global;
use crate::mistakes;
use crate::paint::Paint;
use crate::reading::{Detail, Reader};
use crate::report::{Abort, Report};
use crate::sink::Sink;
use crate::source::Source;
use crate::tty;
use deep::{Look, Spent};
use icecore::{Document, Limits, Stage, raw::Outcome};
use icecore_inspect::{Tree, TreeOptions};
use std::io::IsTerminal;

/// Number of items of a long list that are shown by default.
const ITEMS: u64 = 32;

pub fn run(args: &Inspect, global: &Global, report: &mut Report) -> Result<(), Abort> {
    if let Some(path) = args.path.as_deref().filter(|path| !path.contains('…')) {
        let whole = if path.starts_with('$') { path.to_owned() } else { format!("${path}") };
        Document::check_path(&whole).map_err(|error| mistakes::of_path(path, error))?;
    }
    let reader = Reader::new(&args.from, &global.limit)?;
    let sources = args.inputs.sources(report)?;
    let items = args.shown.items.unwrap_or(if args.all { u64::MAX } else { ITEMS });
    let stdout = std::io::stdout();
    let width = stdout.is_terminal().then(tty::width).flatten();
    let view = View { args, items, paint: Paint::new(global.color, &stdout), width };
    let mut sink = Sink::report(args.json, global.color);
    for source in &sources {
        report.input();
        inspect(source, &reader, &view, &global.limit, report, &mut sink)?;
        sink.flush()?;
    }
    Ok(())
}

fn inspect(
    source: &Source,
    reader: &Reader<'_>,
    view: &View<'_>,
    limits: &Limits,
    report: &mut Report,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let (name, args) = (source.name(), view.args);
    let bytes = match source.read() {
        Ok(bytes) => bytes,
        Err(error) => {
            report.io(&name, &error);
            return Ok(());
        }
    };
    let Some(opened) = reader.open(&name, &bytes, report) else { return Ok(()) };
    if sink.position() > 0 && !args.json {
        sink.text("\n")?;
    }
    let bytes = &*opened.bytes;
    let spent = Spent::nothing(opened.limits(), bytes.len());
    sink.reports_on(limits, bytes.len());
    let piece = |start: usize, end: usize| Piece {
        name: &name,
        stage: &opened.stage,
        notes: &opened.notes,
        bytes: &bytes[start..end],
        start,
        is_apart: false,
    };
    let depth = args.shown.depth.unwrap_or(u32::MAX);
    let look = Look { opens: args.deep, spent: &spent, level: 0, base: 0, depth };
    if view.is_in_parts() && parts::show(&piece(0, bytes.len()), opened.limits(), view, look, sink)? {
        return sink.flush();
    }
    reader.documents(&name, &opened, Detail::Yes, report, |_, outcome, start, report| {
        let end = start + outcome.consumed.min(bytes.len() - start);
        // A partial document has no end of its own.
        let end = if outcome.error.is_some() { bytes.len() } else { end };
        let piece = piece(start, end);
        match &args.path {
            None => view.document(&piece, &outcome, None, look, sink)?,
            Some(path) => {
                let path = path::whole(path, &piece, &opened, args.deep);
                let show = &mut |piece: &Piece<'_>, outcome: &Outcome<'_>, top: u32, look: Look<'_>| {
                    view.document(piece, outcome, Some(top), look, sink)
                };
                if let Err(error) = path::show(&path, &piece, &outcome, look, show)? {
                    path::refuse(&error, &path, &name, report)?;
                }
            }
        }
        // Errors after the document are reported after its output.
        sink.flush()?;
        Ok(outcome.document.into_tape())
    })?;
    Ok(())
}

/// How documents are shown.
struct View<'v> {
    args: &'v Inspect,
    /// Number of items of a list.
    items: u64,
    paint: Paint,
    /// The columns of the terminal, if it is one.
    width: Option<usize>,
}

impl View<'_> {
    /// Returns whether a long array can be shown without knowing the data that follows.
    fn is_in_parts(&self) -> bool {
        let Inspect { all, deep, path, from, .. } = self.args;
        *all && !deep && path.is_none() && from.each().is_none() && self.items == u64::MAX
    }

    /// Shows a document, or the value at `top`.
    fn document(
        &self,
        piece: &Piece<'_>,
        outcome: &Outcome<'_>,
        top: Option<u32>,
        look: Look<'_>,
        sink: &mut Sink,
    ) -> Result<(), Abort> {
        if self.args.json {
            json::document(piece, outcome, top, self, look, sink)
        } else {
            text::document(piece, outcome, top, self, look, sink)
        }
    }

    /// Returns the rows of a document. `fold`: an object and its body are one row.
    fn tree<'d>(&self, outcome: &'d Outcome<'_>, top: Option<u32>, look: Look<'_>, fold: bool) -> Tree<'d> {
        let show =
            TreeOptions { top, depth: look.depth, all: self.args.all, items: self.items, fold, before: 0, skip: 0 };
        Tree::new(&outcome.document, show)
    }
}

/// The part of an input that is one document.
struct Piece<'p> {
    name: &'p str,
    stage: &'p Stage,
    /// Notes of its wrappers, by name.
    notes: &'p [(&'static str, String)],
    bytes: &'p [u8],
    /// Its offset in the input.
    start: usize,
    /// The input does not contain it unchanged: offsets are its own.
    is_apart: bool,
}

/// Returns the variant of the format.
fn variant(piece: &Piece<'_>) -> String {
    (piece.stage.format().detect)(piece.bytes).map_or(String::new(), |guess| guess.variant)
}
