//! The contents of strings that are frozen data themselves.

use super::DocumentSource;
use icecore::{Document, Kind, Limits, Request, Stage, deep, raw::Outcome};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Longer strings get no hint, because detection takes time.
const HINT: usize = 1 << 20;
/// Shorter strings are examined as quickly as they are looked up.
const SHORT: usize = 64;

/// The remaining budget for opening strings, over all strings of an input.
pub struct NestedBudget {
    /// The limits for detecting formats, and for reading.
    detection_limits: RefCell<Limits>,
    reading_limits: RefCell<Limits>,
    /// Number of bytes that may still be opened.
    remaining_bytes: Cell<u64>,
}

impl NestedBudget {
    /// Returns the full budget for an input of `size` bytes.
    pub fn full_budget(limits: &Limits, size: usize) -> NestedBudget {
        let left = Cell::new(limits.expanded_from(size));
        NestedBudget {
            detection_limits: RefCell::new(limits.clone()),
            reading_limits: RefCell::new(limits.clone()),
            remaining_bytes: left,
        }
    }
}

/// The formats of the strings of a document, by their place: copies refer to the same string repeatedly, and it is
/// examined only once.
pub type StageCache = HashMap<(u64, u32), Option<Stage>>;

/// How strings are opened.
#[derive(Clone, Copy)]
pub struct NestedSettings<'l> {
    /// Whether their contents are shown.
    pub opens: bool,
    pub spent: &'l NestedBudget,
    /// Number of strings around this position.
    pub level: u32,
    /// Depth of the string around this position.
    pub base: u32,
    /// Number of levels of values that are shown.
    pub depth: u32,
}

impl<'l> NestedSettings<'l> {
    /// Returns the settings inside a string at this depth.
    pub fn inside_string(self, depth: u32) -> NestedSettings<'l> {
        let base = self.base + depth + 1;
        NestedSettings { level: self.level + 1, base, depth: self.depth.saturating_sub(depth + 1), ..self }
    }

    /// Returns whether strings are opened here at all.
    pub fn may_enter(&self) -> bool {
        self.opens && self.level < deep::LEVELS
    }

    /// Returns whether the contents of a string at this depth are shown.
    pub fn shows_contents(&self, depth: u32) -> bool {
        self.may_enter() && depth < self.depth
    }

    /// Returns the format of a value, if it is a string that is frozen data.
    pub fn detect_stage(
        &self,
        document: &Document<'_>,
        node: u32,
        depth: u32,
        stage_cache: &mut StageCache,
    ) -> Option<Stage> {
        let known = document.nodes().get(node as usize)?;
        let bytes = matches!(known.kind, Kind::Bytes | Kind::Text).then(|| document.bytes(known))?;
        if !self.shows_contents(depth) && bytes.len() > HINT {
            return None;
        }
        let detect = || deep::stage_within(bytes, &mut self.spent.detection_limits.borrow_mut());
        if bytes.len() <= SHORT {
            return detect();
        }
        stage_cache.entry((known.payload, known.aux)).or_insert_with(detect).clone()
    }

    /// Uses up the budget for this number of bytes; returns whether it was enough.
    fn take_budget(&self, len: usize) -> bool {
        let left = self.spent.remaining_bytes.get().checked_sub(len as u64);
        self.spent.remaining_bytes.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Reads the contents of a string and passes them on, as a piece of the input if the input contains them unchanged.
/// `None`: too much was opened already.
pub fn open_string<T>(
    piece: &DocumentSource<'_>,
    bytes: &[u8],
    stage: &Stage,
    settings: NestedSettings<'_>,
    then: impl FnOnce(&DocumentSource<'_>, &Outcome<'_>) -> Result<T, crate::report::Abort>,
) -> Result<Option<T>, crate::report::Abort> {
    let mut limits = settings.spent.reading_limits.borrow().clone();
    let Ok(unwrapped) = stage.unwrap_within(bytes, &mut limits) else { return Ok(None) };
    settings.spent.reading_limits.borrow_mut().decompressed = limits.decompressed;
    let offset = match &unwrapped.bytes {
        Cow::Borrowed(bytes) if !piece.is_apart => offset_within(piece.bytes, bytes).map(|delta| piece.start + delta),
        _ => None,
    };
    let bytes = &*unwrapped.bytes;
    let outcome = stage.format().read(bytes, stage.settings(), Request::new(&limits).detailed());
    if !settings.take_budget(bytes.len().max(outcome.document.input().len())) {
        return Ok(None);
    }
    let (start, is_apart) = (offset.unwrap_or(0), offset.is_none());
    then(&DocumentSource { name: piece.name, stage, notes: &unwrapped.notes, bytes, start, is_apart }, &outcome)
        .map(Some)
}

/// Returns where `part` starts in `whole`, if it is a slice of it and not a copy.
fn offset_within(container: &[u8], part: &[u8]) -> Option<usize> {
    let (outer, inner) = (container.as_ptr_range(), part.as_ptr_range());
    (outer.start <= inner.start && inner.end <= outer.end).then(|| inner.start as usize - outer.start as usize)
}
