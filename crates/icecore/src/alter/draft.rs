//! A document between its first and its last alteration.

use super::places::Found;
use super::refusal::Refusal;
use super::{Alteration, classes, places, together};
use crate::document::{Builder, Document, Kind, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::losses::{LossKind, Losses};
use crate::stage::Stage;
use std::borrow::Cow;

/// What a node was before all alterations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    /// The node in the original; `None`, if it is new.
    pub(super) node: Option<u32>,
    /// What is in it, or its name, changed.
    pub(super) is_touched: bool,
    /// Its key is another one.
    pub(super) is_renamed: bool,
}

/// The document as it is by now.
pub(super) struct Draft<'d> {
    pub(super) original: &'d Document<'d>,
    now: Cow<'d, Document<'d>>,
    /// Of each node.
    pub(super) origins: Vec<Origin>,
    pub(super) losses: Losses,
    /// The values that were stored once for several places, and are not any more.
    pub(super) written_out: Option<Losses>,
    is_other: bool,
}

impl<'d> Draft<'d> {
    pub(super) fn new(original: &'d Document<'d>) -> Draft<'d> {
        let origins = (0..original.tape().len()).map(|at| Origin { node: Some(at), ..Origin::default() }).collect();
        Draft {
            original,
            now: Cow::Borrowed(original),
            origins,
            losses: Losses::default(),
            written_out: None,
            is_other: false,
        }
    }

    pub(super) fn document(&self) -> &Document<'d> {
        &self.now
    }

    /// Whether it means something else than the original.
    pub(super) fn is_changed(&self) -> bool {
        self.is_other && *self.now != *self.original
    }

    /// It is this one now; `kept` pairs its nodes before with those now.
    pub(super) fn become_other(&mut self, document: Document<'static>, kept: &[(u32, u32)]) {
        let mut origins = vec![Origin::default(); document.nodes().len()];
        for (before, now) in kept {
            if let (Some(origin), Some(place)) = (self.origins.get(*before as usize), origins.get_mut(*now as usize)) {
                *place = *origin;
            }
        }
        self.now = Cow::Owned(document.made_from(&self.now, kept));
        (self.origins, self.is_other) = (origins, true);
    }

    /// Applies alterations in their order. As many as can be are found together, because the whole
    /// document is made anew each time.
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
                self.apply(first, stage, limits, 0)?;
            }
            rest = rest.get(count.max(1)..).unwrap_or_default();
        }
        Ok(())
    }

    /// Applies the first of these, as many as can be found together, and returns how many these are.
    fn apply_together(&mut self, alterations: &[Alteration], stage: &Stage, limits: &Limits) -> usize {
        let are_some = alterations.len() > 1 && alterations.iter().take(2).all(together::may_be);
        if !are_some || self.now.tape().has_copies() {
            return 0;
        }
        let (found, count) = together::find(&self.now, alterations, stage, limits);
        // What can't be made is refused when it is made alone.
        if count > 0 && self.change(found).is_ok() { count } else { 0 }
    }

    pub(super) fn apply(
        &mut self,
        alteration: &Alteration,
        stage: &Stage,
        limits: &Limits,
        level: u32,
    ) -> Result<(), Refusal> {
        if let Alteration::RenameClass(map) = alteration {
            return classes::rename(self, map, limits, level);
        }
        let mut found = places::find(&self.now, alteration, stage, limits)?;
        let touched = found.touched();
        if is_copied(self.now.tape(), &touched) {
            // A copy of what changes stays what it was.
            self.written_out.get_or_insert_with(|| copies(&self.now));
            let plain = self.now.without_copies(limits).map_err(Refusal::Unwritable)?.into_owned().into_owned();
            self.become_other(plain, &[]);
            found = places::find(&self.now, alteration, stage, limits)?;
        }
        self.change(found)
    }

    /// Makes the document another one, with what was found.
    fn change(&mut self, mut found: Found) -> Result<(), Refusal> {
        crate::steps::count(self.now.nodes().len());
        let (document, kept) = Builder::changed(&self.now, &found.changes()).map_err(Refusal::Unwritable)?;
        for at in found.touched() {
            if let Some(origin) = self.origins.get_mut(at as usize) {
                origin.is_touched = true;
            }
        }
        for (at, _) in &found.keys {
            if let Some(origin) = self.origins.get_mut(*at as usize) {
                origin.is_renamed = true;
            }
        }
        for entry in &mut found.entries {
            self.losses.merge(entry.take_losses());
        }
        self.become_other(document, &kept);
        Ok(())
    }

    /// Nodes keep their places, and some of them mean something else.
    pub(super) fn exchange(&mut self, tape: Tape) -> Result<(), Error> {
        for (at, (old, new)) in self.now.nodes().iter().zip(tape.nodes()).enumerate() {
            if old != new
                && let Some(origin) = self.origins.get_mut(at)
            {
                origin.is_touched = true;
                origin.is_renamed |= old.key != new.key;
                if !new.kind.is_container() {
                    origin.node = None;
                }
            }
        }
        let document = self.now.beside(tape).into_owned();
        (self.now, self.is_other) = (Cow::Owned(document), true);
        Ok(())
    }

    /// The document without the spelling of what changed; with `all`, without any.
    pub(super) fn forgetting(&self, all: bool) -> Document<'_> {
        let mut document = self.now.clone().into_owned();
        if all {
            return document.without_detail();
        }
        let ordinals = crate::document::Ordinals::of(document.tape());
        let gone = (0u32..).zip(&self.origins).filter(|(_, origin)| origin.is_touched);
        let gone: std::collections::HashSet<u32> = gone.map(|(at, _)| ordinals.ordinal(at)).collect();
        if let Some(mut spelling) = document.spelling().cloned() {
            spelling.notes.retain(|note| !gone.contains(&note.ordinal));
            document.set_spelling(spelling);
        }
        document
    }
}

/// The arrays and maps that stand in several places and are stored once, as losses of that.
fn copies(document: &Document<'_>) -> Losses {
    let mut losses = Losses::default();
    for (at, node) in (0u32..).zip(document.nodes()) {
        let is_container = || document.at(at).is_some_and(|here| here.target().kind().is_container());
        if node.kind == Kind::Copy && is_container() {
            losses.add(LossKind::Sharing, || document.path(at));
        }
    }
    losses
}

/// Whether a copy elsewhere equals something in which one of these nodes is.
fn is_copied(tape: &Tape, touched: &[u32]) -> bool {
    if !tape.has_copies() {
        return false;
    }
    let mut touched = touched.to_vec();
    touched.sort_unstable();
    let copies = tape.nodes().iter().filter(|node| node.kind == Kind::Copy);
    let mut named = copies.filter_map(|copy| u32::try_from(copy.payload).ok());
    named.any(|named| {
        let first = touched.partition_point(|at| *at < named);
        touched.get(first).is_some_and(|at| *at < tape.next(named))
    })
}
