//! Changes inside of a value of one of Ruby's own classes, such as a Date: people see the value, not its raw parts.

use icecore::{Cursor, Document, Kind, Known};
use icecore_diff::{Change, ChangeKind};
use icecore_inspect::describe::summarize_known;

/// Maximum number of changes for which the path of the value is searched, because each search takes long.
const MAX_PATH_SEARCHES: usize = 1_000;

/// A change as it is shown, with its path in each document.
pub struct ShownChange<'d> {
    pub change: Change<'d>,
    pub path: String,
    pub new_path: String,
}

/// Replaces changes inside of values that a text describes completely by one change of the value.
pub fn show_known_values<'d>(
    changes: &[Change<'d>],
    paths: impl Iterator<Item = (String, String)>,
) -> Vec<ShownChange<'d>> {
    let document =
        |side: fn(&Change<'d>) -> Option<Cursor<'d>>| changes.iter().find_map(side).map(|side| side.document());
    let left_values = document(|change| change.left).map(KnownValues::find_all).unwrap_or_default();
    let right_values = document(|change| change.right).map(KnownValues::find_all).unwrap_or_default();
    let mut shown: Vec<ShownChange<'d>> = Vec::new();
    let mut search_count = 0;
    // The value whose change was added last.
    let mut last_value = None;
    for (change, (path, new_path)) in changes.iter().zip(paths) {
        let values = match (change.kind, change.left, change.right) {
            (ChangeKind::Changed, Some(left), Some(right)) if search_count < MAX_PATH_SEARCHES => {
                left_values.enclosing(left).zip(right_values.enclosing(right))
            }
            _ => None,
        };
        let values = values.filter(|(left, right)| describe_known(*left) != describe_known(*right));
        let Some((left, right)) = values else {
            last_value = None;
            shown.push(ShownChange { change: *change, path, new_path });
            continue;
        };
        if last_value.replace((left.index(), right.index())) == Some((left.index(), right.index())) {
            continue;
        }
        search_count += 1;
        let (path, new_path) = (left.document().path(left.index()), right.document().path(right.index()));
        let mut change = *change;
        (change.left, change.right) = (Some(left), Some(right));
        shown.push(ShownChange { change, path, new_path });
    }
    shown
}

/// Describes a value that a text describes completely: `Date 2020-01-02`.
pub fn describe_known(value: Cursor<'_>) -> Option<String> {
    let summary = summarize_known(value.document(), value.index(), usize::MAX).filter(|known| known.is_complete)?;
    Some(format!("{} {}", summary.class, summary.text))
}

/// The values of a document that a text describes completely, in order.
#[derive(Default)]
struct KnownValues {
    /// The node of each value, and the node after it.
    ranges: Vec<(u32, u32)>,
}

impl KnownValues {
    fn find_all(document: &Document<'_>) -> KnownValues {
        let mut values = KnownValues::default();
        // Each of these values has a class.
        if document.tape().classes().is_empty() {
            return values;
        }
        let mut index = 0;
        while let Some(cursor) = document.at(index) {
            index += 1;
            let may_be_known = matches!(cursor.kind(), Kind::Object | Kind::Opaque | Kind::Attrs);
            match may_be_known.then(|| Known::of(cursor)).flatten() {
                None | Some(Known::Set(_) | Known::Map(_) | Known::Exception(_)) => {}
                Some(_) => {
                    let end = cursor.node().end();
                    values.ranges.push((cursor.index(), end));
                    index = end.max(index);
                }
            }
        }
        values
    }

    /// Returns the value that contains a part of it.
    fn enclosing<'d>(&self, part: Cursor<'d>) -> Option<Cursor<'d>> {
        let position = self.ranges.partition_point(|(start, _)| *start <= part.index()).checked_sub(1)?;
        let (start, end) = self.ranges.get(position)?;
        (part.index() < *end).then(|| part.document().at(*start)).flatten()
    }
}
