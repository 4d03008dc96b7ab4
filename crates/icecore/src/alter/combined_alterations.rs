//! Applies several alterations to one document together. Each of them applies to the result of the earlier ones, but
//! the document is rebuilt only once.
//!
//! The place that an alteration means depends on the earlier ones. Items after a deleted one move up, and an added
//! entry is found by its key. A [`ChildIndex`] tracks this for each container in which something changes. If the
//! place can't be determined, or an alteration has to be refused, the search stops at this alteration.

use super::Alteration;
use super::index::{ChildIndex, ChildSlot};
use super::native::{self, KeyTemplate};
use super::places::{FoundChanges, PlaceFinder, path_to_new_key};
use crate::document::key_text::key_bytes;
use crate::document::{Builder, Cursor, Document, Key, Kind, Naming, Step, flag};
use crate::limits::Limits;
use crate::losses::LossKind;
use crate::select::{Pattern, item_position};
use crate::stage::Stage;
use std::borrow::Cow;
use std::collections::HashMap;

/// Number of walks over a container after which it gets an index.
const MAX_WALKS: u32 = 4;

/// Finds everything that a sequence of alterations changes. Returns the changes, and the number of alterations that
/// they cover. The document must not contain copies of values.
pub(super) fn find_changes_together(
    document: &Document<'_>,
    alterations: &[Alteration],
    stage: &Stage,
    limits: &Limits,
) -> (FoundChanges, usize) {
    let mut search = CombinedSearch {
        places: PlaceFinder::new(document, stage, limits),
        document,
        limits,
        link_sums: link_prefix_sums(document),
        indexes: HashMap::new(),
        path_walks: HashMap::new(),
        replaced: HashMap::new(),
        renamed: HashMap::new(),
        reached_entry: None,
    };
    let count = alterations.iter().take_while(|alteration| search.add_alteration(alteration).is_some()).count();
    (search.places.changes, count)
}

/// Returns `true` if an alteration can be found together with others.
pub(super) fn can_combine(alteration: &Alteration) -> bool {
    match alteration {
        Alteration::Set(path, _)
        | Alteration::Delete(path)
        | Alteration::Append(path, _)
        | Alteration::RenameEntry(path, _) => path.is_definite(),
        Alteration::RenameKey(..) | Alteration::RenameClass(_) => false,
    }
}

/// Returns for each node the number of nodes up to it that are links or targets of links. Returns `None` if the
/// document does not have links.
fn link_prefix_sums(document: &Document<'_>) -> Option<Vec<u32>> {
    let is_linked = |index: usize| {
        let node = document.nodes().get(index);
        node.is_some_and(|node| node.kind.is_again() || node.has(flag::TARGET))
    };
    let count = document.nodes().len();
    if !(0..count).any(is_linked) {
        return None;
    }
    let mut sum = 0;
    let sums = (0..count).map(|index| {
        let before = sum;
        sum += u32::from(is_linked(index));
        before
    });
    let mut sums: Vec<u32> = sums.collect();
    sums.push(sum);
    Some(sums)
}

/// The search for everything that a sequence of alterations changes.
struct CombinedSearch<'d> {
    places: PlaceFinder<'d>,
    document: &'d Document<'d>,
    limits: &'d Limits,
    /// See [`link_prefix_sums`].
    link_sums: Option<Vec<u32>>,
    /// Indexes of containers; `None` for a container that can't have one.
    indexes: HashMap<u32, Option<ChildIndex<'d>>>,
    /// How often a path led through each container.
    path_walks: HashMap<u32, u32>,
    /// Entries that replace nodes.
    replaced: HashMap<u32, usize>,
    /// Entries with the new keys of nodes.
    renamed: HashMap<u32, usize>,
    /// The entry that a path reached, and after how many steps.
    reached_entry: Option<(usize, usize)>,
}

/// The place that a path reaches.
enum PathTarget<'d> {
    /// It reaches this value in this container. The root does not have a container.
    Existing { parent: Option<Cursor<'d>>, value: Cursor<'d>, path_text: String },
    /// It reaches this container, but the container does not have the entry of the last step.
    Missing { container: Cursor<'d>, path_text: String },
}

/// The child that a step reaches.
enum StepTarget {
    /// An existing child, and the text of the step to it.
    Existing(u32, String),
    /// An added entry.
    New(usize),
    Missing,
}

