//! Writes a difference as a document, and as `json:typed`.

use crate::change::{Change, ChangeKind, Differences, class_of};
use crate::emit::{Edits, Emitter, FIRST, VALUES};
use crate::hash::Hashes;
use crate::place::{Place, Step};
use crate::rules::Rules;
use crate::same;
use icecore::value::Form;
use icecore::{Cursor, Document, Error, Key, Kind, Limits, Stage, raw::flag};
use std::collections::{HashMap, HashSet};

/// The version of the written form.
pub(crate) const VERSION: i64 = 1;
/// The key that identifies a difference.
pub(crate) const MARK: &str = "icecore_difference";

impl<'d> Differences<'d> {
    /// Returns the difference as a document, which [`Patch`](crate::Patch) reads and `docs/diff.md` describes. All
    /// values are preserved.
    ///
    /// # Errors
    /// Of kind `Usage`, for documents that no reader produces.
    pub fn to_document(&self) -> Result<Document<'static>, Error> {
        let mut out = Writer { out: Emitter::new(Edits::default()), is_text: self.is_mostly_text() };
        out.out.builder.begin_map();
        out.key(MARK);
        out.out.builder.int(VERSION);
        for (name, is_set) in [("exact", self.rules.is_exact()), ("across", self.rules.is_across())] {
            out.key(name);
            out.out.builder.bool(is_set);
        }
        out.key("fingerprint");
        out.word(&format!("{:016x}", Hashes::new(self.rules, self.left).get(self.left.root().index())));
        out.key("changes");
        out.out.builder.begin_array();
        match self.steps() {
            Some(steps) => {
                for ((change, path), steps) in self.changes().iter().zip(self.paths()).zip(&steps) {
                    out.change(change, &path, steps);
                }
            }
            // If the paths are longer than the documents, the whole document is replaced.
            None => {
                let whole = Change {
                    kind: ChangeKind::Changed,
                    left: Some(self.left.root()),
                    right: Some(self.right.root()),
                    into: None,
                };
                out.change(&whole, "$", &Steps::default());
            }
        }
        out.out.builder.end();
        if self.has_other_header() {
            for (name, of, header) in
                [("old_header", FIRST, self.left.header()), ("header", VALUES, self.right.header())]
            {
                if let Some(header) = header {
                    out.key(name);
                    out.out.value(of, header);
                }
            }
            out.key("has_header");
            out.out.builder.bool(self.right.header().is_some());
        }
        out.out.builder.end();
        out.out.finish().map(|(document, _)| document)
    }

    /// Returns the difference as `json:typed`.
    ///
    /// # Errors
    /// Of kind `Limit`, if values are nested too deeply; those of [`Differences::to_document`].
    pub fn to_json(&self, limits: &Limits) -> Result<Vec<u8>, Error> {
        let mut json = Vec::new();
        icecore::write_to(&self.to_document()?, &Stage::parse("json:typed")?, &deeper(limits), &mut json)?;
        json.push(b'\n');
        Ok(json)
    }

    /// Whether most strings are text: then the words of the difference are text, too.
    fn is_mostly_text(&self) -> bool {
        const LOOK: usize = 10_000;
        let nodes = self.left.nodes().iter().take(LOOK).chain(self.right.nodes().iter().take(LOOK));
        let count = nodes.fold(0_i64, |count, node| match node.kind {
            Kind::Text => count + 1,
            Kind::Bytes => count - 1,
            _ => count,
        });
        count >= 0
    }

    /// Returns the paths to the changes; `None` if they are too long together.
    fn steps(&self) -> Option<Vec<Steps<'d>>> {
        const EACH: usize = 16;
        let nodes = self.left.nodes().len() + self.right.nodes().len();
        let mut budget = nodes.saturating_mul(EACH).saturating_add(1 << 20);
        let mut all: Vec<Steps<'d>> = self.changes().iter().map(|_| Steps::default()).collect();
        let mut wanted: Vec<(usize, bool, u32)> = Vec::new();
        for (at, change) in self.changes().iter().enumerate() {
            if let Some(left) = change.left {
                wanted.push((at, true, left.index()));
            }
            if let Some((into, ..)) = &change.into {
                wanted.push((at, false, into.index()));
            }
        }
        let nodes: Vec<u32> = wanted.iter().map(|(_, _, node)| *node).collect();
        Place::visit(self.left, &nodes, |found, place| {
            budget = budget.saturating_sub(place.depth());
            if budget > 0 {
                let (at, is_path, _) = wanted[found];
                let steps = place.steps().collect();
                *(if is_path { &mut all[at].path } else { &mut all[at].into }) = steps;
            }
        });
        if budget == 0 {
            return None;
        }
        let mut twice = Twice { rules: self.rules, document: self.left, known: HashMap::new() };
        let steps = all.iter_mut().flat_map(|steps| steps.path.iter_mut().chain(&mut steps.into));
        for step in steps {
            if let Step::Key(_, map, position) = *step
                && twice.has(map, position)
            {
                *step = Step::Entry(position);
            }
        }
        Some(all)
    }
}

