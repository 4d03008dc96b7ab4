//! Records spelling and spans, if the sink keeps detail.

use super::super::spelling::{StringOf, code, tracked};
use super::super::tag;
use super::{Machine, TrackedTag, Word};
use crate::document::{NO_NODE, Recorder, Sink};
use std::collections::HashSet;

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// Records a piece of the input from `start` to here.
    #[inline]
    pub(super) fn record_span(&mut self, start: usize, node: u32, name: &'static str) {
        self.sink.record_span(start, self.scan.offset, node, name);
    }

    #[inline]
    pub(super) fn record_begin(&mut self, node: u32) {
        self.sink.record_begin(node, self.scan.offset);
    }

    #[inline]
    pub(super) fn record_end(&mut self, node: u32) {
        self.sink.record_end(node, self.scan.offset);
    }

    /// Records the tag of a leaf, unless it is the writer's default.
    #[inline]
    pub(super) fn note_tag(&mut self, node: u32, tag: u8, is_default: bool) {
        if S::DETAIL && !is_default {
            self.sink.record_note(node, code::TAG, u64::from(tag));
        }
    }

    pub(super) fn note_string(&mut self, node: u32, tag: u8, word: &Word<'_>) {
        if S::DETAIL {
            self.speller.record_string(word.tag_offset, node, StringOf::Value);
            self.note_tag(node, tag, tag != tag::BINARY || word.bytes.len() > tag::MAX_SHORT_LEN);
        }
    }

    pub(super) fn set_copying(&mut self, is_in_copy: bool) {
        if S::DETAIL {
            self.speller.is_in_copy = is_in_copy;
            if let Some(detail) = self.sink.detail() {
                detail.is_in_copy = is_in_copy;
            }
        }
    }

    pub(super) fn note_unused_tracks(&mut self) {
        if S::DETAIL {
            let tracked = std::mem::take(&mut self.tracked);
            let is_used = |known: &TrackedTag| known.is_used && !known.is_reread;
            // Variables that links refer to by their first tag.
            let first: HashSet<u32> = tracked
                .values()
                .filter(|known| is_used(known) && !known.is_later_tag())
                .map(|known| known.variable)
                .collect();
            for known in tracked.into_values().filter(|known| known.node != NO_NODE) {
                let is_named = is_used(&known) && !(known.is_later_tag() && first.contains(&known.variable));
                let tag_role = match (known.tag_role, !is_named) {
                    (tracked::AFTER, true) => tracked::MAIN,
                    (tracked::AT_WEAKEN, true) => tracked::WEAKEN,
                    (tracked::BODY, false) => tracked::AFTER,
                    (tag_role, true) => tag_role,
                    (tag_role @ (tracked::AFTER | tracked::AT_WEAKEN), false) => tag_role,
                    (tracked::REFN, false) => tracked::AT_REFN,
                    _ => continue,
                };
                self.sink.record_note(known.node, code::TRACK, tag_role);
            }
        }
    }
}
