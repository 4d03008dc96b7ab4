//! The differences, as text for people and as JSON for programs.

use super::args::{Diff, View};
use crate::arguments::Global;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, code};
use crate::sink::Sink;
use crate::terminal;
use crate::tty;
use icecore::{Cursor, Limits};
use icecore_diff::{Change, ChangeKind, Differences};
use icecore_inspect::describe::{Tone, describe_value};
use icecore_tables::plural::format_count;
use std::collections::{HashMap, hash_map};

/// Maximum number of characters of a string, in lines.
const CHARACTERS: usize = 200;

/// How differences are shown.
pub struct Shown<'a> {
    is_json: bool,
    /// Width of each of two columns; 0 means no columns.
    width: usize,
    paint: Paint,
    /// Number of levels and of changes that are shown.
    depth: usize,
    most: u64,
    limits: &'a Limits,
}

impl<'a> Shown<'a> {
    pub fn new(args: &Diff, global: &'a Global) -> Shown<'a> {
        let in_columns = match args.view {
            View::Auto => terminal::is_stdout(),
            View::Lines => false,
            View::Columns => true,
        };
        let width = if in_columns { columns().saturating_sub(5) / 2 } else { 0 };
        let paint = Paint::new(global.color, &std::io::stdout());
        let depth = args.shown.depth.map_or(usize::MAX, |depth| depth as usize);
        let most = args.shown.items.unwrap_or(u64::MAX);
        Shown { is_json: args.json, width, paint, depth, most, limits: &global.limit }
    }

    pub fn write(&self, found: &Differences<'_>, sink: &mut Sink) -> Result<(), Abort> {
        if self.is_json {
            let json = found.to_json(self.limits);
            return sink.bytes(&json.map_err(|error| Abort::Failed(code::INPUT, error.to_string()))?);
        }
        let paths = found.list_paths().into_iter().zip(found.list_new_paths());
        let entries = entries(found.changes(), paths, self.depth);
        let shown = usize::try_from(self.most).unwrap_or(usize::MAX).min(entries.len());
        for (change, path, count) in &entries[..shown] {
            let path = icecore::text::printable(path);
            match change {
                Some((change, new_path)) => {
                    let new_path = icecore::text::printable(new_path);
                    match self.width {
                        0 => self.line(change, &path, &new_path, sink)?,
                        width => self.columns(change, &path, &new_path, width, sink)?,
                    }
                }
                None => self.inside(&path, *count, sink)?,
            }
        }
        if shown < entries.len() {
            sink.text(&format!("{}\n", self.paint.ink(Ink::Faint, format!("… {} more", entries.len() - shown))))?;
        }
        if found.has_other_header() {
            sink.text("changed the user header\n")?;
        }
        Ok(())
    }

    /// Writes `changed $.to: 3 changes in it`.
    fn inside(&self, path: &str, count: u64, sink: &mut Sink) -> Result<(), Abort> {
        let (word, ink) = kind(ChangeKind::Changed);
        let heading = format!("{} {}", self.paint.ink(ink, word), self.paint.ink(Ink::Name, path));
        let count = self.paint.ink(Ink::Faint, format!("{} in it", format_count(count, "change", "changes")));
        sink.text(&if self.width == 0 { format!("{heading}: {count}\n") } else { format!("{heading}\n  {count}\n") })
    }

    /// Writes `changed $.to: "ann" -> "bob"`.
    fn line(&self, change: &Change<'_>, path: &str, new_path: &str, sink: &mut Sink) -> Result<(), Abort> {
        let (word, ink) = kind(change.kind);
        let value = |side: Option<Cursor<'_>>| side.map(|side| self.value(side, CHARACTERS, usize::MAX));
        let rest = match change.kind {
            ChangeKind::Moved => format!(" -> {}", self.paint.ink(Ink::Name, new_path)),
            _ => match (value(change.left), value(change.right)) {
                (Some(left), Some(right)) => format!(": {left} -> {right}"),
                (left, right) => format!(": {}", left.or(right).unwrap_or_default()),
            },
        };
        sink.text(&format!("{} {}{rest}\n", self.paint.ink(ink, word), self.paint.ink(Ink::Name, path)))
    }

    /// Writes the path, and below it the values of the first and the second document.
    fn columns(
        &self,
        change: &Change<'_>,
        path: &str,
        new_path: &str,
        width: usize,
        sink: &mut Sink,
    ) -> Result<(), Abort> {
        let (word, ink) = kind(change.kind);
        let heading = format!("{} {}\n", self.paint.ink(ink, word), self.paint.ink(Ink::Name, path));
        let (left, right) = match change.kind {
            ChangeKind::Moved => (Some(cut(path, width)), Some(cut(new_path, width))),
            _ => (change.left, change.right).map_both(|side| self.words(side, width, width)),
        };
        let padding = width.saturating_sub(left.as_deref().map_or(0, |left| left.chars().count()));
        let show = |text: Option<String>, side: Option<Cursor<'_>>| {
            let ink = side.map_or(Ink::Faint, ink_of);
            text.map_or_else(String::new, |text| self.paint.ink(ink, text))
        };
        let is_moved = change.kind == ChangeKind::Moved;
        let (of_left, of_right) = (change.left.filter(|_| !is_moved), change.right.filter(|_| !is_moved));
        let (left, right) = (show(left, of_left), show(right, of_right));
        let line = format!("  {left}{:padding$} | {right}", "");
        sink.text(&format!("{heading}{}\n", line.trim_end()))
    }

