//! Writes a difference as a document, and as `json:typed`.

use crate::change::{Change, ChangeKind, Differences, object_class};
use crate::emit::{Edits, Emitter, FIRST, VALUES};
use crate::equality;
use crate::hash::{Hashes, has_cycle};
use crate::rules::Rules;
use crate::value_path::{Step, ValuePath};
use icecore::raw::{IS_KEY, flag};
use icecore::value::Form;
use icecore::{Cursor, Document, Error, Key, Kind, Limits, Stage};
use std::collections::{HashMap, HashSet};

/// The version of the written form.
pub(crate) const VERSION: i64 = 1;
/// The key that identifies a difference.
pub(crate) const FORMAT_KEY: &str = "icecore_difference";

impl<'d> Differences<'d> {
    /// Returns the difference as a document. [`Patch`](crate::Patch) reads it, and `docs/diff.md` describes its form.
    /// All values are preserved.
    ///
    /// # Errors
    /// An error of kind `Usage`, for documents that no reader produces.
    pub fn to_document(&self) -> Result<Document<'static>, Error> {
        let paths = self.collect_steps();
        let omitted_links = paths.iter().flatten().flat_map(|path| path.links.iter().map(|link| link.node)).collect();
        let edits = Edits { omitted_links, ..Edits::default() };
        let mut writer = DifferenceWriter { left: self.left, out: Emitter::new(edits), is_text: self.is_mostly_text() };
        writer.out.builder.begin_map();
        writer.write_key(FORMAT_KEY);
        writer.out.builder.int(VERSION);
        for (name, is_set) in [("exact", self.rules.is_exact()), ("across", self.rules.is_across_formats())] {
            writer.write_key(name);
            writer.out.builder.bool(is_set);
        }
        writer.write_key("fingerprint");
        writer.write_word(&fingerprint(self.rules, self.left));
        // Rules that ignore sharing call two documents equal although the same changes lead to different documents.
        // So the result is checked too. With exact rules this is unnecessary, because the fingerprint contains the
        // sharing. Across formats it is impossible, because equal values may have different hashes.
        if !self.rules.is_exact() && !self.rules.is_across_formats() && !has_cycle(self.right) {
            writer.write_key("result");
            writer.write_word(&fingerprint(self.rules, self.right));
        }
        writer.write_key("changes");
        writer.out.builder.begin_array();
        match paths {
            Some(steps) => {
                for ((change, path), steps) in self.changes().iter().zip(self.list_paths()).zip(&steps) {
                    writer.write_change(change, &path, steps);
                }
            }
            // If the paths are longer than the documents, the whole document is replaced.
            None => {
                let whole_change = Change {
                    kind: ChangeKind::Changed,
                    left: Some(self.left.root()),
                    right: Some(self.right.root()),
                    into: None,
                };
                writer.write_change(&whole_change, "$", &ChangePaths::default());
            }
        }
        writer.out.builder.end();
        if self.has_other_header() {
            for (name, source, header) in
                [("old_header", FIRST, self.left.header()), ("header", VALUES, self.right.header())]
            {
                if let Some(header) = header {
                    writer.write_key(name);
                    writer.out.write_value(source, header);
                }
            }
            writer.write_key("has_header");
            writer.out.builder.bool(self.right.header().is_some());
        }
        writer.out.builder.end();
        writer.out.finish().map(|(document, _)| document)
    }

    /// Returns the difference as `json:typed`.
    ///
    /// # Errors
    /// An error of kind `Limit` if values are nested too deeply, and those of [`Differences::to_document`].
    pub fn to_json(&self, limits: &Limits) -> Result<Vec<u8>, Error> {
        let mut json = Vec::new();
        icecore::write_to(&self.to_document()?, &Stage::parse("json:typed")?, &with_more_depth(limits), &mut json)?;
        json.push(b'\n');
        Ok(json)
    }

    /// Returns true if most strings are text. The words of the difference are then text as well.
    fn is_mostly_text(&self) -> bool {
        const MAX_EXAMINED: usize = 10_000;
        let nodes = self.left.nodes().iter().take(MAX_EXAMINED).chain(self.right.nodes().iter().take(MAX_EXAMINED));
        let text_surplus = nodes.fold(0_i64, |surplus, node| match node.kind {
            Kind::Text => surplus + 1,
            Kind::Bytes => surplus - 1,
            _ => surplus,
        });
        text_surplus >= 0
    }

    /// Returns the paths to the changes, or `None` if they are too long together.
    fn collect_steps(&self) -> Option<Vec<ChangePaths<'d>>> {
        const STEPS_PER_NODE: usize = 16;
        const EXTRA_STEPS: usize = 1 << 20;
        let nodes = self.left.nodes().len() + self.right.nodes().len();
        let mut budget = nodes.saturating_mul(STEPS_PER_NODE).saturating_add(EXTRA_STEPS);
        let mut change_paths: Vec<ChangePaths<'d>> = self.changes().iter().map(|_| ChangePaths::default()).collect();
        let mut wanted: Vec<(usize, bool, u32)> = Vec::new();
        for (change_index, change) in self.changes().iter().enumerate() {
            if let Some(left) = change.left {
                wanted.push((change_index, true, left.index()));
            }
            if let Some((into, ..)) = &change.into {
                wanted.push((change_index, false, into.index()));
            }
        }
        for (change_index, change) in self.changes().iter().enumerate() {
            change_paths[change_index].links = self.find_links_to_left(change);
        }
        self.collect_link_positions(&mut change_paths, &mut budget);
        self.collect_link_targets(&mut change_paths, &mut budget);
        let nodes: Vec<u32> = wanted.iter().map(|(_, _, node)| *node).collect();
        ValuePath::visit_nodes(self.left, &nodes, |wanted_index, place| {
            budget = budget.saturating_sub(place.depth());
            if budget > 0 {
                let (change_index, is_path, _) = wanted[wanted_index];
                let steps = place.collect_steps().collect();
                *(if is_path { &mut change_paths[change_index].path } else { &mut change_paths[change_index].into }) =
                    steps;
            }
        });
        if budget == 0 {
            return None;
        }
        let mut duplicates = DuplicateKeys { rules: self.rules, document: self.left, positions_by_map: HashMap::new() };
        let steps = change_paths.iter_mut().flat_map(|steps| {
            let of_links = steps.links.iter_mut().flat_map(|link| link.target.iter_mut());
            steps.path.iter_mut().chain(&mut steps.into).chain(of_links)
        });
        for step in steps {
            if let Step::Key(_, map, position) = *step
                && duplicates.is_duplicate(map, position)
            {
                *step = Step::Entry(position);
            }
        }
        Some(change_paths)
    }
}

