//! Prints differences, as text for people and as JSON for programs.

use super::args::DiffView;
use super::contrast::{MaxLengths, contrast, cut, describe, describe_key};
use super::known_values::{ShownChange, show_known_values};
use crate::arguments;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, code};
use crate::tty;
use icecore::text::printable;
use icecore::{Cursor, Limits};
use icecore_diff::{Change, ChangeKind, Differences};
use icecore_tables::plural::format_count;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet, hash_map};

/// Message for documents that have different bytes and no difference.
pub const SAME_MEANING: &str = "the bytes differ, and mean the same\n";
/// Maximum number of characters of a string, if each change is on one line.
const MAX_STRING_LEN: usize = 200;
/// Maximum number of changes for which the paths of links are searched, because each search takes long.
const MAX_LINK_SEARCHES: u32 = 1_000;

/// How differences are shown.
pub struct DifferencePrinter<'a> {
    is_json: bool,
    /// Width of each of two columns; 0 if each change is on one line.
    column_width: usize,
    paint: Paint,
    /// Number of levels that are shown.
    depth: usize,
    /// Number of changes that are shown.
    max_changes: u64,
    limits: &'a Limits,
    /// Remaining number of changes for which the paths of links may be searched.
    remaining_link_searches: Cell<u32>,
}

impl<'a> DifferencePrinter<'a> {
    /// Creates a printer of text for people. `is_terminal` is true if the output is a terminal.
    pub fn for_people(
        view: DiffView,
        display: &arguments::DisplayArgs,
        is_terminal: bool,
        paint: Paint,
        limits: &'a Limits,
    ) -> Self {
        let in_columns = match view {
            DiffView::Auto => is_terminal,
            DiffView::Lines => false,
            DiffView::Columns => true,
        };
        let column_width = if in_columns { terminal_columns().saturating_sub(5) / 2 } else { 0 };
        let depth = display.depth.map_or(usize::MAX, |depth| depth as usize);
        let max_changes = display.items.unwrap_or(u64::MAX);
        DifferencePrinter {
            is_json: false,
            column_width,
            paint,
            depth,
            max_changes,
            limits,
            remaining_link_searches: Cell::new(MAX_LINK_SEARCHES),
        }
    }

    /// Makes this a printer of JSON.
    pub fn with_json(self) -> Self {
        DifferencePrinter { is_json: true, ..self }
    }

    /// Returns the colours.
    pub fn paint(&self) -> Paint {
        self.paint
    }

    pub fn write_differences(&self, differences: &Differences<'_>, writer: &mut OutputWriter) -> Result<(), Abort> {
        if self.is_json {
            let json = differences.to_json(self.limits);
            return writer.write_bytes(&json.map_err(|error| Abort::Failed(code::INPUT, error.to_string()))?);
        }
        let paths = differences.list_paths();
        let replaced_paths = find_replaced_paths(differences.changes(), &paths);
        let changes = show_known_values(differences.changes(), paths.into_iter().zip(differences.list_new_paths()));
        let entries = collect_entries(changes, self.depth);
        let displayed_count = usize::try_from(self.max_changes).unwrap_or(usize::MAX).min(entries.len());
        for ChangeEntry { change, path, count } in &entries[..displayed_count] {
            match change {
                Some((change, new_path)) => {
                    let place = ChangePlace::new(change, path, new_path, replaced_paths.contains(path));
                    match self.column_width {
                        0 => self.write_line(change, &place, writer)?,
                        width => self.write_columns(change, &place, width, writer)?,
                    }
                }
                None => self.write_deeper_changes(&printable(path), *count, writer)?,
            }
        }
        if displayed_count < entries.len() {
            writer.write_text(&format!(
                "{}\n",
                self.paint.ink(Ink::Faint, format!("… {} more", entries.len() - displayed_count))
            ))?;
        }
        if differences.has_other_header() {
            writer.write_text("changed the user header\n")?;
        }
        Ok(())
    }

    /// Writes `changed $.to: 3 changes in it`.
    fn write_deeper_changes(&self, path: &str, count: u64, writer: &mut OutputWriter) -> Result<(), Abort> {
        let (word, ink) = change_label(ChangeKind::Changed);
        let heading = format!("{} {}", self.paint.ink(ink, word), self.paint.ink(Ink::Name, path));
        let count = self.paint.ink(Ink::Faint, format!("{} in it", format_count(count, "change", "changes")));
        writer.write_text(&if self.column_width == 0 {
            format!("{heading}: {count}\n")
        } else {
            format!("{heading}\n  {count}\n")
        })
    }

