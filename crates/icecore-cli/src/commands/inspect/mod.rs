//! `icecore inspect`

mod args;
mod deep;
mod json;
mod parts;
mod path;
mod text;

pub use args::Inspect;

use crate::arguments::Global;
use crate::document_reader::{Detail, DocumentReader};
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::paint::Paint;
use crate::report::{Abort, Report};
use crate::source::Source;
use crate::tty;
use deep::{NestedBudget, NestedSettings};
use icecore::{Document, Limits, Stage, raw::Outcome};
use icecore_inspect::{Tree, TreeOptions};

/// Number of items of a long list that are shown by default.
const DEFAULT_ITEMS: u64 = 32;

pub fn run(args: &Inspect, global: &Global, report: &mut Report) -> Result<(), Abort> {
    if let Some(path) = args.path.as_deref().filter(|path| !path.contains('…')) {
        let full_path = if path.starts_with('$') { path.to_owned() } else { format!("${path}") };
        Document::check_path(&full_path).map_err(|error| mistakes::path_error(path, error))?;
    }
    let reader = DocumentReader::new(&args.from, &global.limits)?;
    reader.report_unused_options(report);
    let sources = args.inputs.find_sources(report)?;
    let items = args.display.items.unwrap_or(if args.all { u64::MAX } else { DEFAULT_ITEMS });
    let stdout = std::io::stdout();
    let width = tty::stdout_width();
    let view = InspectView { args, items, paint: Paint::new(global.color, &stdout), width };
    let mut writer = OutputWriter::for_report(args.json, global.color);
    for source in &sources {
        report.count_input();
        inspect_source(source, &reader, &view, &global.limits, report, &mut writer)?;
        writer.flush()?;
    }
    Ok(())
}

/// Shows all documents of an input, or with a path the values at that path.
fn inspect_source(
    source: &Source,
    reader: &DocumentReader<'_>,
    view: &InspectView<'_>,
    limits: &Limits,
    report: &mut Report,
    writer: &mut OutputWriter,
) -> Result<(), Abort> {
    let (name, args) = (source.name(), view.args);
    let bytes = match source.read() {
        Ok(bytes) => bytes,
        Err(error) => {
            report.report_io_error(&name, &error);
            return Ok(());
        }
    };
    let Some(input) = reader.unwrap_input(&name, &bytes, report) else { return Ok(()) };
    if writer.position() > 0 && !args.json {
        writer.write_text("\n")?;
    }
    let bytes = &*input.bytes;
    let budget = NestedBudget::new(input.limits(), bytes.len());
    writer.limit_report(limits, bytes.len());
    let document_at = |start: usize, end: usize| DocumentSource {
        name: &name,
        stage: &input.stage,
        notes: &input.notes,
        bytes: &bytes[start..end],
        start,
        has_own_offsets: false,
    };
    let depth = args.display.depth.unwrap_or(u32::MAX);
    let settings = NestedSettings { opens_strings: args.deep, budget: &budget, level: 0, base_depth: 0, depth };
    if view.can_show_in_parts()
        && parts::show_in_parts(&document_at(0, bytes.len()), input.limits(), view, settings, writer)?
    {
        return writer.flush();
    }
    reader.read_documents(&name, &input, Detail::Yes, report, |_, outcome, start, report| {
        let end = start + outcome.consumed.min(bytes.len() - start);
        // A document that breaks off extends to the end of the input.
        let end = if outcome.error.is_some() { bytes.len() } else { end };
        // The places of values in a repaired document are those of the repaired text.
        let repaired_text = match outcome.document.repairs().is_empty() {
            true => None,
            false => write_again(&outcome.document, &input.stage),
        };
        let source = match &repaired_text {
            Some(text) => DocumentSource { bytes: text, has_own_offsets: true, ..document_at(start, end) },
            None => document_at(start, end),
        };
        match &args.path {
            None => view.write_document(&source, &outcome, None, settings, writer)?,
            Some(path) => {
                let path = path::complete_path(path, &source, &input, args.deep);
                let show = &mut |source: &DocumentSource<'_>,
                                 outcome: &Outcome<'_>,
                                 top_node: u32,
                                 settings: NestedSettings<'_>| {
                    view.write_document(source, outcome, Some(top_node), settings, writer)
                };
                if let Err(error) = path::show_at_path(&path, &source, &outcome, settings, show)? {
                    path::report_missing_path(&error, &path, &name, report)?;
                }
            }
        }
        // Errors after the document are reported after its output.
        writer.flush()?;
        Ok(outcome.document.into_tape())
    })?;
    Ok(())
}

/// Returns a document in the format that it was read from, with its spelling.
fn write_again(document: &Document<'_>, stage: &Stage) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    stage.format().write(document, stage.settings(), &Limits::default(), &mut text).ok()?;
    Some(text)
}

/// How documents are shown.
struct InspectView<'v> {
    args: &'v Inspect,
    /// Maximum number of items of a list.
    items: u64,
    paint: Paint,
    /// Width of the terminal, if the output goes to one.
    width: Option<usize>,
}

impl InspectView<'_> {
    /// Returns true if the parts of a long array can be shown while it is read.
    fn can_show_in_parts(&self) -> bool {
        let Inspect { all, deep, path, from, .. } = self.args;
        *all && !deep && path.is_none() && from.document_framing().is_none() && self.items == u64::MAX
    }

    /// Shows a document, or the value at `top_node`.
    fn write_document(
        &self,
        source: &DocumentSource<'_>,
        outcome: &Outcome<'_>,
        top_node: Option<u32>,
        settings: NestedSettings<'_>,
        writer: &mut OutputWriter,
    ) -> Result<(), Abort> {
        if self.args.json {
            json::write_document(source, outcome, top_node, self, settings, writer)
        } else {
            text::write_document(source, outcome, top_node, self, settings, writer)
        }
    }

    /// Returns the rows of a document. In text, an object and its body are one row.
    fn build_tree<'d>(
        &self,
        outcome: &'d Outcome<'_>,
        top_node: Option<u32>,
        settings: NestedSettings<'_>,
    ) -> Tree<'d> {
        let options = TreeOptions {
            top: top_node,
            depth: settings.depth,
            shows_spans: self.args.all,
            items: self.items,
            fold: !self.args.json,
            earlier_items: 0,
            skip: 0,
        };
        Tree::new(&outcome.document, options)
    }
}

/// The bytes of a document, and where they come from.
struct DocumentSource<'p> {
    name: &'p str,
    stage: &'p Stage,
    /// Notes of its wrappers, by name.
    notes: &'p [(&'static str, String)],
    bytes: &'p [u8],
    /// Its offset in the input.
    start: usize,
    /// Whether the input does not contain the bytes unchanged, so that offsets count from the start of the document.
    has_own_offsets: bool,
}

/// Returns the variant of the format.
fn detect_variant(source: &DocumentSource<'_>) -> String {
    (source.stage.format().detect)(source.bytes).map_or(String::new(), |guess| guess.variant)
}