impl<'d> Differences<'d> {
    /// Returns the links in the new value of a change that lead to a value outside of it, if the first document has
    /// that value too.
    fn find_links_to_left(&self, change: &Change<'d>) -> Vec<LinkToLeft<'d>> {
        let has_new_value = matches!(change.kind, ChangeKind::Added | ChangeKind::Changed);
        let Some(right) = change.right.filter(|_| has_new_value) else { return Vec::new() };
        let range = right.index()..crate::tree::index_after(self.right, right.index());
        let links = range
            .clone()
            .filter_map(|index| self.right.at(index))
            .filter(|link| matches!(link.kind(), Kind::Link | Kind::Alias) && link.node().key != IS_KEY);
        links
            .filter_map(|link| {
                let target = link.target().index();
                let left = *self.left_by_right_target.get(&target).filter(|_| !range.contains(&target))?;
                let (positions, target) = (None, Vec::new());
                Some(LinkToLeft { node: link.index(), start: right.index(), left, positions, target })
            })
            .collect()
    }

    /// Fills in where in the new values the links are. Links in keys are left to the copying of values.
    fn collect_link_positions(&self, change_paths: &mut [ChangePaths<'d>], budget: &mut usize) {
        let mut links: Vec<&mut LinkToLeft<'d>> = change_paths.iter_mut().flat_map(|paths| &mut paths.links).collect();
        let nodes: Vec<u32> = links.iter().map(|link| link.node).collect();
        ValuePath::visit_nodes(self.right, &nodes, |index, path| {
            *budget = budget.saturating_sub(path.depth());
            if *budget > 0 {
                let start = links[index].start;
                links[index].positions = path.child_positions(start);
            }
        });
        for paths in change_paths {
            paths.links.retain(|link| link.positions.is_some());
        }
    }

    /// Fills in the paths of the values to which the links lead.
    fn collect_link_targets(&self, change_paths: &mut [ChangePaths<'d>], budget: &mut usize) {
        let mut links: Vec<&mut LinkToLeft<'d>> = change_paths.iter_mut().flat_map(|paths| &mut paths.links).collect();
        let nodes: Vec<u32> = links.iter().map(|link| link.left).collect();
        ValuePath::visit_nodes(self.left, &nodes, |index, path| {
            *budget = budget.saturating_sub(path.depth());
            if *budget > 0 {
                links[index].target = path.collect_steps().collect();
            }
        });
    }
}

/// Returns 16 hexadecimal digits that are equal for documents that are equal under these rules.
pub(crate) fn fingerprint(rules: Rules, document: &Document<'_>) -> String {
    format_fingerprint(Hashes::new(rules, document).get(document.root().index()))
}

/// Returns the hash of a whole document as a difference contains it.
pub(crate) fn format_fingerprint(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Finds keys that a map has twice. Such a key does not identify an entry.
struct DuplicateKeys<'d> {
    rules: Rules,
    document: &'d Document<'d>,
    /// For each examined map, the positions of entries with such keys.
    positions_by_map: HashMap<u32, HashSet<u32>>,
}

impl DuplicateKeys<'_> {
    fn is_duplicate(&mut self, map: u32, position: u32) -> bool {
        let (document, rules) = (self.document, self.rules);
        let positions = self.positions_by_map.entry(map).or_insert_with(|| {
            let Some(map) = document.at(map) else { return HashSet::new() };
            let is_field = equality::is_field_map(map);
            let mut first_positions: HashMap<u64, u32> = HashMap::new();
            let mut duplicates = HashSet::new();
            let rules = if rules.is_across_formats() { Rules::new().across_formats() } else { Rules::new() };
            for (index, (key, _)) in (0..).zip(map.entries()) {
                let Key::Name(name) = key else { continue };
                let hash = Hashes::hash_loose_key(rules, document, &name.node, name.bytes, is_field);
                if let Some(previous) = first_positions.insert(hash, index) {
                    duplicates.extend([previous, index]);
                }
            }
            duplicates
        });
        positions.contains(&position)
    }
}

/// Returns these limits with more depth, for the structure around the values.
pub(crate) fn with_more_depth(limits: &Limits) -> Limits {
    let mut limits = limits.clone();
    /// The depth of the structure around the values is less than this.
    const EXTRA_DEPTH: u32 = 8;
    limits.depth = limits.depth.saturating_add(EXTRA_DEPTH);
    limits
}

/// The path to a change, and the path to the container in which a value is put.
#[derive(Default)]
struct ChangePaths<'d> {
    path: Vec<Step<'d>>,
    into: Vec<Step<'d>>,
    /// Links in the new value to values that the first document has.
    links: Vec<LinkToLeft<'d>>,
}

/// A link in a new value to a value of the first document.
struct LinkToLeft<'d> {
    /// The link in the second document.
    node: u32,
    /// The new value that contains it.
    start: u32,
    /// The value of the first document.
    left: u32,
    /// The positions of the children that lead from the new value to the link.
    positions: Option<Vec<u32>>,
    /// The path of the value in the first document.
    target: Vec<Step<'d>>,
}

