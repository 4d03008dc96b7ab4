//! The places that an alteration changes, and the new values.

use super::Alteration;
use super::native::{self, KeyTemplate, NativeEntry};
use super::refusal::Refusal;
use crate::document::key_text::key_bytes;
use crate::document::{
    Builder, Changes, Cursor, Document, Form, IS_KEY, Key, Kind, NO_KEY, Name, Naming, Step, Visibility, match_rank,
    push_key,
};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::losses::LossKind;
use crate::select::Pattern;
use crate::stage::Stage;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What is changed: nodes by index, new entries by their position in `entries`.
#[derive(Default)]
pub(super) struct FoundChanges {
    pub(super) entries: Vec<NativeEntry>,
    pub(super) replaced: Vec<(u32, usize)>,
    pub(super) deleted: Vec<u32>,
    pub(super) added: Vec<(u32, usize)>,
    pub(super) keys: Vec<(u32, usize)>,
    /// Containers in which something is added, removed, or renamed.
    pub(super) containers: Vec<u32>,
}

impl FoundChanges {
    /// Returns the changed nodes.
    pub(super) fn touched_nodes(&self) -> Vec<u32> {
        let changed = [&self.replaced, &self.keys].into_iter().flatten().map(|(node, _)| *node);
        changed.chain(self.deleted.iter().copied()).chain(self.containers.iter().copied()).collect()
    }

    /// Returns all changes in the form that a builder takes.
    pub(super) fn to_changes(&self) -> Changes<'_> {
        let cursor = |index: usize| self.entries.get(index).map(|entry| entry.cursor());
        let mut changes = Changes::default();
        changes.replaced.extend(self.replaced.iter().filter_map(|(node, entry)| Some((*node, cursor(*entry)?))));
        changes.keys.extend(self.keys.iter().filter_map(|(node, entry)| Some((*node, cursor(*entry)?))));
        for (node, entry) in &self.added {
            changes.added.entry(*node).or_default().extend(cursor(*entry));
        }
        changes.removed = self.deleted.iter().copied().collect();
        changes
    }
}

/// Finds the places that an alteration changes in a document.
pub(super) fn find_changes(
    document: &Document<'_>,
    alteration: &Alteration,
    stage: &Stage,
    limits: &Limits,
) -> Result<FoundChanges, Refusal> {
    let mut places = PlaceFinder::new(document, stage, limits);
    match alteration {
        Alteration::Set(path, value) => places.set_values(path, value)?,
        Alteration::Delete(path) => places.delete_values(path)?,
        Alteration::Append(path, value) => places.append_values(path, value)?,
        Alteration::RenameEntry(path, name) => places.rename_entries(path, name)?,
        Alteration::RenameKey(old, new) => places.rename_keys(old, new)?,
        Alteration::RenameClass(_) => {}
    }
    Ok(places.changes)
}

pub(super) struct PlaceFinder<'d> {
    document: &'d Document<'d>,
    /// The container of each node; for the root, the root itself.
    parents: Vec<u32>,
    pub(super) stage: &'d Stage,
    limits: &'d Limits,
    pub(super) changes: FoundChanges,
    /// Entries of new keys, by their kind, encoding and bytes.
    renamed_keys: HashMap<(u8, String, Vec<u8>), usize>,
}

