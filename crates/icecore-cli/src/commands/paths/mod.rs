//! `icecore paths`

mod args;

pub use args::Paths;

use crate::arguments::Global;
use crate::reading::{Detail, Reader};
use crate::report::{Abort, Report};
use crate::sink::Sink;
use icecore::raw::{IS_KEY, NO_KEY, Tape, flag};
use icecore::{Cursor, Document, ErrorKind, Kind, Known, Limits, Stage, Value, deep};
use std::collections::HashMap;
use std::fmt::Write;

/// Maximum length of a path that is kept for links to show.
const KEPT: usize = 640;

pub fn run(args: &Paths, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let reader = Reader::new(&args.from, &global.limit)?;
    let sources = args.inputs.sources(report)?;
    let to = Stage::parse(crate::arguments::DEFAULT_TARGET).map_err(crate::report::usage)?;
    let mut sink = Sink::stdout();
    sink.paint_values(global.color, true);
    for source in &sources {
        report.input();
        let name = source.name();
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.io(&name, &error);
                continue;
            }
        };
        let Some(opened) = reader.open(&name, &bytes, report) else { continue };
        sink.reports_on(&global.limit, opened.bytes.len());
        reader.documents(&name, &opened, Detail::No, report, |_, outcome, _, report| {
            let document = match args.deep {
                true => deep::open(outcome.document, &global.limit).map(|deep| deep.document),
                false => Ok(outcome.document),
            };
            match document {
                Ok(document) => {
                    let most = args.shown.items.unwrap_or(u64::MAX);
                    let depth = args.shown.depth.unwrap_or(u32::MAX) as usize;
                    let file = if sources.len() > 1 { icecore::text::printable(&name) } else { "".into() };
                    let listing = Listing { document: &document, to: &to, limits: &global.limit, depth, items: most };
                    listing.show(&file, &mut sink)?;
                    // Errors after the document are reported after its output.
                    sink.flush()?;
                    Ok(document.into_tape())
                }
                Err(error) => {
                    report.unwritable(&name, &error);
                    Ok(Tape::new())
                }
            }
        })?;
    }
    sink.flush()
}

struct Listing<'l> {
    document: &'l Document<'l>,
    to: &'l Stage,
    limits: &'l Limits,
    depth: usize,
    /// Number of items of a list that are shown.
    items: u64,
}

/// An open container.
struct Open {
    node: u32,
    next: u32,
    end: u32,
    key: Option<u32>,
    position: u64,
    /// Length of the path to it, and its number of steps.
    path: usize,
    level: usize,
}

impl Listing<'_> {
    /// Prints a line for each value, with the file before each path if it has a name.
    fn show(&self, file: &str, sink: &mut Sink) -> Result<(), Abort> {
        let mut path = if file.is_empty() { "$".to_owned() } else { format!("{file}:$") };
        let start = path.len() - 1;
        let mut open: Vec<Open> = Vec::new();
        let mut targets = HashMap::new();
        let root = self.document.root();
        self.value(root, &mut path, start, &mut open, &mut targets, sink)?;
        while let Some(top) = open.last_mut() {
            if top.next >= top.end {
                path.truncate(top.path);
                open.pop();
                continue;
            }
            let Some(here) = self.document.at(top.next) else { break };
            let (node, parent) = (here.node(), top.node);
            top.next = behind(self.document, top.next);
            if node.key == IS_KEY {
                top.key = Some(here.index());
                continue;
            }
            let (key, position) = (top.key.take(), top.position);
            top.position += 1;
            let kind = self.document.at(parent).map(|parent| parent.kind());
            path.truncate(top.path);
            if matches!(kind, Some(Kind::Array | Kind::Map)) && position >= self.items {
                let left = (self.document.at(parent).map_or(0, |parent| parent.len() as u64)).saturating_sub(position);
                let _ = match kind {
                    Some(Kind::Array) => write!(path, "[{position}:]\t… {left} more"),
                    _ => write!(path, ".*\t… {left} more"),
                };
                top.next = top.end;
                self.line(&path, sink)?;
                continue;
            }
            // The default value of a map is not an entry, and the value that has attributes needs no step.
            let has_step =
                !(kind == Some(Kind::Map) && node.key == NO_KEY || kind == Some(Kind::Attrs) && position == 0);
            let step = if has_step { self.document.step(parent, here.index(), key, position) } else { None };
            path.push_str(&step.unwrap_or_default());
            self.value(here, &mut path, start, &mut open, &mut targets, sink)?;
        }
        Ok(())
    }

    fn value(
        &self,
        here: Cursor<'_>,
        path: &mut String,
        start: usize,
        open: &mut Vec<Open>,
        targets: &mut HashMap<u32, String>,
        sink: &mut Sink,
    ) -> Result<(), Abort> {
        let len = path.len();
        if here.node().has(flag::TARGET) && len <= KEPT {
            targets.insert(here.index(), path[start..].to_owned());
        }
        let kind = here.kind();
        // An object and its body are one step.
        let level = open.last().map_or(0, |open| open.level);
        // A time or a similar known value is shown as its text.
        let says = kind == Kind::Opaque && Known::of(here).is_some_and(|known| known.text(self.limits).is_some());
        let is_shown = !kind.is_container() || here.is_empty() || says;
        if !is_shown && (kind == Kind::Object || level < self.depth) {
            let (node, end) = (here.index(), behind(self.document, here.index()));
            open.push(Open {
                node,
                next: node + 1,
                end,
                key: None,
                position: 0,
                path: len,
                level: level + usize::from(kind != Kind::Object),
            });
            return Ok(());
        }
        path.push('\t');
        match (kind, here.value()) {
            (Kind::Array, _) if !is_shown => drop(write!(path, "[…{}]", here.len())),
            (_, _) if !is_shown => drop(write!(path, "{{…{}}}", here.len())),
            (_, Value::Link(target) | Value::Alias(target) | Value::Copy(target)) => {
                let known = targets.get(&target.index()).map_or("elsewhere", String::as_str);
                path.push_str("-> ");
                path.push_str(known);
            }
            (_, Value::Int(value)) => drop(write!(path, "{value}")),
            (_, Value::Null) => path.push_str("null"),
            (_, Value::Bool(value)) => drop(write!(path, "{value}")),
            _ => self.json(here, path)?,
        }
        self.line(path, sink)?;
        path.truncate(len);
        Ok(())
    }

    /// Appends a value as JSON on one line.
    fn json(&self, here: Cursor<'_>, path: &mut String) -> Result<(), Abort> {
        let mut json = Vec::new();
        if let Some(text) = here.as_str() {
            let pushed = crate::json::push_text(text, &mut json);
            pushed.map_err(|error| Abort::Failed(crate::report::code::OTHER, error.to_string()))?;
        } else {
            let written = self
                .document
                .part(here.index())
                .and_then(|part| icecore::write_to(&part, self.to, self.limits, &mut json));
            if written.is_err_and(|error| error.kind() == ErrorKind::Unrepresentable) {
                json = b"?".to_vec();
            }
        }
        path.push_str(&String::from_utf8_lossy(&json));
        Ok(())
    }

    fn line(&self, line: &str, sink: &mut Sink) -> Result<(), Abort> {
        sink.text(line)?;
        sink.text("\n")
    }
}

/// Returns the index after a node and all its descendants.
fn behind(document: &Document<'_>, node: u32) -> u32 {
    match document.nodes().get(node as usize) {
        Some(node) if node.kind.is_container() && node.end() == 0 => document.nodes().len() as u32,
        Some(known) if known.kind.is_container() => known.end().max(node + 1),
        _ => node + 1,
    }
}
