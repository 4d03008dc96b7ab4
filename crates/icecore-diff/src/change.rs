//! Differences between two documents.

use crate::lockstep::Algorithm;
use crate::moves;
use crate::pairs::Sides;
use crate::rules::Rules;
use crate::side::Side;
use crate::walk::{FoundChange, OrderedChange, TreeWalk};
use crate::{links, value_path::ValuePath};
use icecore::value::Comparison;
use icecore::{Cursor, Document, Key, Value};
use std::collections::HashMap;

/// Kind of a change of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The value is only in the second document.
    Added,
    /// The value is only in the first document.
    Removed,
    /// Another value has replaced the value.
    Changed,
    /// The value is an object, and has another class.
    Class,
    /// The value is at another place.
    Moved,
}

impl ChangeKind {
    pub(crate) const ALL: [ChangeKind; 5] =
        [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed, ChangeKind::Class, ChangeKind::Moved];

    /// Returns the kind as one word, as in `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
            ChangeKind::Class => "class",
            ChangeKind::Moved => "moved",
        }
    }
}

/// One difference.
#[derive(Clone, Copy, Debug)]
pub struct Change<'d> {
    /// Kind of the change.
    pub kind: ChangeKind,
    /// The value in the first document, if it exists there.
    pub left: Option<Cursor<'d>>,
    /// The value in the second document, if it exists there.
    pub right: Option<Cursor<'d>>,
    /// The new place of the value. The parts are the container in the first document, the position in the
    /// corresponding container of the second document, and the key.
    pub(crate) into: Option<(Cursor<'d>, u32, Option<Key<'d>>)>,
}

/// The differences between two documents: see [`find_differences`].
#[derive(Clone, Debug)]
pub struct Differences<'d> {
    pub(crate) left: &'d Document<'d>,
    pub(crate) right: &'d Document<'d>,
    pub(crate) rules: Rules,
    changes: Vec<Change<'d>>,
    has_other_header: bool,
    /// Values of the second document to which links lead, with the value of the first document at their place.
    pub(crate) left_by_right_target: HashMap<u32, u32>,
}

/// Compares two documents.
///
/// Lists are aligned by their contents, not by position; see the [crate's page](crate) for the method, and [`Rules`]
/// for what counts as equal. Work and memory are linear in the size of the documents, for any content.
///
/// ```
/// use icecore_diff::{Rules, find_differences};
/// let a = icecore::read(br#"{"to": "ann", "n": [1, 2, 3]}"#)?;
/// let b = icecore::read(br#"{"to": "bob", "n": [0, 1, 2, 3], "x": null}"#)?;
/// let differences = find_differences(&a, &b, Rules::new());
/// let kinds = differences.changes().iter().map(|change| change.kind.as_str());
/// let changes: Vec<_> = kinds.zip(differences.list_paths()).collect();
/// assert_eq!(changes, [("changed", "$.to".into()), ("added", "$.n[0]".into()), ("added", "$.x".into())]);
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn find_differences<'d>(left: &'d Document<'_>, right: &'d Document<'_>, rules: Rules) -> Differences<'d> {
    compare_documents(left, right, rules, Algorithm::Fast)
}

/// Returns the same as [`find_differences`]. This is the readable twin of the fast code: every value is examined
/// separately, and lists are aligned as a whole, by the numbers of all their items.
///
/// ```
/// use icecore_diff::{Rules, find_differences, find_reference_differences};
/// let (a, b) = (icecore::read(b"[1, 2, 3]")?, icecore::read(b"[1, 3]")?);
/// assert_eq!(find_reference_differences(&a, &b, Rules::new()).list_paths(), find_differences(&a, &b, Rules::new()).list_paths());
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn find_reference_differences<'d>(
    left: &'d Document<'_>,
    right: &'d Document<'_>,
    rules: Rules,
) -> Differences<'d> {
    compare_documents(left, right, rules, Algorithm::Reference)
}

