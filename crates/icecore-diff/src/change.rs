//! What differs between two documents.

use crate::moved;
use crate::pairs::Sides;
use crate::rules::Rules;
use crate::side::Side;
use crate::walk::{Found, Walk, What};
use crate::{links, place::Place};
use icecore::value::Comparison;
use icecore::{Cursor, Document, Key, Value};

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is in the second document alone.
    Added,
    /// It is in the first document alone.
    Removed,
    /// Another value is in its place.
    Changed,
    /// It is an object, and has another class.
    Class,
    /// It is at another place.
    Moved,
}

impl ChangeKind {
    pub(crate) const ALL: [ChangeKind; 5] =
        [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed, ChangeKind::Class, ChangeKind::Moved];

    /// Its word, as in `--json`.
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

/// One thing that differs.
#[derive(Clone, Copy, Debug)]
pub struct Change<'d> {
    /// What became of it.
    pub kind: ChangeKind,
    /// The value in the first document, if it is there.
    pub left: Option<Cursor<'d>>,
    /// The value in the second document, if it is there.
    pub right: Option<Cursor<'d>>,
    /// Where it is put: the container of the first document, the position in that of the second,
    /// and the key.
    pub(crate) into: Option<(Cursor<'d>, u32, Option<Key<'d>>)>,
}

/// What differs between two documents: see [`differences`].
#[derive(Clone, Debug)]
pub struct Differences<'d> {
    pub(crate) left: &'d Document<'d>,
    pub(crate) right: &'d Document<'d>,
    pub(crate) rules: Rules,
    changes: Vec<Change<'d>>,
    has_other_header: bool,
}

/// Compares two documents.
///
/// Lists are aligned by what is in them, not by position; see the [crate's page](crate) for what
/// is done, and [`Rules`] for what is the same. Work and memory are linear in the documents,
/// whatever they hold.
///
/// ```
/// use icecore_diff::{Rules, differences};
/// let a = icecore::read(br#"{"to": "ann", "n": [1, 2, 3]}"#)?;
/// let b = icecore::read(br#"{"to": "bob", "n": [0, 1, 2, 3], "x": null}"#)?;
/// let found = differences(&a, &b, Rules::new());
/// let said: Vec<_> = found.changes().iter().zip(found.paths()).map(|(one, path)| (one.kind.as_str(), path)).collect();
/// assert_eq!(said, [("changed", "$.to".into()), ("added", "$.n[0]".into()), ("added", "$.x".into())]);
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn differences<'d>(left: &'d Document<'_>, right: &'d Document<'_>, rules: Rules) -> Differences<'d> {
    compare(left, right, rules, true)
}

/// As [`differences`], by the readable twin of what is fast: every value is looked at by itself, and
/// lists are aligned as a whole, by the numbers of all their items.
///
/// ```
/// use icecore_diff::{Rules, differences, reference_differences};
/// let (a, b) = (icecore::read(b"[1, 2, 3]")?, icecore::read(b"[1, 3]")?);
/// assert_eq!(reference_differences(&a, &b, Rules::new()).paths(), differences(&a, &b, Rules::new()).paths());
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn reference_differences<'d>(left: &'d Document<'_>, right: &'d Document<'_>, rules: Rules) -> Differences<'d> {
    compare(left, right, rules, false)
}

fn compare<'d>(left: &'d Document<'_>, right: &'d Document<'_>, rules: Rules, is_fast: bool) -> Differences<'d> {
    let (a, b) = (Side::new(left, rules), Side::new(right, rules));
    let sides = Sides { left: &a, right: &b };
    let mut differences = Differences { left, right, rules, changes: Vec::new(), has_other_header: false };
    let mut walk = Walk::new(sides, is_fast);
    // Which of two places of a shared value is the link makes no difference.
    if rules.is_exact() && !walk.is_whole_the_same() && Comparison::new().equal(left, right) {
        return differences;
    }
    walk.run();
    let Walk { mut same, mut found, linked, mut lockstep, .. } = walk;
    moved::find(sides, &mut lockstep, &mut same, &mut found);
    links::compare(sides, &mut same, linked, &lockstep.beside, &mut found);
    found.sort_by_key(|one| one.order);
    differences.changes = found.into_iter().map(|Found { what, .. }| Change::of(what)).collect();
    differences.has_other_header = match (left.header(), right.header()) {
        (Some(left), Some(right)) => !same.same(sides, left, right),
        (None, None) => false,
        _ => true,
    };
    differences
}

impl<'d> Change<'d> {
    fn of(what: What<'d>) -> Change<'d> {
        let change = |kind, left, right| Change { kind, left, right, into: None };
        match what {
            What::Changed(left, right) => change(ChangeKind::Changed, Some(left), Some(right)),
            What::Class(left, right) => change(ChangeKind::Class, Some(left), Some(right)),
            What::Removed(left, _) => change(ChangeKind::Removed, Some(left), None),
            What::Added(place) => {
                let into = Some((place.into, place.index, place.key));
                Change { into, ..change(ChangeKind::Added, None, Some(place.value)) }
            }
            What::Moved(left, place) => {
                let into = Some((place.into, place.index, place.key));
                Change { into, ..change(ChangeKind::Moved, Some(left), Some(place.value)) }
            }
        }
    }
}

impl<'d> Differences<'d> {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && !self.has_other_header
    }

    /// What differs, in the order of the first document.
    pub fn changes(&self) -> &[Change<'d>] {
        &self.changes
    }

    /// Whether the user headers of two Sereal documents differ: these are in no path.
    pub fn has_other_header(&self) -> bool {
        self.has_other_header
    }

    /// The rules that the documents were compared by.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The path of each change, as `icecore inspect` shows paths: in the first document, or of
    /// what was added in the second. Linear in the documents, however many there are.
    pub fn paths(&self) -> Vec<String> {
        self.paths_of(|change| match change.left {
            Some(left) => (true, left),
            None => (false, change.right.unwrap_or(self.right.root())),
        })
    }

    /// The path of each change in the second document; of what was removed in the first.
    pub fn new_paths(&self) -> Vec<String> {
        self.paths_of(|change| match change.right {
            Some(right) => (false, right),
            None => (true, change.left.unwrap_or(self.left.root())),
        })
    }

    fn paths_of(&self, of: impl Fn(&Change<'d>) -> (bool, Cursor<'d>)) -> Vec<String> {
        let mut paths = vec![String::new(); self.changes.len()];
        for is_left in [true, false] {
            let wanted = self.changes.iter().map(&of).enumerate();
            let wanted: Vec<_> =
                wanted.filter(|(_, (side, _))| *side == is_left).map(|(at, (_, to))| (at, to)).collect();
            let document = if is_left { self.left } else { self.right };
            let nodes: Vec<u32> = wanted.iter().map(|(_, to)| to.index()).collect();
            for ((at, _), path) in wanted.into_iter().zip(Place::paths(document, &nodes)) {
                paths[at] = path;
            }
        }
        paths
    }
}

/// The class name of an object.
pub(crate) fn class_of<'d>(object: Cursor<'d>) -> &'d [u8] {
    match object.value() {
        Value::Object(class, _) => class,
        _ => &[],
    }
}
