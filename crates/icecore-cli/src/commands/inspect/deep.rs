//! Decodes strings that are frozen data themselves.

use super::DocumentSource;
use icecore::{Document, Kind, Limits, Request, Stage, deep, raw::Outcome};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Maximum length of a string whose format is detected only for a hint, because detection takes time.
const MAX_HINT_LEN: usize = 1 << 20;
/// Up to this length, detecting the format is as fast as looking it up in the cache.
const MAX_UNCACHED_LEN: usize = 64;

/// The remaining budget for decoding strings, over all strings of an input.
pub struct NestedBudget {
    /// What remains for detecting formats.
    detection_limits: RefCell<Limits>,
    /// What remains for reading.
    reading_limits: RefCell<Limits>,
    /// Number of bytes that may still be decoded.
    remaining_bytes: Cell<u64>,
}

impl NestedBudget {
    /// Returns the full budget for an input of `size` bytes.
    pub fn new(limits: &Limits, size: usize) -> NestedBudget {
        NestedBudget {
            detection_limits: RefCell::new(limits.clone()),
            reading_limits: RefCell::new(limits.clone()),
            remaining_bytes: Cell::new(limits.expanded_from(size)),
        }
    }
}

/// The formats of the strings of a document, by the location and length of their bytes. Several nodes may refer to
/// the same string, which is examined only once.
pub type StageCache = HashMap<(u64, u32), Option<Stage>>;

/// How strings that are frozen data are shown.
#[derive(Clone, Copy)]
pub struct NestedSettings<'l> {
    /// Whether their contents are shown.
    pub opens_strings: bool,
    pub budget: &'l NestedBudget,
    /// Number of strings around this document.
    pub level: u32,
    /// Depth of this document in the whole tree.
    pub base_depth: u32,
    /// Number of levels of values that are shown.
    pub depth: u32,
}

impl<'l> NestedSettings<'l> {
    /// Returns the settings inside a string at this depth.
    pub fn inside_string(self, depth: u32) -> NestedSettings<'l> {
        let base_depth = self.base_depth + depth + 1;
        NestedSettings { level: self.level + 1, base_depth, depth: self.depth.saturating_sub(depth + 1), ..self }
    }

    /// Returns true if strings of this document may be decoded.
    pub fn may_open_strings(&self) -> bool {
        self.opens_strings && self.level < deep::LEVELS
    }

    /// Returns true if the contents of a string at this depth are shown.
    pub fn shows_contents(&self, depth: u32) -> bool {
        self.may_open_strings() && depth < self.depth
    }

    /// Returns the format of a value, if it is a string that is frozen data.
    pub fn detect_stage(
        &self,
        document: &Document<'_>,
        node_index: u32,
        depth: u32,
        stage_cache: &mut StageCache,
    ) -> Option<Stage> {
        let node = document.nodes().get(node_index as usize)?;
        let bytes = matches!(node.kind, Kind::Bytes | Kind::Text).then(|| document.bytes(node))?;
        if !self.shows_contents(depth) && bytes.len() > MAX_HINT_LEN {
            return None;
        }
        let detect = || deep::stage_within(bytes, &mut self.budget.detection_limits.borrow_mut());
        if bytes.len() <= MAX_UNCACHED_LEN {
            return detect();
        }
        stage_cache.entry((node.payload, node.aux)).or_insert_with(detect).clone()
    }

    /// Uses up the budget for this number of bytes. Returns true if it was enough.
    fn spend_budget(&self, len: usize) -> bool {
        let remaining = self.budget.remaining_bytes.get().checked_sub(len as u64);
        self.budget.remaining_bytes.set(remaining.unwrap_or(0));
        remaining.is_some()
    }
}

/// Reads the contents of a string, and calls `show` with the document. Its offsets are those of the input if the
/// input contains the string unchanged. Returns `None` if the string can't be unwrapped or the budget is used up.
pub fn open_string<T>(
    outer: &DocumentSource<'_>,
    bytes: &[u8],
    stage: &Stage,
    settings: NestedSettings<'_>,
    show: impl FnOnce(&DocumentSource<'_>, &Outcome<'_>) -> Result<T, crate::report::Abort>,
) -> Result<Option<T>, crate::report::Abort> {
    let mut limits = settings.budget.reading_limits.borrow().clone();
    let Ok(unwrapped) = stage.unwrap_within(bytes, &mut limits) else { return Ok(None) };
    settings.budget.reading_limits.borrow_mut().decompressed = limits.decompressed;
    let offset = match &unwrapped.bytes {
        Cow::Borrowed(bytes) if !outer.has_own_offsets => {
            offset_within(outer.bytes, bytes).map(|delta| outer.start + delta)
        }
        _ => None,
    };
    let bytes = &*unwrapped.bytes;
    let outcome = stage.format().read(bytes, stage.settings(), Request::new(&limits).salvaging());
    if !settings.spend_budget(bytes.len().max(outcome.document.input().len())) {
        return Ok(None);
    }
    let (start, has_own_offsets) = (offset.unwrap_or(0), offset.is_none());
    show(
        &DocumentSource { name: outer.name, stage, notes: &unwrapped.remarks, bytes, start, has_own_offsets },
        &outcome,
    )
    .map(Some)
}

/// Returns where `part` starts in `container`, if it is a slice of it and not a copy.
fn offset_within(container: &[u8], part: &[u8]) -> Option<usize> {
    let (outer, inner) = (container.as_ptr_range(), part.as_ptr_range());
    (outer.start <= inner.start && inner.end <= outer.end).then(|| inner.start as usize - outer.start as usize)
}
