//! `icecore paths`

mod args;

pub use args::Paths;

use crate::arguments::Global;
use crate::document_reader::{Detail, DocumentReader};
use crate::output_writer::OutputWriter;
use crate::report::{Abort, Report};
use icecore::raw::{IS_KEY, NO_KEY, Tape, flag};
use icecore::{Cursor, Document, ErrorKind, Kind, Known, Limits, Stage, Value, deep};
use std::collections::HashMap;
use std::fmt::Write;

/// Maximum length of the path of a target that is kept, so that links to it can show it.
const MAX_KEPT_PATH_LEN: usize = 640;

pub fn run(args: &Paths, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let reader = DocumentReader::new(&args.from, &global.limits)?;
    reader.report_unused_options(report);
    let sources = args.inputs.find_sources(report)?;
    let to = Stage::parse(crate::arguments::DEFAULT_TARGET).map_err(crate::report::usage_error)?;
    let mut writer = OutputWriter::stdout();
    let has_paths = true;
    writer.paint_values(global.color, has_paths);
    for source in &sources {
        report.count_input();
        let name = source.name();
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.report_io_error(&name, &error);
                continue;
            }
        };
        let Some(input) = reader.unwrap_input(&name, &bytes, report) else { continue };
        writer.limit_report(&global.limits, input.bytes.len());
        reader.read_documents(&name, &input, Detail::No, report, |_, outcome, _, report| {
            let document = match args.deep {
                true => deep::open(outcome.document, &global.limits).map(|deep| deep.document),
                false => Ok(outcome.document),
            };
            match document {
                Ok(document) => {
                    let max_items = args.display.items.unwrap_or(u64::MAX);
                    let depth = args.display.depth.unwrap_or(u32::MAX) as usize;
                    let file = if sources.len() > 1 { icecore::text::printable(&name) } else { "".into() };
                    let listing =
                        PathListing { document: &document, to: &to, limits: &global.limits, depth, max_items };
                    listing.write_paths(&file, &mut writer)?;
                    // Errors after the document are reported after its output.
                    writer.flush()?;
                    Ok(document.into_tape())
                }
                Err(error) => {
                    report.report_unwritable(&name, &error);
                    Ok(Tape::new())
                }
            }
        })?;
    }
    writer.flush()
}

/// Lists the paths of a document.
struct PathListing<'l> {
    document: &'l Document<'l>,
    to: &'l Stage,
    limits: &'l Limits,
    /// Number of levels that are shown.
    depth: usize,
    /// Number of items of a list that are shown.
    max_items: u64,
}

/// An open container.
struct PathContainer {
    /// Node of the container.
    node: u32,
    /// Node of the next child.
    next: u32,
    /// The node after all descendants.
    end: u32,
    /// Node of the key of the next child, if it is stored as a node.
    key: Option<u32>,
    /// Number of children so far.
    position: u64,
    /// Length of the path to the container.
    path_len: usize,
    /// Number of steps of this path.
    level: usize,
}