fn compare_documents<'d>(
    left: &'d Document<'_>,
    right: &'d Document<'_>,
    rules: Rules,
    algorithm: Algorithm,
) -> Differences<'d> {
    let (left_side, right_side) = (Side::new(left, rules), Side::new(right, rules));
    let sides = Sides { left: &left_side, right: &right_side };
    let mut differences = Differences {
        left,
        right,
        rules,
        changes: Vec::new(),
        has_other_header: false,
        left_by_right_target: HashMap::new(),
    };
    let mut walk = TreeWalk::new(sides, algorithm);
    // Documents are equal even if another place of a shared value is the link.
    if rules.is_exact() && !walk.are_documents_equal() && Comparison::new().equal(left, right) {
        return differences;
    }
    walk.walk_trees();
    let TreeWalk { mut equality, changes: mut ordered_changes, linked, mut lockstep, .. } = walk;
    moves::find_moves(sides, &mut lockstep, &mut equality, &mut ordered_changes);
    links::compare_links(sides, &mut equality, linked, &lockstep.counterparts, &mut ordered_changes);
    differences.left_by_right_target = lockstep.counterparts.by_right_node();
    ordered_changes.sort_by_key(|entry| entry.order);
    differences.changes = ordered_changes
        .into_iter()
        .map(|OrderedChange { change: found_change, .. }| Change::from_found(found_change))
        .collect();
    differences.has_other_header = match (left.header(), right.header()) {
        (Some(left), Some(right)) => !equality.are_equal(sides, left, right),
        (None, None) => false,
        _ => true,
    };
    differences
}

impl<'d> Change<'d> {
    fn from_found(found_change: FoundChange<'d>) -> Change<'d> {
        let change = |kind, left, right| Change { kind, left, right, into: None };
        match found_change {
            FoundChange::Changed(left, right) => change(ChangeKind::Changed, Some(left), Some(right)),
            FoundChange::Class(left, right) => change(ChangeKind::Class, Some(left), Some(right)),
            FoundChange::Removed(left, _) => change(ChangeKind::Removed, Some(left), None),
            FoundChange::Added(target) => {
                let into = Some((target.into, target.index, target.key));
                Change { into, ..change(ChangeKind::Added, None, Some(target.value)) }
            }
            FoundChange::Moved(left, target) => {
                let into = Some((target.into, target.index, target.key));
                Change { into, ..change(ChangeKind::Moved, Some(left), Some(target.value)) }
            }
        }
    }
}

impl<'d> Differences<'d> {
    /// Returns true if there are no differences.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && !self.has_other_header
    }

    /// Returns the differences, in the order of the first document.
    pub fn changes(&self) -> &[Change<'d>] {
        &self.changes
    }

    /// Returns true if the user headers of two Sereal documents differ. They have no path.
    pub fn has_other_header(&self) -> bool {
        self.has_other_header
    }

    /// Returns the rules of the comparison.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns the path of each change, as `icecore inspect` shows paths. It is a path in the first document, or for
    /// an added value in the second one. The work is linear in the documents, for any number of changes.
    pub fn list_paths(&self) -> Vec<String> {
        self.collect_paths(|change| match change.left {
            Some(left) => (true, left),
            None => (false, change.right.unwrap_or(self.right.root())),
        })
    }

    /// Returns the path of each change in the second document, or for a removed value in the first.
    pub fn list_new_paths(&self) -> Vec<String> {
        self.collect_paths(|change| match change.right {
            Some(right) => (false, right),
            None => (true, change.left.unwrap_or(self.left.root())),
        })
    }

    fn collect_paths(&self, value_of: impl Fn(&Change<'d>) -> (bool, Cursor<'d>)) -> Vec<String> {
        let mut paths = vec![String::new(); self.changes.len()];
        for is_left in [true, false] {
            let wanted = self.changes.iter().map(&value_of).enumerate();
            let wanted: Vec<_> =
                wanted.filter(|(_, (side, _))| *side == is_left).map(|(index, (_, value))| (index, value)).collect();
            let document = if is_left { self.left } else { self.right };
            let nodes: Vec<u32> = wanted.iter().map(|(_, value)| value.index()).collect();
            for ((index, _), path) in wanted.into_iter().zip(ValuePath::find_paths(document, &nodes)) {
                paths[index] = path;
            }
        }
        paths
    }
}

/// Returns the class name of an object.
pub(crate) fn object_class<'d>(object: Cursor<'d>) -> &'d [u8] {
    match object.value() {
        Value::Object(class, _) => class,
        _ => &[],
    }
}