/// All these methods return `None` if the result can't be determined. Then nothing is changed.
impl<'d> CombinedSearch<'d> {
    /// Adds the changes of an alteration.
    fn add_alteration(&mut self, alteration: &Alteration) -> Option<()> {
        can_combine(alteration).then_some(())?;
        self.reached_entry = None;
        let result = match alteration {
            Alteration::Set(path, value) => self.set_value(path, value),
            Alteration::Delete(path) => self.delete_value(path),
            Alteration::Append(path, value) => self.append_value(path, value),
            Alteration::RenameEntry(path, name) => self.rename_entry(path, name),
            Alteration::RenameKey(..) | Alteration::RenameClass(_) => None,
        };
        if result.is_none() && self.reached_entry.is_some() { self.add_within(alteration) } else { result }
    }

    /// Changes an added entry before it is put in its place.
    fn add_within(&mut self, alteration: &Alteration) -> Option<()> {
        let (Alteration::Set(path, _)
        | Alteration::Append(path, _)
        | Alteration::Delete(path)
        | Alteration::RenameEntry(path, _)) = alteration
        else {
            return None;
        };
        let (entry_position, step_count) = self.find_added_entry(path)?;
        let is_itself = path.definite_steps().nth(step_count).is_none();
        let entry = self.places.changes.entries.get(entry_position).filter(|entry| entry.is_simple())?;
        let document = entry.document();
        let is_alike = document.tape().naming == self.places.naming() && self.document.header().is_none();
        (is_alike && !path.as_str().contains('…')).then_some(())?;
        let path = path.rest_after(step_count, entry.step_to_value());
        let mut places = PlaceFinder::new(document, self.places.stage, self.limits);
        match alteration {
            Alteration::Set(_, value) => places.set_values(&path, value).ok()?,
            Alteration::Append(_, value) => places.append_values(&path, value).ok()?,
            Alteration::Delete(_) if !is_itself => places.delete_values(&path).ok()?,
            Alteration::RenameEntry(_, name) if !is_itself => places.rename_entries(&path, name).ok()?,
            _ => return None,
        }
        // The paths of its losses would be paths inside of the entry, and not of the document.
        let is_lossy = places.changes.entries.iter().any(native::NativeEntry::has_losses);
        (!is_lossy).then_some(())?;
        let (changed, _) = Builder::copy_with_changes(document, &places.changes.to_changes()).ok()?;
        self.places.changes.entries.get_mut(entry_position)?.replace_document(changed);
        Some(())
    }

    /// Returns the added entry that a path reaches, and the number of steps to it. Another key must not look like a
    /// key of the path.
    fn find_added_entry(&mut self, path: &Pattern) -> Option<(usize, usize)> {
        self.reached_entry = None;
        match self.resolve_path(path, true) {
            Some(PathTarget::Existing { value, .. }) => {
                let entry = self.replacement_entry(value)?;
                Some((entry, path.definite_steps().count()))
            }
            Some(PathTarget::Missing { .. }) => None,
            None => self.reached_entry.take(),
        }
    }

    /// Returns the entry that replaces a value or its body.
    fn replacement_entry(&self, value: Cursor<'d>) -> Option<usize> {
        let entry_of = |value: Cursor<'d>| self.replaced.get(&value.index()).copied();
        entry_of(value).or_else(|| entry_of(value.body()))
    }

    // -- Alterations -------------------------------------------------------------

    fn set_value(&mut self, path: &Pattern, value: &Document<'static>) -> Option<()> {
        let target = match self.resolve_path(path, false)? {
            // Another key may look like the missing one, so all such keys must be searched.
            PathTarget::Missing { .. } => self.resolve_path(path, true)?,
            other => other,
        };
        match target {
            PathTarget::Existing { value: old, path_text, .. } => {
                let index = old.index();
                self.has_no_links(index).then_some(())?;
                let entries = &self.places.changes.entries;
                let replacement = self.replaced.get(&index).and_then(|entry| entries.get(*entry));
                let value = native::match_string_kinds(
                    value,
                    Some(replacement.map_or(old, |entry| entry.cursor())),
                    self.places.naming(),
                );
                let entry = self.places.add_native_entry(value.root(), None, &path_text).ok()?;
                self.record_replacement(index, entry);
                Some(())
            }
            PathTarget::Missing { container, path_text } => self.set_missing(path, container, &path_text, value),
        }
    }