impl<'d> PlaceFinder<'d> {
    pub(super) fn new(document: &'d Document<'d>, stage: &'d Stage, limits: &'d Limits) -> PlaceFinder<'d> {
        crate::steps::count(document.nodes().len());
        let parents = find_parents(document);
        PlaceFinder { document, parents, stage, limits, changes: FoundChanges::default(), renamed_keys: HashMap::new() }
    }

    pub(super) fn set_values(&mut self, path: &Pattern, value: &Document<'static>) -> Result<(), Refusal> {
        let mut visited = HashSet::new();
        let (replaced, added) = (self.changes.replaced.len(), self.changes.added.len());
        let matches = path.find(self.document, self.limits).map_err(Refusal::Unfit)?;
        let all: Vec<_> = matches.iter().collect();
        for (path_text, place) in &all {
            let node = place.node();
            // Assigning to a variable assigns to it under all of its names.
            let variable = u32::try_from(node.payload).ok().filter(|_| node.kind == Kind::Alias);
            let index = variable.unwrap_or(place.index());
            if visited.insert(index) {
                let value = native::match_string_kinds(value, Some(*place), self.naming());
                let entry = self.add_native_entry(value.root(), None, path_text)?;
                self.changes.replaced.push((index, entry));
            }
        }
        // A definite path that leads somewhere, even into the header, names nothing else.
        if self.changes.replaced.len() == replaced || !path.is_definite() {
            self.add_missing(path, value, &mut visited)?;
        }
        if self.changes.replaced.len() == replaced && self.changes.added.len() == added {
            return Err(self.absent_path_error(path));
        }
        Ok(())
    }

    /// Adds the key that the last step names to maps that lack it.
    fn add_missing(
        &mut self,
        path: &Pattern,
        value: &Document<'static>,
        visited: &mut HashSet<u32>,
    ) -> Result<(), Refusal> {
        let Some((before, step)) = path.split_last() else { return Ok(()) };
        let name = match step {
            Step::Key(name) => name.clone(),
            Step::Item(number) => number.to_string(),
            _ => return Ok(()),
        };
        if matches!(key_bytes(&name), Cow::Owned(_)) {
            return Err(unfit_refusal("a new key in UTF-8", "other bytes", path.as_str()));
        }
        let value = &native::match_string_kinds(value, None, self.naming());
        let matches = before.find(self.document, self.limits).map_err(Refusal::Unfit)?;
        for (path_text, container) in matches.iter() {
            let body = container.body();
            let new_path = path_to_new_key(&path_text, step, &name);
            if step.follow_from(container).is_some() || !visited.insert(body.index()) {
                continue;
            }
            // PHP has one empty array for lists and maps.
            let is_empty_php = body.kind() == Kind::Array && body.is_empty() && self.naming() == Naming::Php;
            if is_empty_php {
                let key = KeyTemplate { kind: Kind::Text, encoding: String::new(), bytes: name.as_bytes() };
                let entry = self.add_native_entry(value.root(), Some(&key), &new_path)?;
                let map = self.changes.entries[entry].to_container_entry();
                self.changes.replaced.push((body.index(), entry));
                self.changes.entries[entry] = map;
            } else if body.kind() == Kind::Map {
                self.refuse_fixed_members(body, "a new member")?;
                let key_name = self.new_key_name(body, step, &name)?;
                let names = body.entries().filter_map(|(key, _)| match key {
                    Key::Name(name) if name.node.kind.is_string() => Some(name),
                    _ => None,
                });
                let last_key = names.last().map(|key| (self.document, key));
                let key = self.new_key_template(body, step, &key_name.name, last_key);
                let entry = self.add_native_entry(value.root(), Some(&key), &new_path)?;
                if key_name.loses_visibility {
                    self.changes.entries[entry].add_loss(LossKind::Visibility, &new_path);
                }
                self.changes.added.push((body.index(), entry));
                self.changes.containers.push(body.index());
            }
        }
        Ok(())
    }

    pub(super) fn delete_values(&mut self, path: &Pattern) -> Result<(), Refusal> {
        for index in self.find_nodes(path)? {
            let parent = self.find_parent(index, "something to delete")?;
            self.refuse_fixed_members(parent, "one member less")?;
            self.changes.deleted.push(index);
            self.changes.containers.push(parent.index());
        }
        Ok(())
    }

    pub(super) fn append_values(&mut self, path: &Pattern, value: &Document<'static>) -> Result<(), Refusal> {
        let mut visited = HashSet::new();
        let matches = path.find(self.document, self.limits).map_err(Refusal::Unfit)?;
        if matches.is_empty() {
            return Err(self.absent_path_error(path));
        }
        let value = &native::match_string_kinds(value, None, self.naming());
        for (path_text, container) in matches.iter() {
            let body = container.body();
            if !visited.insert(body.index()) {
                continue;
            }
            let is_array_of_php = self.naming() == Naming::Php && body.kind() == Kind::Map && !self.is_member_map(body);
            let new_path = format!("{path_text}[{}]", body.len());
            let entry = if body.kind() == Kind::Array {
                self.add_native_entry(value.root(), None, &new_path)?
            } else if is_array_of_php {
                let next = next_index(body)
                    .ok_or_else(|| unfit_refusal("a free index", "the largest one in use", &path_text))?;
                let next = next.to_string();
                let key = KeyTemplate { kind: Kind::Int, encoding: String::new(), bytes: next.as_bytes() };
                self.add_native_entry(value.root(), Some(&key), &new_path)?
            } else {
                return Err(unfit_refusal("a list to append to", &kind_name(body), &path_text));
            };
            self.changes.added.push((body.index(), entry));
            self.changes.containers.push(body.index());
        }
        Ok(())
    }

    pub(super) fn rename_entries(&mut self, path: &Pattern, name: &str) -> Result<(), Refusal> {
        for index in self.find_nodes(path)? {
            let parent = self.find_parent(index, "the entry of a map")?;
            if parent.kind() == Kind::Array {
                return Err(unfit_refusal("the entry of a map", "an item of a list", &self.document.path(index)));
            }
            self.rename_entry(parent, index, None, name)?;
        }
        Ok(())
    }

    fn rename_keys(&mut self, old: &str, new: &str) -> Result<(), Refusal> {
        for index in 0..self.document.tape().len() {
            let map = Cursor::new(self.document, index);
            if !matches!(map.kind(), Kind::Map | Kind::Attrs) {
                continue;
            }
            let named = map.entries().filter(|(key, _)| key_has_name(key, old)).map(|(_, value)| value.index());
            for value in named.collect::<Vec<_>>() {
                self.rename_entry(map, value, Some(old), new)?;
            }
        }
        if self.changes.keys.is_empty() {
            return Err(Refusal::Absent { path: old.to_owned(), reason: None });
        }
        Ok(())
    }

    /// Assigns another key to the entry whose value is at `index`. Marks of members, which `old` does not include,
    /// stay.
    fn rename_entry(&mut self, map: Cursor<'d>, index: u32, old: Option<&str>, new: &str) -> Result<(), Refusal> {
        self.refuse_fixed_members(map, "a member of another name")?;
        let key = map.entries().find(|(_, value)| value.index() == index).map(|(key, _)| key);
        let Some(Key::Name(key)) = key else {
            return Err(unfit_refusal("a key that is a string or a number", "another one", &self.document.path(index)));
        };
        let bytes = self.renamed_bytes(&key, old, new);
        let key_template = self.renamed_key_template(&key, &bytes);
        let entry = self.renamed_entry(&key_template, index)?;
        let is_taken = {
            let cursor = self.changes.entries[entry].cursor();
            let new = cursor.document().root().body().entries().next().map(|(key, _)| key_identity(&key));
            let others = map.entries().filter(|(_, value)| value.index() != index);
            new.is_some_and(|new| others.map(|(key, _)| key_identity(&key)).any(|other| other == new))
        };
        if is_taken {
            return Err(unfit_refusal("an unused key", &format!("another entry `{new}`"), &self.document.path(index)));
        }
        self.changes.keys.push((index, entry));
        self.changes.containers.push(map.index());
        Ok(())
    }

    /// Returns the bytes of a key after renaming.
    pub(super) fn renamed_bytes(&self, key: &Name<'_>, old: Option<&str>, new: &str) -> Vec<u8> {
        let name_len = old.map_or_else(|| unmarked_len(key.bytes), str::len);
        let marks_len = key.bytes.len().saturating_sub(name_len);
        [key.bytes.get(..marks_len).unwrap_or_default(), new.as_bytes()].concat()
    }

    /// Returns the properties of the renamed key, with these bytes.
    pub(super) fn renamed_key_template<'k>(&self, key: &Name<'_>, bytes: &'k [u8]) -> KeyTemplate<'k> {
        let mut key_template = KeyTemplate::from_key(self.document, key, bytes);
        if key.node.kind == Kind::Int {
            key_template.kind = Kind::Text;
        }
        self.retype_latin1_key(&mut key_template);
        key_template
    }

    /// Returns an entry with only this key. Records have the same keys, so an entry is made once for all of them. Its
    /// path is computed only for the first, because that takes time proportional to the number of records.
    pub(super) fn renamed_entry(&mut self, key_template: &KeyTemplate<'_>, index: u32) -> Result<usize, Refusal> {
        let name = (key_template.kind as u8, key_template.encoding.clone(), key_template.bytes.to_vec());
        if let Some(&entry) = self.renamed_keys.get(&name) {
            if let Some(entry) = self.changes.entries.get_mut(entry) {
                entry.count_further_place();
            }
            return Ok(entry);
        }
        // Only the key is needed, so the time must not depend on the content of the value.
        let mut nothing = Builder::new();
        nothing.null();
        let nothing = nothing.finish().map_err(Refusal::Unwritable)?;
        let value_path = || self.document.path(index);
        let entry = native::make_native_entry(nothing.root(), Some(key_template), value_path, self.stage, self.limits);
        self.changes.entries.push(entry.map_err(Refusal::Unwritable)?);
        let entry = self.changes.entries.len() - 1;
        self.renamed_keys.insert(name, entry);
        Ok(entry)
    }

    // -- Existing places -------------------------------------------------------

    /// Returns the nodes on a path; there is at least one.
    fn find_nodes(&self, path: &Pattern) -> Result<Vec<u32>, Refusal> {
        let matches = path.find(self.document, self.limits).map_err(Refusal::Unfit)?;
        if matches.is_empty() {
            return Err(self.absent_path_error(path));
        }
        let mut visited = HashSet::new();
        Ok(matches.values().map(|value| value.index()).filter(|index| visited.insert(*index)).collect())
    }

    fn absent_path_error(&self, path: &Pattern) -> Refusal {
        let reason = self.document.find(path.as_str()).err().filter(|error| error.path().is_some());
        Refusal::Absent { path: path.as_str().to_owned(), reason }
    }

    /// Returns the list, map or attributes that contain a value.
    pub(super) fn find_parent(&self, index: u32, expected: &str) -> Result<Cursor<'d>, Refusal> {
        let parent = self.parents.get(index as usize).copied().filter(|parent| *parent != index);
        let parent = parent.map(|parent| Cursor::new(self.document, parent));
        let key = self.document.node(index).key;
        let holds = |parent: &Cursor<'d>| match parent.kind() {
            Kind::Array => true,
            // The default value of a map is not an entry. The value that has attributes is not an entry either.
            Kind::Map | Kind::Attrs => key != NO_KEY && key != IS_KEY,
            _ => false,
        };
        parent.filter(holds).ok_or_else(|| {
            unfit_refusal(expected, "a value that is not an entry or an item", &self.document.path(index))
        })
    }

    /// Refuses to add or rename members of an object with a fixed set of them.
    pub(super) fn refuse_fixed_members(&self, map: Cursor<'d>, wanted: &str) -> Result<(), Refusal> {
        let object = self.parents.get(map.index() as usize).map(|parent| self.document.node(*parent));
        let is_fixed = |form| matches!(form, Form::Struct | Form::Data);
        match object.filter(|node| node.kind == Kind::Object && is_fixed(node.form())) {
            Some(_) => {
                let expected = format!("a class that allows {wanted}");
                Err(unfit_refusal(&expected, "a Ruby object of Struct or Data", &self.document.path(map.index())))
            }
            None => Ok(()),
        }
    }

    /// Returns `true` if a map contains the members of an object.
    pub(super) fn is_member_map(&self, map: Cursor<'d>) -> bool {
        self.parents.get(map.index() as usize).is_some_and(|parent| self.document.node(*parent).kind == Kind::Object)
    }

    pub(super) fn naming(&self) -> Naming {
        self.document.tape().naming
    }

    // -- New entries -----------------------------------------------------------

    pub(super) fn add_native_entry(
        &mut self,
        value: Cursor<'_>,
        key: Option<&KeyTemplate<'_>>,
        path: &str,
    ) -> Result<usize, Refusal> {
        let entry = native::make_native_entry(value, key, || path.to_owned(), self.stage, self.limits)
            .map_err(Refusal::Unwritable)?;
        self.changes.entries.push(entry);
        Ok(self.changes.entries.len() - 1)
    }

    /// Returns the name of a new key. In Ruby, instance variables have a mark, and a property of PHP that is not public
    /// loses its visibility, as when a whole document is converted.
    pub(super) fn new_key_name(&self, map: Cursor<'d>, step: &Step, name: &str) -> Result<NewKeyName, Refusal> {
        let is_variable = self.naming() == Naming::Ruby && self.is_member_map(map);
        if !is_variable || !matches!(step, Step::Key(_)) {
            return Ok(NewKeyName { name: name.to_owned(), loses_visibility: false });
        }
        let bare_name = Visibility::of(name.as_bytes()).and_then(|(_, bare)| std::str::from_utf8(bare).ok());
        let loses_visibility = bare_name.is_some();
        let bare_name = bare_name.unwrap_or(name);
        let name = if bare_name.starts_with('@') { bare_name.to_owned() } else { format!("@{bare_name}") };
        if loses_visibility && map.entries().any(|(key, _)| key.bytes() == name.as_bytes()) {
            let found = format!("another member `{name}`");
            return Err(unfit_refusal("an unused name", &found, &self.document.path(map.index())));
        }
        Ok(NewKeyName { name, loses_visibility })
    }

    /// Returns the properties of a new key. They are copied from `last_key`, the last string key of the map, in the
    /// given document.
    pub(super) fn new_key_template<'k>(
        &self,
        map: Cursor<'d>,
        step: &Step,
        name: &'k str,
        last_key: Option<(&Document<'_>, Name<'_>)>,
    ) -> KeyTemplate<'k> {
        if matches!(step, Step::Item(_)) {
            return KeyTemplate { kind: Kind::Int, encoding: String::new(), bytes: name.as_bytes() };
        }
        let mut key_template = match last_key {
            Some((document, key)) => KeyTemplate::from_key(document, &key, name.as_bytes()),
            None if self.naming() == Naming::Ruby && self.is_member_map(map) => {
                KeyTemplate { kind: Kind::Symbol, encoding: String::new(), bytes: name.as_bytes() }
            }
            None => KeyTemplate { kind: Kind::Text, encoding: String::new(), bytes: name.as_bytes() },
        };
        self.retype_latin1_key(&mut key_template);
        key_template
    }

    /// Makes non-ASCII names text: in Perl the bytes of a string are Latin-1, and a symbol of ASCII has no encoding
    /// that other names could use.
    fn retype_latin1_key(&self, key_template: &mut KeyTemplate<'_>) {
        if key_template.kind == Kind::Bytes && self.naming() == Naming::Perl && !key_template.bytes.is_ascii() {
            key_template.kind = Kind::Text;
        }
    }
}