/// Writes the parts of a difference.
struct DifferenceWriter<'d> {
    left: &'d Document<'d>,
    out: Emitter<'d>,
    is_text: bool,
}

impl<'d> DifferenceWriter<'d> {
    fn write_key(&mut self, name: &str) {
        match self.is_text {
            true => self.out.builder.text_key(name),
            false => self.out.builder.bytes_key(name),
        };
    }

    fn write_word(&mut self, word: &str) {
        match self.is_text {
            true => self.out.builder.text(word),
            false => self.out.builder.bytes(word),
        };
    }

    /// Writes a change as a map. `path` is for people, `steps` are for programs.
    fn write_change(&mut self, change: &Change<'d>, path: &str, steps: &ChangePaths<'d>) {
        self.out.builder.begin_map();
        self.write_key("op");
        self.write_word(change.kind.as_str());
        self.write_key("where");
        self.write_word(path);
        if let Some(left) = change.left {
            self.write_key("path");
            self.write_steps(&steps.path, left.document());
            if change.kind == ChangeKind::Changed && left.kind().is_again() && left.kind() != Kind::Copy {
                self.write_key("link");
                self.out.builder.bool(true);
            }
        }
        if let Some((into, index, key)) = change.into {
            self.write_key("in");
            self.write_steps(&steps.into, into.document());
            self.write_key("index");
            self.out.builder.int(i64::from(index));
            if let (Some(key), Some(right)) = (key, change.right) {
                self.write_key("key");
                self.write_key_value(&key, right.document(), VALUES);
                if key.node().has(flag::PLACEHOLDER) {
                    self.write_key("absent");
                    self.out.builder.bool(true);
                }
            }
        }
        if change.kind == ChangeKind::Class {
            for (name, side) in [("old", change.left), ("new", change.right)] {
                self.write_key(name);
                self.write_class(side);
            }
        } else {
            let old = change.left.map(|left| ("old", FIRST, left));
            // A moved value stays the same.
            let new = change.right.filter(|_| change.kind != ChangeKind::Moved).map(|right| ("new", VALUES, right));
            for (name, source, value) in old.into_iter().chain(new) {
                self.write_key(name);
                self.out.write_value(source, value);
            }
            if !steps.links.is_empty() {
                self.write_key("links");
                self.write_links(&steps.links, change.right);
            }
        }
        self.out.builder.end();
    }

