//! Counts matches in keys and class names that the options leave unchanged, so that callers can report them.

use super::StringRole;
use super::string_rewriter::StringRewriter;
use crate::format::strings::{FoundString, StringPlaces, StringRequest};
use crate::format::{Format, Settings};
use crate::limits::Limits;

impl StringRewriter<'_> {
    /// Returns `true` if keys or class names stay unchanged.
    pub(super) fn keeps_names(&self) -> bool {
        !self.options.keys || !self.options.classes
    }

    /// Counts the keys and class names of a document that stay unchanged only because of the options. `places` are
    /// the strings that are changed.
    pub(super) fn count_kept_names(
        &mut self,
        format: &Format,
        settings: &Settings,
        bytes: &[u8],
        places: &StringPlaces,
        limits: &Limits,
    ) {
        if !self.keeps_names() || !self.has_candidate_outside(bytes, places) {
            return;
        }
        let is_wanted =
            |start: usize, end: usize| self.change.next_change(bytes, start).is_some_and(|candidate| candidate < end);
        let request = StringRequest { limits, wants_keys: true, wants_classes: true, is_wanted: &is_wanted };
        let Some(Ok(found)) = format.strings.map(|strings| (strings.find)(bytes, settings, &request)) else { return };
        for string in &found.strings {
            let FoundString::Text(place) = string else { continue };
            if place.role == StringRole::Value {
                continue;
            }
            let raw = bytes.get(place.start..place.end).unwrap_or_default();
            match place.escaping.and_then(|index| found.escapings.get(index)) {
                None => self.count_kept_name(raw, place.role),
                Some(escaping) => {
                    if let Some(decoded) = escaping.decode(raw) {
                        self.count_kept_name(decoded.text(), place.role);
                    }
                }
            }
        }
    }

    /// Counts a key or the name of a class if it contains something to change and the options keep it.
    pub(super) fn count_kept_name(&mut self, name: &[u8], role: StringRole) {
        let is_kept = match role {
            StringRole::Value => false,
            StringRole::Key => !self.options.keys,
            StringRole::Class => !self.options.classes,
        };
        if !is_kept || !self.change.may_change(name) {
            return;
        }
        let changed = self.tally.changed;
        self.change.begin_trial();
        let edits = self.change_plain_text(name, role);
        self.change.end_trial(false);
        self.tally.changed = changed;
        match role {
            StringRole::Class => self.tally.kept_classes += u64::from(!edits.is_empty()),
            _ => self.tally.kept_keys += u64::from(!edits.is_empty()),
        }
    }

    /// Returns `true` if something may change outside of the strings at `places`. This costs one search of the
    /// document, and most documents need no more.
    fn has_candidate_outside(&self, bytes: &[u8], places: &StringPlaces) -> bool {
        let mut strings = places.strings.iter().filter_map(|string| match string {
            FoundString::Text(place) => Some(place),
            _ => None,
        });
        let mut string = strings.next();
        let mut from = 0;
        while let Some(candidate) = self.change.next_change(bytes, from) {
            while string.is_some_and(|place| place.end <= candidate) {
                string = strings.next();
            }
            match string {
                Some(place) if place.start <= candidate => from = place.end,
                _ => return true,
            }
        }
        false
    }
}