/// Returns the path of a key that is added.
pub(super) fn path_to_new_key(container: &str, step: &Step, name: &str) -> String {
    let mut path = container.to_owned();
    match step {
        Step::Key(_) => push_key(&mut path, name),
        _ => path.extend([".", name]),
    }
    path
}

/// The name of a key that is added.
pub(super) struct NewKeyName {
    pub(super) name: String,
    /// Whether it was the name of a PHP property that is not public.
    pub(super) loses_visibility: bool,
}

fn unfit_refusal(expected: &str, found: &str, path: &str) -> Refusal {
    let error = Error::new(ErrorKind::Usage).expecting(expected.to_owned()).finding(found.to_owned());
    Refusal::Unfit(error.on_path(path.to_owned()))
}

fn kind_name(value: Cursor<'_>) -> String {
    format!("{:?}", value.kind()).to_lowercase()
}

fn key_has_name(key: &Key<'_>, name: &str) -> bool {
    key.node().kind.is_string() && match_rank(key.bytes(), name).is_some_and(|rank| rank < 2)
}

/// Returns the length of a key without the marks of a member.
fn unmarked_len(key: &[u8]) -> usize {
    let unmarked = key.strip_prefix(b"@@").or_else(|| key.strip_prefix(b"@"));
    unmarked.or_else(|| crate::document::strip_visibility(key)).map_or(key.len(), <[u8]>::len)
}

/// Returns a value that is equal for two keys that a map can't both have.
fn key_identity<'d>(key: &Key<'d>) -> (bool, u64, &'d [u8]) {
    let node = key.node();
    let is_int = node.kind == Kind::Int;
    (is_int, if is_int { node.payload } else { u64::from(node.kind == Kind::Symbol) }, key.bytes())
}

/// Returns the index that PHP would give to an appended item.
fn next_index(map: Cursor<'_>) -> Option<i64> {
    let numbers = map.entries().filter(|(key, _)| key.node().kind == Kind::Int);
    let largest = numbers.map(|(key, _)| key.node().payload as i64).max();
    largest.map_or(Some(0), |largest| largest.checked_add(1))
}

/// Returns the container of each node; the root is in itself.
fn find_parents(document: &Document<'_>) -> Vec<u32> {
    let tape = document.tape();
    let mut parents = Vec::with_capacity(document.nodes().len());
    let mut open: Vec<u32> = Vec::new();
    for (index, node) in (0u32..).zip(document.nodes()) {
        while open.pop_if(|container| tape.index_after(*container) <= index).is_some() {}
        parents.push(open.last().copied().unwrap_or(index));
        if node.kind.is_container() {
            open.push(index);
        }
    }
    parents
}
