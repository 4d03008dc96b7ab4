//! A document while alterations are applied to it.

use super::places::FoundChanges;
use super::refusal::Refusal;
use super::{Alteration, classes, combined_alterations, places};
use crate::document::{Builder, Document, Kind, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::losses::{LossKind, Losses};
use crate::stage::Stage;
use std::borrow::Cow;

/// What a node was before any alteration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    /// The node in the document before any alteration; `None` if the node is new.
    pub(super) node: Option<u32>,
    /// Whether its content or its name changed.
    pub(super) is_touched: bool,
    /// Whether its key changed.
    pub(super) is_renamed: bool,
}

/// The document in its current state.
pub(super) struct Draft<'d> {
    /// The document before any alteration.
    pub(super) source: &'d Document<'d>,
    current: Cow<'d, Document<'d>>,
    /// The origin of each node of the current document.
    pub(super) origins: Vec<Origin>,
    pub(super) losses: Losses,
    /// Values that were stored once for several places and are now written out.
    pub(super) written_out: Option<Losses>,
    has_other_meaning: bool,
}

impl<'d> Draft<'d> {
    pub(super) fn new(source: &'d Document<'d>) -> Draft<'d> {
        let origins = (0..source.tape().len()).map(|index| Origin { node: Some(index), ..Origin::default() }).collect();
        Draft {
            source,
            current: Cow::Borrowed(source),
            origins,
            losses: Losses::default(),
            written_out: None,
            has_other_meaning: false,
        }
    }

    pub(super) fn document(&self) -> &Document<'d> {
        &self.current
    }

    /// Returns `true` if the document means something else than before the alterations.
    pub(super) fn is_changed(&self) -> bool {
        self.has_other_meaning && *self.current != *self.source
    }

    /// Replaces the document; `kept` pairs nodes of the previous document with those of the new one.
    pub(super) fn replace_document(&mut self, document: Document<'static>, kept: &[(u32, u32)]) {
        let mut origins = vec![Origin::default(); document.nodes().len()];
        for (before, now) in kept {
            if let (Some(origin), Some(place)) = (self.origins.get(*before as usize), origins.get_mut(*now as usize)) {
                *place = *origin;
            }
        }
        self.current = Cow::Owned(document.made_from(&self.current, kept));
        (self.origins, self.has_other_meaning) = (origins, true);
    }

    /// Applies alterations in their order. As many as possible are found together, because each change rebuilds the
    /// whole document.
    pub(super) fn apply_all(
        &mut self,
        alterations: &[Alteration],
        stage: &Stage,
        limits: &Limits,
    ) -> Result<(), Refusal> {
        let mut rest = alterations;
        while let [first, ..] = rest {
            let count = self.apply_together(rest, stage, limits);
            if count == 0 {
                self.apply_alteration(first, stage, limits, 0)?;
            }
            rest = rest.get(count.max(1)..).unwrap_or_default();
        }
        Ok(())
    }

    /// Applies as many of the first alterations as can be found together, and returns their number.
    fn apply_together(&mut self, alterations: &[Alteration], stage: &Stage, limits: &Limits) -> usize {
        let are_some = alterations.len() > 1 && alterations.iter().take(2).all(combined_alterations::can_combine);
        if !are_some || self.current.tape().has_copies() {
            return 0;
        }
        let (changes, count) = combined_alterations::find_changes_together(&self.current, alterations, stage, limits);
        // A change that can't be made is refused when its alteration is applied alone.
        if count > 0 && self.rebuild_with_changes(changes).is_ok() { count } else { 0 }
    }

    pub(super) fn apply_alteration(
        &mut self,
        alteration: &Alteration,
        stage: &Stage,
        limits: &Limits,
        level: u32,
    ) -> Result<(), Refusal> {
        if let Alteration::RenameClass(map) = alteration {
            return classes::rename_classes(self, map, limits, level);
        }
        let mut changes = places::find_changes(&self.current, alteration, stage, limits)?;
        let touched = changes.touched_nodes();
        if touches_copied_value(self.current.tape(), &touched) {
            // A copy of a changed value keeps the old value.
            self.written_out.get_or_insert_with(|| count_sharing_losses(&self.current));
            let expanded = self.current.without_copies(limits).map_err(Refusal::Unwritable)?.into_owned().into_owned();
            self.replace_document(expanded, &[]);
            changes = places::find_changes(&self.current, alteration, stage, limits)?;
        }
        self.rebuild_with_changes(changes)
    }

    /// Replaces the document by one with these changes.
    fn rebuild_with_changes(&mut self, mut changes: FoundChanges) -> Result<(), Refusal> {
        crate::steps::count(self.current.nodes().len());
        let (document, kept) =
            Builder::copy_with_changes(&self.current, &changes.to_changes()).map_err(Refusal::Unwritable)?;
        for index in changes.touched_nodes() {
            if let Some(origin) = self.origins.get_mut(index as usize) {
                origin.is_touched = true;
            }
        }
        for (index, _) in &changes.keys {
            if let Some(origin) = self.origins.get_mut(*index as usize) {
                origin.is_renamed = true;
            }
        }
        for entry in &mut changes.entries {
            self.losses.merge(entry.take_losses());
        }
        self.replace_document(document, &kept);
        Ok(())
    }

    /// Replaces the tape by one whose nodes are in the same places, and some of which mean something else.
    pub(super) fn exchange_tape(&mut self, tape: Tape) -> Result<(), Error> {
        for (index, (old, new)) in self.current.nodes().iter().zip(tape.nodes()).enumerate() {
            if old != new
                && let Some(origin) = self.origins.get_mut(index)
            {
                origin.is_touched = true;
                origin.is_renamed |= old.key != new.key;
                if !new.kind.is_container() {
                    origin.node = None;
                }
            }
        }
        let document = self.current.with_tape(tape).into_owned();
        (self.current, self.has_other_meaning) = (Cow::Owned(document), true);
        Ok(())
    }

    /// Returns the document without the spelling of what changed; with `drops_all`, without any spelling.
    pub(super) fn without_changed_spelling(&self, drops_all: bool) -> Document<'_> {
        let mut document = self.current.clone().into_owned();
        if drops_all {
            return document.without_detail();
        }
        let ordinals = crate::document::Ordinals::from_tape(document.tape());
        let gone = (0u32..).zip(&self.origins).filter(|(_, origin)| origin.is_touched);
        let gone: std::collections::HashSet<u32> = gone.map(|(index, _)| ordinals.node_to_ordinal(index)).collect();
        if let Some(mut spelling) = document.spelling().cloned() {
            spelling.notes.retain(|note| !gone.contains(&note.ordinal));
            document.set_spelling(spelling);
        }
        document
    }
}

/// Returns the arrays and maps that occur in several places and are stored once, as losses of kind `Sharing`.
fn count_sharing_losses(document: &Document<'_>) -> Losses {
    let mut losses = Losses::default();
    for (index, node) in (0u32..).zip(document.nodes()) {
        let is_container = || document.at(index).is_some_and(|cursor| cursor.target().kind().is_container());
        if node.kind == Kind::Copy && is_container() {
            losses.add(LossKind::Sharing, || document.path(index));
        }
    }
    losses
}

/// Returns `true` if one of these nodes is in a value that a copy elsewhere refers to.
fn touches_copied_value(tape: &Tape, touched: &[u32]) -> bool {
    if !tape.has_copies() {
        return false;
    }
    let mut touched = touched.to_vec();
    touched.sort_unstable();
    let copies = tape.nodes().iter().filter(|node| node.kind == Kind::Copy);
    let mut named = copies.filter_map(|copy| u32::try_from(copy.payload).ok());
    named.any(|named| {
        let first = touched.partition_point(|index| *index < named);
        touched.get(first).is_some_and(|index| *index < tape.index_after(named))
    })
}
