//! What differs between two documents, by paths.

use crate::describe::words;
use icecore::value::Comparison;
use icecore::{Cursor, Document, Key, Kind, raw::flag};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// How many characters are cited of a string.
const CHARACTERS: usize = 200;
/// How many bytes a path has.
const PATH: usize = 1_000;

/// One difference.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// `added`, `removed`, `changed`.
    pub what: &'static str,
    /// Where: in the first document, or of what was added in the second.
    pub path: String,
    /// What stands in the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Side>,
    /// What stands in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Side>,
}

/// A value in a few words.
#[derive(Debug, Serialize)]
pub struct Side {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What it says, or how much is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its node.
    pub node: u32,
}

/// What differs.
#[derive(Debug, Serialize)]
pub struct Differences {
    /// Whether a program could not tell the documents apart.
    pub is_equal: bool,
    /// The first ones.
    pub differences: Vec<Difference>,
    /// How many there are in all.
    pub count: u64,
    /// Whether everything was compared: not, if links make far more pairs than there are values.
    pub is_whole: bool,
}

/// Compares two documents: lists by position, maps by key. Links are followed; whether two
/// values are one, the order of keys, and whether a string is marked as text makes no difference
/// here, only for [`Differences::is_equal`].
///
/// ```
/// let a = icecore::read(br#"{"to": "ann", "n": [1, 2]}"#)?;
/// let b = icecore::read(br#"{"to": "bob", "n": [1], "x": null}"#)?;
/// let found = icecore_inspect::differences(&a, &b, 10);
/// let told: Vec<_> = found.differences.iter().map(|one| (one.what, &*one.path)).collect();
/// assert_eq!(told, [("changed", "$.to"), ("removed", "$.n[1]"), ("added", "$.x")]);
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn differences(left: &Document<'_>, right: &Document<'_>, most: usize) -> Differences {
    let budget = (left.nodes().len() + right.nodes().len()).saturating_mul(4);
    let found = Differences { is_equal: false, differences: Vec::new(), count: 0, is_whole: true };
    let mut walk = Walk { found, most, seen: HashSet::new(), stack: Vec::new() };
    walk.stack.push(Task::Pair(left.root(), right.root()));
    match (left.header(), right.header()) {
        (Some(left), Some(right)) => walk.stack.push(Task::Pair(left, right)),
        (Some(left), None) => walk.stack.push(Task::Removed(left)),
        (None, Some(right)) => walk.stack.push(Task::Added(right)),
        (None, None) => {}
    }
    walk.run(budget);
    let mut found = walk.found;
    found.is_equal = found.count == 0 && Comparison::new().equal(left, right);
    found
}

#[derive(Clone, Copy)]
enum Task<'d> {
    Pair(Cursor<'d>, Cursor<'d>),
    Removed(Cursor<'d>),
    Added(Cursor<'d>),
}

struct Walk<'d> {
    found: Differences,
    most: usize,
    /// Pairs of values that links name.
    seen: HashSet<(u32, u32)>,
    stack: Vec<Task<'d>>,
}

impl<'d> Walk<'d> {
    fn run(&mut self, mut budget: usize) {
        while let Some(task) = self.stack.pop() {
            let Some(left) = budget.checked_sub(1) else {
                self.found.is_whole = false;
                return;
            };
            budget = left;
            match task {
                Task::Pair(left, right) => self.pair(left, right),
                Task::Removed(left) => self.note("removed", Some(left), None),
                Task::Added(right) => self.note("added", None, Some(right)),
            }
        }
    }

    fn note(&mut self, what: &'static str, left: Option<Cursor<'d>>, right: Option<Cursor<'d>>) {
        self.found.count += 1;
        if self.found.differences.len() < self.most {
            let path = left.or(right).map_or_else(String::new, |here| here.path());
            let path = icecore::text::shortened(&path, PATH);
            let side = |here: Option<Cursor<'d>>| here.map(Side::of);
            self.found.differences.push(Difference { what, path: path.into(), left: side(left), right: side(right) });
        }
    }