    /// Writes `changed $.to: "ann" -> "bob"`.
    fn write_line(&self, change: &Change<'_>, place: &ChangePlace<'_>, writer: &mut OutputWriter) -> Result<(), Abort> {
        let (word, ink) = change_label(change.kind);
        let details = match change.kind {
            ChangeKind::Moved if place.differs_only_by_key() => String::new(),
            ChangeKind::Moved => format!(" -> {}", self.paint.ink(Ink::Name, &place.new_path)),
            _ => match self.format_values(change, self.max_lengths(MAX_STRING_LEN, usize::MAX)) {
                (Some(left), Some(right)) => format!(": {left} -> {right}"),
                (left, right) => format!(": {}", left.or(right).unwrap_or_default()),
            },
        };
        let path = self.paint.ink(Ink::Name, &place.path);
        writer.write_text(&format!("{} {path}{}{details}\n", self.paint.ink(ink, word), place.key_kinds))
    }

    /// Writes the path, and below it the values of the first and the second document.
    fn write_columns(
        &self,
        change: &Change<'_>,
        place: &ChangePlace<'_>,
        width: usize,
        writer: &mut OutputWriter,
    ) -> Result<(), Abort> {
        let (word, ink) = change_label(change.kind);
        let path = self.paint.ink(Ink::Name, &place.path);
        let heading = format!("{} {path}{}\n", self.paint.ink(ink, word), place.key_kinds);
        let (left, right) = match change.kind {
            ChangeKind::Moved if place.differs_only_by_key() => return writer.write_text(&heading),
            ChangeKind::Moved => (Some(cut(&place.path, width)), Some(cut(&place.new_path, width))),
            _ => self.describe_values(change, self.max_lengths(width, width)),
        };
        let padding = width.saturating_sub(left.as_deref().map_or(0, |left| left.chars().count()));
        let colorize = |text: Option<String>, side: Option<Cursor<'_>>| {
            let ink = side.map_or(Ink::Faint, value_ink);
            text.map_or_else(String::new, |text| self.paint.ink(ink, text))
        };
        let is_moved = change.kind == ChangeKind::Moved;
        let (left_value, right_value) = (change.left.filter(|_| !is_moved), change.right.filter(|_| !is_moved));
        let (left, right) = (colorize(left, left_value), colorize(right, right_value));
        let line = format!("  {left}{:padding$} | {right}", "");
        writer.write_text(&format!("{heading}{}\n", line.trim_end()))
    }

    fn max_lengths(&self, string: usize, total: usize) -> MaxLengths {
        MaxLengths { string, total, may_search_paths: self.remaining_link_searches.get() > 0 }
    }

    /// Describes the values of a change in a few words, in colour.
    fn format_values(&self, change: &Change<'_>, lengths: MaxLengths) -> (Option<String>, Option<String>) {
        let (left, right) = self.describe_values(change, lengths);
        let paint = |side: Option<Cursor<'_>>, text: Option<String>| Some(self.paint.ink(value_ink(side?), text?));
        (paint(change.left, left), paint(change.right, right))
    }

    /// Describes the values of a change in a few words. The texts of the two documents differ.
    fn describe_values(&self, change: &Change<'_>, lengths: MaxLengths) -> (Option<String>, Option<String>) {
        match (change.left, change.right) {
            (Some(left), Some(right)) => {
                if left.kind().is_again() || right.kind().is_again() {
                    self.remaining_link_searches.set(self.remaining_link_searches.get().saturating_sub(1));
                }
                let (left, right) = contrast(left, right, lengths);
                (Some(left), Some(right))
            }
            (left, right) => (left.map(|side| describe(side, lengths)), right.map(|side| describe(side, lengths))),
        }
    }
}

/// The place of a change: its paths in both documents, and what distinguishes its key from another key with the same
/// path.
struct ChangePlace<'p> {
    path: Cow<'p, str>,
    new_path: Cow<'p, str>,
    /// ` (key: bytes -> text)`, or empty.
    key_kinds: String,
}