    fn write_links(&mut self, links: &[LinkToLeft<'d>], right: Option<Cursor<'d>>) {
        self.out.builder.begin_array();
        for link in links {
            self.out.builder.begin_map();
            self.write_key("at");
            self.out.builder.begin_array();
            for position in link.positions.iter().flatten() {
                self.out.builder.int(i64::from(*position));
            }
            self.out.builder.end();
            self.write_key("target");
            self.write_steps(&link.target, self.left);
            let node = right.and_then(|right| right.document().at(link.node));
            for (name, is_set) in [
                ("alias", node.is_some_and(|node| node.kind() == Kind::Alias)),
                ("weak", node.is_some_and(|node| node.node().has(flag::WEAK))),
            ] {
                if is_set {
                    self.write_key(name);
                    self.out.builder.bool(true);
                }
            }
            self.out.builder.end();
        }
        self.out.builder.end();
    }

    /// Writes the class name of an object as a value of the kind for class names.
    fn write_class(&mut self, object: Option<Cursor<'d>>) {
        self.out.builder.module(object.map_or(&b""[..], object_class), Form::Usual);
    }

    fn write_steps(&mut self, steps: &[Step<'d>], document: &'d Document<'d>) {
        self.out.builder.begin_array();
        for step in steps {
            match step {
                Step::Item(position) => drop(self.out.builder.int(i64::from(*position))),
                Step::Key(key @ Key::Name(_), ..) => self.write_key_value(key, document, FIRST),
                Step::Key(key, ..) => {
                    self.out.builder.begin_map();
                    self.write_key("key");
                    self.write_key_value(key, document, FIRST);
                    self.out.builder.end();
                }
                Step::Part(position) => self.write_position("part", *position),
                Step::Entry(position) => self.write_position("entry", *position),
            }
        }
        self.out.builder.end();
    }

    /// Writes a step by position.
    fn write_position(&mut self, name: &str, position: u32) {
        self.out.builder.begin_map();
        self.write_key(name);
        self.out.builder.int(i64::from(position)).end();
    }

    /// Writes a key as a value.
    fn write_key_value(&mut self, key: &Key<'d>, document: &'d Document<'d>, source: usize) {
        let builder = &mut self.out.builder;
        match key {
            Key::Value(key) => self.out.write_value(source, *key),
            Key::Name(name) => {
                let encoding = || crate::emit::encoding_name(document, &name.node);
                match name.node.kind {
                    Kind::Int => builder.int(name.node.payload as i64),
                    Kind::Text => builder.loose_text(name.bytes),
                    Kind::Symbol => builder.symbol(name.bytes, &encoding()),
                    Kind::Encoded => builder.encoded(name.bytes, &encoding()),
                    _ => builder.bytes(name.bytes),
                };
            }
        }
    }
}