    fn pair(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let (a, b) = (left.target(), right.target());
        let is_shared = a.node().has(flag::TARGET) || b.node().has(flag::TARGET);
        if is_shared && !self.seen.insert((a.index(), b.index())) {
            return;
        }
        if !a.kind().is_container() || !b.kind().is_container() {
            if !is_same(a, b) {
                self.note("changed", Some(left), Some(right));
            }
            return;
        }
        if a.kind() != b.kind() || a.node().form() != b.node().form() {
            return self.note("changed", Some(left), Some(right));
        }
        if a.class() != b.class() {
            self.note("changed", Some(left), Some(right));
        }
        let start = self.stack.len();
        match a.kind() {
            Kind::Map => {
                self.entries(a, b);
                self.pairs(a.default_value().into_iter(), b.default_value().into_iter());
            }
            Kind::Attrs => {
                self.pairs(a.children().take(1), b.children().take(1));
                self.entries(a, b);
            }
            _ => self.pairs(a.children(), b.children()),
        }
        // What was pushed last is looked at first.
        self.stack[start..].reverse();
    }

    fn pairs(&mut self, mut left: impl Iterator<Item = Cursor<'d>>, mut right: impl Iterator<Item = Cursor<'d>>) {
        loop {
            self.stack.push(match (left.next(), right.next()) {
                (Some(left), Some(right)) => Task::Pair(left, right),
                (Some(left), None) => Task::Removed(left),
                (None, Some(right)) => Task::Added(right),
                (None, None) => return,
            });
        }
    }

    fn entries(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        // Entries with the same key are paired in their order.
        let mut there: HashMap<Name<'d>, Vec<Entry<'d>>> = HashMap::new();
        let right = named(right);
        for entry in right.iter().rev() {
            there.entry(entry.name).or_default().push(*entry);
        }
        let mut paired = HashSet::new();
        for entry in named(left) {
            let Some(other) = there.get_mut(&entry.name).and_then(Vec::pop) else {
                self.stack.push(Task::Removed(entry.value));
                continue;
            };
            paired.insert(other.value.index());
            if let (Key::Value(key), Key::Value(other)) = (entry.key, other.key) {
                self.stack.push(Task::Pair(key, other));
            }
            self.stack.push(Task::Pair(entry.value, other.value));
        }
        let is_new = |entry: &&Entry<'_>| !paired.contains(&entry.value.index());
        self.stack.extend(right.iter().filter(is_new).map(|entry| Task::Added(entry.value)));
    }
}

/// What tells keys apart: kind, number and bytes. Of keys that are values of another kind, the
/// position among these.
type Name<'d> = (u8, u64, &'d [u8]);

#[derive(Clone, Copy)]
struct Entry<'d> {
    name: Name<'d>,
    key: Key<'d>,
    value: Cursor<'d>,
}

fn named<'d>(map: Cursor<'d>) -> Vec<Entry<'d>> {
    let mut values = 0;
    let mut entry = |(key, value): (Key<'d>, Cursor<'d>)| {
        let node = key.node();
        let (kind, number) = match key {
            Key::Value(_) => {
                values += 1;
                (u8::MAX, values)
            }
            Key::Name(_) if node.kind.has_bytes() => (string_kind(node.kind) as u8, 0),
            Key::Name(_) => (node.kind as u8, node.payload),
        };
        Entry { name: (kind, number, key.bytes()), key, value }
    };
    map.entries().map(&mut entry).collect()
}

/// Strings are the same whatever they are marked as.
fn string_kind(kind: Kind) -> Kind {
    if matches!(kind, Kind::Text | Kind::Encoded) { Kind::Bytes } else { kind }
}

/// Whether two values are the same of which not both are containers.
fn is_same(left: Cursor<'_>, right: Cursor<'_>) -> bool {
    let (x, y) = (left.node(), right.node());
    if let (Some(x), Some(y)) = (float(left), float(right)) {
        return x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
    }
    if string_kind(x.kind) != string_kind(y.kind) {
        return false;
    }
    match x.kind {
        Kind::Null | Kind::Hole => true,
        kind if kind.has_bytes() => bytes(left) == bytes(right) && (x.flags ^ y.flags) & flag::NEGATIVE == 0,
        _ => x.payload == y.payload,
    }
}

fn bytes(here: Cursor<'_>) -> &[u8] {
    here.document().bytes(here.node())
}

fn float(here: Cursor<'_>) -> Option<f64> {
    matches!(here.kind(), Kind::Float | Kind::Float32).then(|| here.as_f64()).flatten()
}