/// Keys that a map has twice: they do not identify an entry.
struct Twice<'d> {
    rules: Rules,
    document: &'d Document<'d>,
    /// For each examined map, the positions of such entries.
    known: HashMap<u32, HashSet<u32>>,
}

impl Twice<'_> {
    fn has(&mut self, map: u32, position: u32) -> bool {
        let (document, rules) = (self.document, self.rules);
        let positions = self.known.entry(map).or_insert_with(|| {
            let Some(map) = document.at(map) else { return HashSet::new() };
            let is_field = same::is_fields(map);
            let mut met: HashMap<u64, u32> = HashMap::new();
            let mut twice = HashSet::new();
            let rules = if rules.is_across() { Rules::new().across() } else { Rules::new() };
            for (at, (key, _)) in (0..).zip(map.entries()) {
                let Key::Name(name) = key else { continue };
                let hash = Hashes::loose_key(rules, document, &name.node, name.bytes, is_field);
                if let Some(other) = met.insert(hash, at) {
                    twice.extend([other, at]);
                }
            }
            twice
        });
        positions.contains(&position)
    }
}

/// Returns these limits with more depth, for the structure around the values.
pub(crate) fn deeper(limits: &Limits) -> Limits {
    let mut limits = limits.clone();
    limits.depth = limits.depth.saturating_add(8);
    limits
}

/// The place of a change.
#[derive(Default)]
struct Steps<'d> {
    path: Vec<Step<'d>>,
    into: Vec<Step<'d>>,
}

struct Writer<'d> {
    out: Emitter<'d>,
    is_text: bool,
}

impl<'d> Writer<'d> {
    fn key(&mut self, name: &str) {
        match self.is_text {
            true => self.out.builder.text_key(name),
            false => self.out.builder.bytes_key(name),
        };
    }

    fn word(&mut self, word: &str) {
        match self.is_text {
            true => self.out.builder.text(word),
            false => self.out.builder.bytes(word),
        };
    }

    fn change(&mut self, change: &Change<'d>, path: &str, steps: &Steps<'d>) {
        self.out.builder.begin_map();
        self.key("op");
        self.word(change.kind.as_str());
        self.key("where");
        self.word(path);
        if let Some(left) = change.left {
            self.key("path");
            self.steps(&steps.path, left.document());
        }
        if let Some((into, index, key)) = change.into {
            self.key("in");
            self.steps(&steps.into, into.document());
            self.key("index");
            self.out.builder.int(i64::from(index));
            if let (Some(key), Some(right)) = (key, change.right) {
                self.key("key");
                self.name(&key, right.document(), VALUES);
                if key.node().has(flag::PLACEHOLDER) {
                    self.key("absent");
                    self.out.builder.bool(true);
                }
            }
        }
        if change.kind == ChangeKind::Class {
            for (name, side) in [("old", change.left), ("new", change.right)] {
                self.key(name);
                self.class(side);
            }
        } else {
            let old = change.left.map(|left| ("old", FIRST, left));
            // A moved value stays the same.
            let new = change.right.filter(|_| change.kind != ChangeKind::Moved).map(|right| ("new", VALUES, right));
            for (name, of, value) in old.into_iter().chain(new) {
                self.key(name);
                self.out.value(of, value);
            }
        }
        self.out.builder.end();
    }

    /// Writes a class name with the kind that marks it as one.
    fn class(&mut self, object: Option<Cursor<'d>>) {
        self.out.builder.module(object.map_or(&b""[..], class_of), Form::Usual);
    }

    fn steps(&mut self, steps: &[Step<'d>], document: &'d Document<'d>) {
        self.out.builder.begin_array();
        for step in steps {
            match step {
                Step::Item(position) => drop(self.out.builder.int(i64::from(*position))),
                Step::Key(key @ Key::Name(_), ..) => self.name(key, document, FIRST),
                Step::Key(key, ..) => {
                    self.out.builder.begin_map();
                    self.key("key");
                    self.name(key, document, FIRST);
                    self.out.builder.end();
                }
                Step::Part(position) => self.position("part", *position),
                Step::Entry(position) => self.position("entry", *position),
            }
        }
        self.out.builder.end();
    }

    /// Writes a step by position.
    fn position(&mut self, name: &str, position: u32) {
        self.out.builder.begin_map();
        self.key(name);
        self.out.builder.int(i64::from(position)).end();
    }

    /// Writes a key as a value.
    fn name(&mut self, key: &Key<'d>, document: &'d Document<'d>, of: usize) {
        let b = &mut self.out.builder;
        match key {
            Key::Value(key) => self.out.value(of, *key),
            Key::Name(name) => {
                let encoding = || crate::emit::encoding(document, &name.node);
                match name.node.kind {
                    Kind::Int => b.int(name.node.payload as i64),
                    Kind::Text => b.loose_text(name.bytes),
                    Kind::Symbol => b.symbol(name.bytes, &encoding()),
                    Kind::Encoded => b.encoded(name.bytes, &encoding()),
                    _ => b.bytes(name.bytes),
                };
            }
        }
    }
}