    /// Returns a value in a few words, in colour.
    fn value(&self, value: Cursor<'_>, most: usize, width: usize) -> String {
        self.paint.ink(ink_of(value), self.words(value, most, width))
    }

    /// Returns a value in a few words; strings are cut at `most` characters, and the whole at `width`.
    fn words(&self, value: Cursor<'_>, most: usize, width: usize) -> String {
        let target = value.target();
        let words = describe_value(target.document(), target.index(), most.max(8));
        let class = words.class.map(|class| format!(" {class}")).unwrap_or_default();
        let text = match words.value {
            Some((Tone::Count, count)) => format!("{}{class} of {count}", words.kind),
            Some((_, text)) if class.is_empty() => text,
            Some((_, text)) => format!("{}{class} {text}", words.kind),
            None => format!("{}{class}", words.kind),
        };
        cut(&text, width)
    }
}

/// A change and its path in the second document, or `None` for several changes that are too deep to show; the path; and
/// the number of changes.
type Entry<'c, 'd> = (Option<(&'c Change<'d>, String)>, String, u64);

/// Returns the entries to show: the changes, and for deeper ones the path of their container.
fn entries<'c, 'd>(
    changes: &'c [Change<'d>],
    paths: impl Iterator<Item = (String, String)>,
    depth: usize,
) -> Vec<Entry<'c, 'd>> {
    let mut entries: Vec<Entry<'c, 'd>> = Vec::new();
    let mut deeper: HashMap<String, usize> = HashMap::new();
    for (change, (path, new_path)) in changes.iter().zip(paths) {
        match end_of_steps(&path, depth) {
            None => entries.push((Some((change, new_path)), path, 1)),
            Some(end) => match deeper.entry(path[..end].to_owned()) {
                hash_map::Entry::Occupied(known) => entries[*known.get()].2 += 1,
                hash_map::Entry::Vacant(place) => {
                    place.insert(entries.len());
                    entries.push((None, path[..end].to_owned(), 1));
                }
            },
        }
    }
    entries
}

/// Returns where the first `steps` steps of a path end; `None` if it has no more.
fn end_of_steps(path: &str, steps: usize) -> Option<usize> {
    let (mut count, mut is_quoted, mut is_escaped) = (0, false, false);
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'.' | b'[' | b'{' | b'^' | b'#' if !is_quoted => {
                if count == steps {
                    return Some(at);
                }
                count += 1;
            }
            _ => {}
        }
    }
    None
}

/// Maps both members of a pair.
trait Both<T> {
    fn map_both<U>(self, with: impl Fn(T) -> U) -> (Option<U>, Option<U>);
}

impl<T> Both<T> for (Option<T>, Option<T>) {
    fn map_both<U>(self, with: impl Fn(T) -> U) -> (Option<U>, Option<U>) {
        (self.0.map(&with), self.1.map(&with))
    }
}

fn kind(kind: ChangeKind) -> (&'static str, Ink) {
    match kind {
        ChangeKind::Added => ("added", Ink::String),
        ChangeKind::Removed => ("removed", Ink::Bad),
        ChangeKind::Moved => ("moved", Ink::Class),
        _ => ("changed", Ink::Number),
    }
}

fn ink_of(value: Cursor<'_>) -> Ink {
    match value.target().kind() {
        kind if kind.is_string() => Ink::String,
        kind if kind.has_class() => Ink::Class,
        kind if kind.is_container() => Ink::Faint,
        _ => Ink::Number,
    }
}

/// Returns the text, cut to this width.
fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some(_) => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Returns the number of characters in a line of the terminal.
fn columns() -> usize {
    const USUAL: usize = 100;
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.or_else(tty::width).unwrap_or(USUAL).max(40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_path() {
        let cut = |path: &'static str, steps| end_of_steps(path, steps).map_or(path, |end| &path[..end]);
        let path = r#"$.a["x.y\"[z]"][3]^.b"#;
        let known = ["$", "$.a", r#"$.a["x.y\"[z]"]"#, r#"$.a["x.y\"[z]"][3]"#, r#"$.a["x.y\"[z]"][3]^"#, path, path];
        for (steps, expected) in known.into_iter().enumerate() {
            assert_eq!(cut(path, steps), expected, "{steps}");
        }
    }
}
