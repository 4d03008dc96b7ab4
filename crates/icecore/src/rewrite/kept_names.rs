//! Counts matches in keys and class names that the options leave unchanged, so that callers can report them.

use super::StringRole;
use super::change_lookahead::ChangeLookahead;
use super::string_rewriter::StringRewriter;
use crate::format::strings::{FoundString, StringRequest};
use crate::format::{Format, Settings};
use crate::limits::Limits;

impl StringRewriter<'_> {
    /// Returns `true` if keys or class names stay unchanged.
    pub(super) fn keeps_names(&self) -> bool {
        !self.options.keys || !self.options.classes
    }

    /// Counts the keys and class names of a document that stay unchanged only because of the options.
    pub(super) fn count_kept_names(&mut self, format: &Format, settings: &Settings, bytes: &[u8], limits: &Limits) {
        if !self.change.may_change(bytes) {
            return;
        }
        let lookahead = ChangeLookahead::new(self.change, bytes);
        let is_wanted = |start: usize, end: usize| lookahead.may_change_within(start, end);
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
}