    /// Adds the entry or item that a path does not reach yet.
    fn set_missing(
        &mut self,
        path: &Pattern,
        container: Cursor<'d>,
        path_text: &str,
        value: &Document<'static>,
    ) -> Option<()> {
        let step = path.definite_steps().last()?;
        let name = match step {
            Step::Key(name) => name.clone(),
            Step::Item(number) => number.to_string(),
            _ => return None,
        };
        // The refusal comes from the other way.
        matches!(key_bytes(&name), Cow::Borrowed(_)).then_some(())?;
        let (body, naming) = (container.body(), self.places.naming());
        let entry_path = path_to_new_key(path_text, step, &name);
        let value = native::match_string_kinds(value, None, naming);
        if body.kind() == Kind::Array {
            let is_empty_php = body.is_empty() && naming == Naming::Php && !self.child_index(body)?.is_changed();
            (is_empty_php && self.has_no_links(body.index())).then_some(())?;
            let key = KeyTemplate { kind: Kind::Text, encoding: String::new(), bytes: name.as_bytes() };
            let entry = self.places.add_native_entry(value.root(), Some(&key), &entry_path).ok()?;
            let map = self.places.changes.entries.get(entry)?.to_container_entry();
            *self.places.changes.entries.get_mut(entry)? = map;
            self.record_replacement(body.index(), entry);
            return Some(());
        }
        self.places.refuse_fixed_members(body, "a new member").ok()?;
        let new_name = self.places.new_key_name(body, step, &name).ok()?;
        // The bare name may belong to a member that an earlier alteration added or deleted.
        let is_changed = !self.renamed.is_empty() || self.child_index(body)?.is_changed();
        (!name.starts_with('\0') || !is_changed).then_some(())?;
        let last_slot = self.last_string_key(body)?;
        let last_key =
            last_slot.as_ref().map(|slot| self.current_key(*slot, body)).map_or(Some(None), |key| key.map(Some))?;
        let key = match last_key {
            Some((document, Key::Name(key))) => {
                self.places.new_key_template(body, step, &new_name.name, Some((document, key)))
            }
            Some(_) => return None,
            None => self.places.new_key_template(body, step, &new_name.name, None),
        };
        let mut entry =
            native::make_native_entry(value.root(), Some(&key), || entry_path.clone(), self.places.stage, self.limits)
                .ok()?;
        if new_name.loses_visibility {
            entry.add_loss(LossKind::Visibility, &entry_path);
        }
        self.push_entry(body, entry)
    }

    fn delete_value(&mut self, path: &Pattern) -> Option<()> {
        let PathTarget::Existing { parent: Some(parent), value, .. } = self.resolve_path(path, false)? else {
            return None;
        };
        let index = value.index();
        let container = self.places.find_parent(index, "").ok()?;
        let can_combine =
            container.index() == parent.index() && !self.renamed.contains_key(&index) && self.has_no_links(index);
        can_combine.then_some(())?;
        self.places.refuse_fixed_members(parent, "").ok()?;
        self.child_index(parent)?.remove(index);
        self.places.changes.deleted.push(index);
        self.places.changes.containers.push(parent.index());
        Some(())
    }

    fn append_value(&mut self, path: &Pattern, value: &Document<'static>) -> Option<()> {
        let PathTarget::Existing { value: container, path_text, .. } = self.resolve_path(path, false)? else {
            return None;
        };
        let (body, naming) = (container.body(), self.places.naming());
        if let Some(entry) = self.replacement_entry(container) {
            self.reached_entry = Some((entry, path.definite_steps().count()));
            return None;
        }
        let is_array_of_php = naming == Naming::Php && body.kind() == Kind::Map && !self.places.is_member_map(body);
        let next = match body.kind() {
            Kind::Array => None,
            _ if is_array_of_php => {
                let largest = self.child_index(body)?.largest_integer_key();
                Some(largest.map_or(Some(0), |largest| largest.checked_add(1))?.to_string())
            }
            _ => return None,
        };
        let index = self.child_index(body)?;
        let entry_path = format!("{path_text}[{}]", index.count_remaining() + index.added.len());
        let key =
            next.as_ref().map(|next| KeyTemplate { kind: Kind::Int, encoding: String::new(), bytes: next.as_bytes() });
        let value = native::match_string_kinds(value, None, naming);
        let limits = self.limits;
        let entry =
            native::make_native_entry(value.root(), key.as_ref(), || entry_path.clone(), self.places.stage, limits)
                .ok()?;
        self.push_entry(body, entry)
    }