impl PathListing<'_> {
    /// Writes a line for each value. If `file` is not empty, it precedes each path.
    fn write_paths(&self, file: &str, writer: &mut OutputWriter) -> Result<(), Abort> {
        let mut path = if file.is_empty() { "$".to_owned() } else { format!("{file}:$") };
        // The `$` is the start of the path itself.
        let path_start = path.len() - 1;
        let mut open_containers: Vec<PathContainer> = Vec::new();
        let mut target_paths = HashMap::new();
        let root = self.document.root();
        self.write_value(root, &mut path, path_start, &mut open_containers, &mut target_paths, writer)?;
        while let Some(top) = open_containers.last_mut() {
            if top.next >= top.end {
                path.truncate(top.path_len);
                open_containers.pop();
                continue;
            }
            let Some(child) = self.document.at(top.next) else { break };
            let (node, parent) = (child.node(), top.node);
            top.next = subtree_end(self.document, top.next);
            if node.key == IS_KEY {
                top.key = Some(child.index());
                continue;
            }
            let (key, position) = (top.key.take(), top.position);
            top.position += 1;
            let kind = self.document.at(parent).map(|parent| parent.kind());
            path.truncate(top.path_len);
            if matches!(kind, Some(Kind::Array | Kind::Map)) && position >= self.max_items {
                let hidden_count =
                    (self.document.at(parent).map_or(0, |parent| parent.len() as u64)).saturating_sub(position);
                let _ = match kind {
                    Some(Kind::Array) => write!(path, "[{position}:]\t… {hidden_count} more"),
                    _ => write!(path, ".*\t… {hidden_count} more"),
                };
                top.next = top.end;
                self.write_line(&path, writer)?;
                continue;
            }
            // The default value of a map is not an entry, and the value that has attributes needs no step.
            let has_step =
                !(kind == Some(Kind::Map) && node.key == NO_KEY || kind == Some(Kind::Attrs) && position == 0);
            let step = if has_step { self.document.step(parent, child.index(), key, position) } else { None };
            path.push_str(&step.unwrap_or_default());
            self.write_value(child, &mut path, path_start, &mut open_containers, &mut target_paths, writer)?;
        }
        Ok(())
    }

    /// Writes the line of a value, or opens it if it is a container whose items are listed.
    fn write_value(
        &self,
        cursor: Cursor<'_>,
        path: &mut String,
        path_start: usize,
        open_containers: &mut Vec<PathContainer>,
        target_paths: &mut HashMap<u32, String>,
        writer: &mut OutputWriter,
    ) -> Result<(), Abort> {
        let len = path.len();
        if cursor.node().has(flag::TARGET) && len <= MAX_KEPT_PATH_LEN {
            target_paths.insert(cursor.index(), path[path_start..].to_owned());
        }
        let kind = cursor.kind();
        // An object and its body count as one step.
        let level = open_containers.last().map_or(0, |container| container.level);
        // A time or a similar known value is shown as its text.
        let has_known_text =
            kind == Kind::Opaque && Known::of(cursor).is_some_and(|known| known.text(self.limits).is_some());
        // A leaf is written as a whole, on one line.
        let is_leaf = !kind.is_container() || cursor.is_empty() || has_known_text;
        if !is_leaf && (kind == Kind::Object || level < self.depth) {
            let (node, end) = (cursor.index(), subtree_end(self.document, cursor.index()));
            open_containers.push(PathContainer {
                node,
                next: node + 1,
                end,
                key: None,
                position: 0,
                path_len: len,
                level: level + usize::from(kind != Kind::Object),
            });
            return Ok(());
        }
        path.push('\t');
        // Writing to a string can't fail, so the results are dropped.
        match (kind, cursor.value()) {
            (Kind::Array, _) if !is_leaf => drop(write!(path, "[…{}]", cursor.len())),
            (_, _) if !is_leaf => drop(write!(path, "{{…{}}}", cursor.len())),
            (_, Value::Link(target) | Value::Alias(target) | Value::Copy(target)) => {
                let target_path = target_paths.get(&target.index()).map_or("elsewhere", String::as_str);
                path.push_str("-> ");
                path.push_str(target_path);
            }
            (_, Value::Int(value)) => drop(write!(path, "{value}")),
            (_, Value::Null) => path.push_str("null"),
            (_, Value::Bool(value)) => drop(write!(path, "{value}")),
            _ => self.push_json(cursor, path)?,
        }
        self.write_line(path, writer)?;
        path.truncate(len);
        Ok(())
    }

    /// Appends a value as JSON on one line.
    fn push_json(&self, cursor: Cursor<'_>, path: &mut String) -> Result<(), Abort> {
        let mut json = Vec::new();
        if let Some(text) = cursor.as_str() {
            let result = crate::json::push_text(text, &mut json);
            result.map_err(|error| Abort::Failed(crate::report::code::OTHER, error.to_string()))?;
        } else {
            let result = self
                .document
                .part(cursor.index())
                .and_then(|part| icecore::write_to(&part, self.to, self.limits, &mut json));
            if result.is_err_and(|error| error.kind() == ErrorKind::Unrepresentable) {
                json = b"?".to_vec();
            }
        }
        path.push_str(&String::from_utf8_lossy(&json));
        Ok(())
    }

    fn write_line(&self, line: &str, writer: &mut OutputWriter) -> Result<(), Abort> {
        writer.write_text(line)?;
        writer.write_text("\n")
    }
}

/// Returns the index of the first node after a node and all its descendants.
fn subtree_end(document: &Document<'_>, node: u32) -> u32 {
    match document.nodes().get(node as usize) {
        Some(node) if node.kind.is_container() && node.end() == 0 => document.nodes().len() as u32,
        Some(container) if container.kind.is_container() => container.end().max(node + 1),
        _ => node + 1,
    }
}