impl Side {
    fn of(here: Cursor<'_>) -> Side {
        let words = words(here.document(), here.index(), CHARACTERS);
        Side { kind: words.kind, class: words.class, text: words.value.map(|(_, text)| text), node: here.index() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore::{Limits, Stage};

    fn read<'b>(format: &str, bytes: &'b [u8]) -> Document<'b> {
        icecore::read_as(bytes, &Stage::parse(format).expect("a format"), &Limits::new()).expect("a document")
    }

    fn told(left: &Document<'_>, right: &Document<'_>) -> Vec<String> {
        let found = differences(left, right, 100);
        assert!(found.is_whole);
        assert_eq!(found.count, found.differences.len() as u64);
        found.differences.iter().map(|one| format!("{} {}", one.what, one.path)).collect()
    }

    #[test]
    fn lists_maps_and_classes() {
        let a = read("php", b"O:1:\"A\":2:{s:1:\"a\";a:2:{i:0;i:1;i:1;i:2;}s:1:\"b\";N;}");
        let b = read("php", b"O:1:\"B\":2:{s:1:\"a\";a:3:{i:0;i:1;i:1;d:2;i:2;i:3;}s:1:\"c\";N;}");
        assert_eq!(told(&a, &b), ["changed $", "changed $.a[1]", "added $.a[2]", "removed $.b", "added $.c"]);
        assert_eq!(told(&a, &a), [""; 0]);
        assert!(differences(&a, &a, 1).is_equal);
    }

    #[test]
    fn the_same_values_of_two_formats_do_not_differ() {
        let json = read("json", br#"{"to":"ann","list":[1,2.5,null,true]}"#);
        let marshal = icecore::convert(br#"{"list":[1,2.5,null,true],"to":"ann"}"#, "json", "marshal");
        let marshal = marshal.expect("Marshal");
        let ruby = read("marshal", &marshal);
        assert_eq!(told(&json, &ruby), [""; 0]);
        assert!(!differences(&json, &ruby, 1).is_equal, "the order is another");
    }

    #[test]
    fn cycles_end_and_pairs_have_a_bound() {
        let cycle = read("php", b"a:1:{i:0;R:1;}");
        let longer = read("php", b"a:1:{i:0;a:1:{i:0;R:1;}}");
        assert!(differences(&cycle, &longer, 10).is_whole);
        // Two rings whose lengths have no common divisor meet in each pair.
        let ring = |length: usize| {
            let text = format!("{}R:1;{}", "a:1:{i:0;".repeat(length), "}".repeat(length));
            text.into_bytes()
        };
        let (short, long) = (ring(89), ring(97));
        let found = differences(&read("php", &short), &read("php", &long), 10);
        assert_eq!((found.count, found.is_whole, found.is_equal), (0, false, false));
    }

    /// Whatever two documents are: nothing differs exactly if no value does, and what is removed
    /// on one way is added on the other.
    #[test]
    fn made_up_pairs() {
        let mut seed = 7_u64;
        let mut next = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        fn value(next: &mut impl FnMut(u64) -> u64, depth: u32) -> String {
            match next(if depth == 0 { 4 } else { 6 }) {
                0 => "null".to_owned(),
                1 => next(3).to_string(),
                2 => format!("{}.5", next(3)),
                3 => format!("\"{}\"", ["", "a", "é"][next(3) as usize]),
                4 => format!("[{}]", (0..next(4)).map(|_| value(next, depth - 1)).collect::<Vec<_>>().join(",")),
                _ => {
                    let entry = |at: u64| format!("\"{at}\":{}", value(next, depth - 1));
                    format!(
                        "{{{}}}",
                        (0..4).filter(|at| at % 2 == u64::from(depth % 2)).map(entry).collect::<Vec<_>>().join(",")
                    )
                }
            }
        }
        let mut equal = 0;
        for _ in 0..2_000 {
            let (a, b) = (value(&mut next, 2), value(&mut next, 2));
            let (a, b) = (read("json", a.as_bytes()), read("json", b.as_bytes()));
            let (forth, back) = (told(&a, &b), told(&b, &a));
            assert_eq!(forth.is_empty(), Comparison::new().any_order().equal(&a, &b));
            let count = |told: &[String], what: &str| told.iter().filter(|one| one.starts_with(what)).count();
            assert_eq!(count(&forth, "removed"), count(&back, "added"));
            assert_eq!(count(&forth, "changed"), count(&back, "changed"));
            equal += usize::from(forth.is_empty());
        }
        assert!((10..1_990).contains(&equal), "{equal}");
    }
}