    fn rename_entry(&mut self, path: &Pattern, name: &str) -> Option<()> {
        let PathTarget::Existing { parent: Some(map), value, .. } = self.resolve_path(path, false)? else {
            return None;
        };
        let node = value.index();
        let container = self.places.find_parent(node, "").ok()?;
        let can_combine =
            container.index() == map.index() && map.kind() == Kind::Map && !self.renamed.contains_key(&node);
        can_combine.then_some(())?;
        self.places.refuse_fixed_members(map, "").ok()?;
        let Key::Name(key) = self.child_index(map)?.key_before_changes(node)? else { return None };
        let bytes = self.places.renamed_bytes(&key, None, name);
        let key_template = self.places.renamed_key_template(&key, &bytes);
        let count = self.places.changes.entries.len();
        let entry = self.places.renamed_entry(&key_template, node).ok()?;
        if self.places.changes.entries.get(entry)?.has_losses() {
            // A loss contains a path, and after earlier alterations this path may mean another place.
            self.places.changes.entries.truncate(count);
            return None;
        }
        let entries = &self.places.changes.entries;
        let (_, new) = first_entry_key(entries.get(entry)?.cursor())?;
        let index = self.indexes.get_mut(&map.index())?.as_mut()?;
        (!index.has_conflicting_key(&new, node)).then_some(())?;
        index.rename(node, &new);
        self.renamed.insert(node, entry);
        self.places.changes.keys.push((node, entry));
        self.places.changes.containers.push(map.index());
        Some(())
    }

    fn record_replacement(&mut self, index: u32, entry: usize) {
        self.places.changes.replaced.push((index, entry));
        self.replaced.insert(index, entry);
    }

    /// Adds an entry after all others.
    fn push_entry(&mut self, body: Cursor<'d>, entry: native::NativeEntry) -> Option<()> {
        let position = self.places.changes.entries.len();
        self.child_index(body)?;
        let index = self.indexes.get_mut(&body.index())?.as_mut()?;
        match body.kind() {
            Kind::Array => index.add(None, position),
            _ => index.add(Some(&first_entry_key(entry.cursor())?.1), position),
        }
        self.places.changes.entries.push(entry);
        self.places.changes.added.push((body.index(), position));
        self.places.changes.containers.push(body.index());
        Some(())
    }

    // -- Finding the places --------------------------------------------------------