impl<'p> ChangePlace<'p> {
    /// Returns the place of a change. `is_replaced` is true if an entry was removed at this path and another one was
    /// added.
    fn new(change: &Change<'_>, path: &'p str, new_path: &'p str, is_replaced: bool) -> ChangePlace<'p> {
        let is_moved = change.kind == ChangeKind::Moved && path == new_path;
        let key_kinds = if is_moved || is_replaced { describe_key_kinds(change) } else { String::new() };
        ChangePlace { path: printable(path), new_path: printable(new_path), key_kinds }
    }

    /// Returns true if only the key differs.
    fn differs_only_by_key(&self) -> bool {
        self.path == self.new_path && !self.key_kinds.is_empty()
    }
}

/// Describes the keys of a value by their kinds: ` (key: bytes -> text)`; empty if both are of the same kind.
fn describe_key_kinds(change: &Change<'_>) -> String {
    let keys: Vec<String> = [change.left, change.right].into_iter().flatten().filter_map(describe_key).collect();
    match &keys[..] {
        [key] => format!(" (key: {key})"),
        [old, new] if old != new => format!(" (key: {old} -> {new})"),
        _ => String::new(),
    }
}

/// Returns the paths at which one entry was removed and another one was added. Their keys have the same text, but
/// another kind.
fn find_replaced_paths(changes: &[Change<'_>], paths: &[String]) -> HashSet<String> {
    let paths_of = |kind: ChangeKind| {
        let changes = changes.iter().zip(paths);
        changes.filter(move |(change, _)| change.kind == kind).map(|(_, path)| path)
    };
    let removed: HashSet<&String> = paths_of(ChangeKind::Removed).collect();
    paths_of(ChangeKind::Added).filter(|path| removed.contains(path)).cloned().collect()
}

/// An entry of the output: a change, or several changes that are too deep to show.
struct ChangeEntry<'d> {
    /// The change and its path in the second document; `None` for changes that are too deep.
    change: Option<(Change<'d>, String)>,
    /// The path of the change, or of the container with the changes that are too deep.
    path: String,
    count: u64,
}

/// Returns the entries to show: the changes, and for deeper ones the path of their container.
fn collect_entries(changes: Vec<ShownChange<'_>>, depth: usize) -> Vec<ChangeEntry<'_>> {
    let mut entries: Vec<ChangeEntry<'_>> = Vec::new();
    let mut container_entries: HashMap<String, usize> = HashMap::new();
    for ShownChange { change, path, new_path } in changes {
        match find_end_of_steps(&path, depth) {
            None => entries.push(ChangeEntry { change: Some((change, new_path)), path, count: 1 }),
            Some(end) => match container_entries.entry(path[..end].to_owned()) {
                hash_map::Entry::Occupied(entry) => entries[*entry.get()].count += 1,
                hash_map::Entry::Vacant(entry) => {
                    entry.insert(entries.len());
                    entries.push(ChangeEntry { change: None, path: path[..end].to_owned(), count: 1 });
                }
            },
        }
    }
    entries
}

/// Returns where the first `steps` steps of a path end; `None` if the path has no further steps.
fn find_end_of_steps(path: &str, steps: usize) -> Option<usize> {
    let (mut count, mut is_quoted, mut is_escaped) = (0, false, false);
    for (index, byte) in path.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'.' | b'[' | b'{' | b'^' | b'#' if !is_quoted => {
                if count == steps {
                    return Some(index);
                }
                count += 1;
            }
            _ => {}
        }
    }
    None
}

fn change_label(kind: ChangeKind) -> (&'static str, Ink) {
    match kind {
        ChangeKind::Added => ("added", Ink::String),
        ChangeKind::Removed => ("removed", Ink::Bad),
        ChangeKind::Moved => ("moved", Ink::Class),
        _ => ("changed", Ink::Number),
    }
}

fn value_ink(value: Cursor<'_>) -> Ink {
    match value.target().kind() {
        kind if kind.is_string() => Ink::String,
        kind if kind.has_class() => Ink::Class,
        kind if kind.is_container() => Ink::Faint,
        _ => Ink::Number,
    }
}

/// Returns the number of characters in a line of the terminal.
fn terminal_columns() -> usize {
    const DEFAULT_WIDTH: usize = 100;
    const MIN_WIDTH: usize = 40;
    let configured = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    configured.or_else(tty::reported_width).unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_steps_finds_each_step_of_a_path() {
        let cut_path = |path: &'static str, steps| find_end_of_steps(path, steps).map_or(path, |end| &path[..end]);
        let path = r#"$.a["x.y\"[z]"][3]^.b"#;
        let expected_paths =
            ["$", "$.a", r#"$.a["x.y\"[z]"]"#, r#"$.a["x.y\"[z]"][3]"#, r#"$.a["x.y\"[z]"][3]^"#, path, path];
        for (steps, expected) in expected_paths.into_iter().enumerate() {
            assert_eq!(cut_path(path, steps), expected, "{steps}");
        }
    }
}