    /// Returns the place that a definite path reaches. With `is_sure`, another key must not look like the missing
    /// one.
    fn resolve_path(&mut self, path: &Pattern, is_sure: bool) -> Option<PathTarget<'d>> {
        let mut steps = path.definite_steps().peekable();
        let max_steps = self.limits.expanded_from(0);
        let mut current = self.document.root();
        let (mut parent, mut path_text) = (None, "$".to_owned());
        let mut step_count = 0;
        while let Some(step) = steps.next() {
            let body = current.body();
            if let Some(entry) = self.replacement_entry(current) {
                self.reached_entry = Some((entry, step_count));
                return None;
            }
            step_count += 1;
            if step_count as u64 + 2 >= max_steps {
                return None;
            }
            match self.resolve_step(current, body, step, is_sure)? {
                StepTarget::New(entry) => {
                    self.reached_entry = Some((entry, step_count));
                    return None;
                }
                StepTarget::Existing(child, text) => {
                    path_text.push_str(&text);
                    (parent, current) = (Some(body), Cursor::new(self.document, child));
                }
                StepTarget::Missing => {
                    let is_alone = self.document.header().is_none() && !path.as_str().contains('…');
                    return (steps.peek().is_none() && is_alone)
                        .then_some(PathTarget::Missing { container: current, path_text });
                }
            }
        }
        Some(PathTarget::Existing { parent, value: current, path_text })
    }

    /// Returns what a step from `current` reaches; `body` is the array or map of `current`.
    fn resolve_step(
        &mut self,
        current: Cursor<'d>,
        body: Cursor<'d>,
        step: &Step,
        is_sure: bool,
    ) -> Option<StepTarget> {
        let (is_array, is_map) = (body.kind() == Kind::Array, body.kind() == Kind::Map);
        match step {
            Step::Key(_) | Step::Entry(_) if is_map => {}
            Step::Item(_) if is_array || is_map => {}
            Step::Key(_) | Step::Entry(_) | Step::Item(_) => return Some(StepTarget::Missing),
            Step::Referent => {
                let child = step.follow_from(current);
                return Some(
                    child.map_or(StepTarget::Missing, |child| StepTarget::Existing(child.index(), step.to_text())),
                );
            }
            Step::Part(_) | Step::Symbol(_) => return None,
        }
        let path_walks = self.path_walks.entry(body.index()).or_default();
        *path_walks += 1;
        if *path_walks <= MAX_WALKS && !is_sure && !self.indexes.contains_key(&body.index()) {
            if let (Step::Item(number), true) = (step, is_array) {
                let Some(position) = item_position(*number, body.len() as u64) else {
                    return Some(StepTarget::Missing);
                };
                crate::steps::count(body.len());
                let child = body.items().nth(usize::try_from(position).ok()?)?;
                return Some(StepTarget::Existing(child.index(), format!("[{position}]")));
            }
            let child = step.follow_from(current);
            return Some(
                child.map_or(StepTarget::Missing, |child| StepTarget::Existing(child.index(), step.to_text())),
            );
        }
        let index = self.child_index(body)?;
        let slot = match step {
            Step::Item(number) if is_array => {
                let Some(position) = item_position(*number, (index.count_remaining() + index.added.len()) as u64)
                else {
                    return Some(StepTarget::Missing);
                };
                let position = usize::try_from(position).ok()?;
                if let Some(new) = position.checked_sub(index.count_remaining()) {
                    return index.added.get(new).copied().map(StepTarget::New);
                }
                return Some(StepTarget::Existing(index.nth_remaining(position)?, format!("[{position}]")));
            }
            Step::Item(number) => index.find_by_integer(*number),
            Step::Entry(position) => {
                // Added entries are written before a default value.
                index.added.is_empty().then_some(())?;
                index.nth_remaining(*position).map(ChildSlot::Old)
            }
            Step::Key(name) => match index.find_by_name(name) {
                (_, true) if is_sure => return None,
                (slot, _) => slot,
            },
            _ => return None,
        };
        match slot {
            Some(ChildSlot::Old(child)) => Some(StepTarget::Existing(child, step.to_text())),
            Some(ChildSlot::New(entry)) => Some(StepTarget::New(entry)),
            None => Some(StepTarget::Missing),
        }
    }

    /// Returns the index of a container.
    fn child_index(&mut self, body: Cursor<'d>) -> Option<&mut ChildIndex<'d>> {
        self.indexes.entry(body.index()).or_insert_with(|| ChildIndex::new(body)).as_mut()
    }

    /// Returns `true` if no link starts or ends at a value or inside it. Otherwise, when the value is removed, another
    /// place takes over its content.
    fn has_no_links(&self, index: u32) -> bool {
        let Some(link_sums) = &self.link_sums else { return true };
        let links_before = |index: u32| link_sums.get(index as usize);
        links_before(index) == links_before(self.document.tape().index_after(index))
    }

    /// Returns the last entry of a map whose key is a string, if there is one.
    fn last_string_key(&mut self, map: Cursor<'d>) -> Option<Option<ChildSlot>> {
        self.child_index(map)?;
        let index = self.indexes.get(&map.index())?.as_ref()?;
        if let Some(entry) = index.last_name {
            return Some(Some(ChildSlot::New(entry)));
        }
        let entries = &self.places.changes.entries;
        for (child, key) in index.keys_from_last() {
            crate::steps::count(1);
            let renamed = self.renamed.get(&child).and_then(|entry| first_entry_key(entries.get(*entry)?.cursor()));
            let key = renamed.map_or(key, |(_, key)| key);
            if matches!(key, Key::Name(name) if name.node.kind.is_string()) {
                return Some(Some(ChildSlot::Old(child)));
            }
        }
        Some(None)
    }

    /// Returns the current key of a child of a map, and the document that contains it.
    fn current_key(&self, slot: ChildSlot, map: Cursor<'d>) -> Option<(&Document<'_>, Key<'_>)> {
        let entries = &self.places.changes.entries;
        match slot {
            ChildSlot::New(entry) => first_entry_key(entries.get(entry)?.cursor()),
            ChildSlot::Old(node) => match self.renamed.get(&node) {
                Some(entry) => first_entry_key(entries.get(*entry)?.cursor()),
                None => Some((self.document, self.indexes.get(&map.index())?.as_ref()?.key_before_changes(node)?)),
            },
        }
    }
}

/// Returns the key of an entry.
fn first_entry_key(entry: Cursor<'_>) -> Option<(&Document<'_>, Key<'_>)> {
    let document = entry.document();
    document.root().body().entries().next().map(|(key, _)| (document, key))
}
