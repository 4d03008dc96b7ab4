//! Searches for frozen data, layer by layer.

use super::change_lookahead::ChangeLookahead;
use super::tally::Broken;
use super::{Change, Edits, Rewriting, StringRole, Tally, plain_text, signed, tape};
use crate::deep::LEVELS;
use crate::edit::raw_edits;
use crate::error::{Error, ErrorKind};
use crate::format::strings::{Damage, FoundString, Length, LengthPrefixed, StringPlace, StringPlaces, StringRequest};
use crate::format::{self, Format, Request, Settings};
use crate::limits::Limits;
use std::ops::Range;

/// Number of bytes of a broken text that are kept.
const MAX_HEAD_LEN: usize = 60;

/// The change, its options, and the results.
pub(super) struct StringRewriter<'w> {
    pub(super) change: &'w mut dyn Change,
    pub(super) options: &'w Rewriting,
    pub(super) tally: &'w mut Tally,
    /// The remaining limits.
    pub(super) limits: Limits,
}

/// The result for a text.
pub(super) enum ProbeResult {
    /// Frozen data: these are its changes.
    Frozen(Edits),
    /// Frozen data that stays unchanged.
    Kept,
    /// Plain text, although it may look like frozen data.
    Plain(Option<Broken>),
}

impl<'w> StringRewriter<'w> {
    pub(super) fn new(change: &'w mut dyn Change, options: &'w Rewriting, tally: &'w mut Tally) -> StringRewriter<'w> {
        StringRewriter { change, options, tally, limits: options.limits.clone() }
    }

    /// Returns `true` if these bytes have to be examined.
    pub(super) fn may_contain_change(&self, raw: &[u8]) -> bool {
        self.examines_everything() || self.change.may_change(raw)
    }

    /// Returns `true` if every text has to be examined. The strings of encoded data are visible only after decoding.
    /// If damage is to be repaired, a wrong length may be in any text.
    fn examines_everything(&self) -> bool {
        self.options.base64 || self.options.repair
    }

    /// Returns the changes of a value of any kind.
    pub(super) fn change_value(&mut self, bytes: &[u8], level: u32) -> Edits {
        if self.may_contain_change(bytes) { self.change_examined(bytes, level) } else { Edits::new() }
    }

    /// Like [`StringRewriter::change_value`], for a value that has to be examined.
    pub(super) fn change_examined(&mut self, bytes: &[u8], level: u32) -> Edits {
        match self.probe_text(bytes, level) {
            ProbeResult::Frozen(edits) => edits,
            ProbeResult::Kept => Edits::new(),
            ProbeResult::Plain(broken) => self.change_mixed_text(bytes, level, broken),
        }
    }

    /// Returns the changes of a plain text.
    pub(super) fn change_plain_text(&mut self, text: &[u8], role: StringRole) -> Edits {
        let mut edits = Edits::new();
        if self.change.may_change(text) {
            self.change.change_text(text, role, &mut edits);
        }
        self.tally.changed += u64::from(!edits.is_empty());
        edits
    }

    /// Determines what a text is, and its changes if it is frozen data.
    pub(super) fn probe_text(&mut self, bytes: &[u8], level: u32) -> ProbeResult {
        if bytes.len() < 2 || !self.options.base64 && plain_text::is_certainly_text(bytes) {
            return ProbeResult::Plain(None);
        }
        self.probe_with_trimming(bytes, level)
    }

    /// Like [`StringRewriter::probe_text`], without its quick checks. Tries each format and wrapper on the text, and
    /// then on the text without the blanks around it.
    pub(super) fn probe_with_trimming(&mut self, bytes: &[u8], level: u32) -> ProbeResult {
        match self.probe_whole(bytes, level) {
            ProbeResult::Plain(mut broken) => {
                self.change_trimmed(bytes, level, &mut broken).unwrap_or(ProbeResult::Plain(broken))
            }
            result => result,
        }
    }

    /// Like [`StringRewriter::probe_with_trimming`], but does not remove blanks around the text.
    pub(super) fn probe_whole(&mut self, bytes: &[u8], level: u32) -> ProbeResult {
        let mut broken = None;
        for format in format::all().iter().copied().filter(|format| is_candidate(format, bytes)) {
            if level >= LEVELS {
                return self.keep_beyond_limit(bytes);
            }
            if let Ok(Some(edits)) = self.change_repaired(format, bytes, Damage::Names, level) {
                return ProbeResult::Frozen(edits);
            }
            let limits = self.limits.clone();
            match self.change_document(format, &Settings::new(), bytes, &limits, level) {
                Ok(edits) => return ProbeResult::Frozen(edits),
                Err(error) if error.kind() == ErrorKind::Limit => return self.keep_beyond_limit(bytes),
                // The data is valid, but this change can't be represented. It is kept, because a change as plain text
                // would make it invalid.
                Err(error) if error.kind() == ErrorKind::Unsupported && is_readable(format, bytes, &limits) => {
                    self.tally.unrepresentable += u64::from(self.change.may_change(bytes));
                    return ProbeResult::Kept;
                }
                Err(error) => {
                    if broken.is_none() && format.may_begin(bytes) {
                        broken = Some((format, error));
                    }
                }
            }
        }
        // Data inside of another value may only be escaped, so only wrong lengths are repaired there. At the top
        // level, every kind of damage is repaired.
        let damage = if level == 0 { Damage::Whole } else { Damage::Lengths };
        let mut repaired = Ok(None);
        if let Some((format, _)) = broken.as_ref().filter(|_| level == 0) {
            repaired = self.change_repaired(format, bytes, damage, level);
        }
        if !matches!(repaired, Ok(Some(_)))
            && let Some(edits) = self.change_wrapped(bytes, level)
        {
            return edits;
        }
        let Some((format, error)) = broken else { return ProbeResult::Plain(None) };
        if level > 0 {
            repaired = self.change_repaired(format, bytes, damage, level);
        }
        match repaired {
            Ok(Some(edits)) => ProbeResult::Frozen(edits),
            Ok(None) => ProbeResult::Plain(Some(describe_broken(format, bytes, level, &error))),
            Err(error) => ProbeResult::Plain(Some(describe_broken(format, bytes, level, &error))),
        }
    }

    /// Returns the result for data that could not be read because of a limit: it stays unchanged.
    pub(super) fn keep_beyond_limit(&mut self, bytes: &[u8]) -> ProbeResult {
        self.tally.beyond += u64::from(self.change.may_change(bytes));
        ProbeResult::Kept
    }

    /// Returns the changes of a document of this format.
    pub(super) fn change_document(
        &mut self,
        format: &'static Format,
        settings: &Settings,
        bytes: &[u8],
        limits: &Limits,
        level: u32,
    ) -> Result<Edits, Error> {
        let mut may_change_names = self.keeps_names();
        let places = format.strings.map(|strings| {
            let (keys, classes) = (self.options.keys, self.options.classes);
            let lookahead = ChangeLookahead::new(self.change, bytes);
            let examines_all = self.examines_everything();
            let is_wanted = |start, end| examines_all || lookahead.may_change_within(start, end);
            let found = (strings.find)(
                bytes,
                settings,
                &StringRequest { limits, wants_keys: keys, wants_classes: classes, is_wanted: &is_wanted },
            );
            may_change_names = may_change_names && (examines_all || lookahead.may_change_outside());
            found
        });
        let edits = match places {
            Some(Ok(places)) => {
                let rest = bytes.get(places.consumed..).unwrap_or_default();
                if !rest.is_empty() && !format.ends_with_blanks(rest) {
                    return Err(Error::trailing(bytes, places.consumed));
                }
                let signed_ranges = match &places.strings[..] {
                    [] => Vec::new(),
                    _ => signed::find_signed_ranges(format, settings, bytes, limits),
                };
                let edits = self.change_strings(format, bytes, &places, &signed_ranges, level);
                if may_change_names {
                    self.count_kept_names(format, settings, bytes, limits);
                }
                edits
            }
            Some(Err(error)) if error.kind() != ErrorKind::Unsupported => return Err(error),
            _ => tape::edit_through_tape(self, format, settings, bytes, limits, level)?,
        };
        self.tally.frozen.add(format.name, 1);
        Ok(edits)
    }

    /// Repairs a damaged text and then changes it. Returns `None` if repairs are not wanted, or if there is none.
    pub(super) fn change_repaired(
        &mut self,
        format: &'static Format,
        bytes: &[u8],
        damage: Damage,
        level: u32,
    ) -> Result<Option<Edits>, Error> {
        let Some(repair) = format.strings.and_then(|strings| strings.repair).filter(|_| self.options.repair) else {
            return Ok(None);
        };
        let limits = self.limits.clone();
        let Some(repaired) = repair(bytes, damage, &limits)? else { return Ok(None) };
        let edits = self.change_document(format, &Settings::new(), &repaired.text, &limits, level)?;
        self.tally.count_repaired(repaired.explanation);
        Ok(Some(Edits::between(bytes, &edits.apply(&repaired.text))))
    }

    /// Returns `true` if something in signed data would be changed. Nothing is counted.
    pub(super) fn would_change(&mut self, text: &[u8], level: u32) -> bool {
        let tally = self.tally.clone();
        self.change.begin_trial();
        let edits = self.change_value(text, level + 1);
        self.change.end_trial(false);
        *self.tally = tally;
        !edits.is_empty()
    }

    /// Returns `true` if bytes that are not changed contain something that would be changed in a text. Nothing is
    /// counted.
    pub(super) fn has_match(&mut self, bytes: &[u8]) -> bool {
        if !self.change.may_change(bytes) {
            return false;
        }
        let mut edits = Edits::new();
        self.change.begin_trial();
        self.change.change_text(bytes, StringRole::Value, &mut edits);
        self.change.end_trial(false);
        !edits.is_empty()
    }

    /// Returns the changes of the strings at these places. Strings in `signed_ranges` are signed and stay
    /// unchanged.
    fn change_strings(
        &mut self,
        format: &Format,
        bytes: &[u8],
        places: &StringPlaces,
        signed_ranges: &[Range<usize>],
        level: u32,
    ) -> Edits {
        let mut splice = EditSplice { edits: Edits::new(), open: Vec::new() };
        let mut signed_ranges = signed_ranges.iter().peekable();
        for string in &places.strings {
            match string {
                FoundString::Text(place) => {
                    splice.close_length_prefixed_before(place.start);
                    while signed_ranges.next_if(|range| range.end <= place.start).is_some() {}
                    if signed_ranges.peek().is_some_and(|range| range.start <= place.start) {
                        let text = bytes.get(place.start..place.end).unwrap_or_default();
                        let would_change = self.would_change(text, level);
                        self.tally.signed += u64::from(would_change);
                        continue;
                    }
                    let Some((edits, growth)) = self.change_string_at(bytes, places, place, level) else { continue };
                    if place.role == StringRole::Class && !accepts_class_name(format, bytes, place, &edits) {
                        self.tally.unrepresentable += 1;
                        continue;
                    }
                    splice.add_string_edits(place, &edits, growth);
                }
                FoundString::LengthPrefixed(measured) => {
                    splice.close_length_prefixed_before(measured.length.start);
                    splice.open_length_prefixed(bytes, *measured);
                }
                FoundString::Opaque(start, end) => {
                    let body = bytes.get(*start..*end).unwrap_or_default();
                    let has_match = self.has_match(body);
                    let count = match signed::is_signed_body(body) {
                        true => &mut self.tally.signed,
                        false => &mut self.tally.opaque,
                    };
                    *count += u64::from(has_match);
                }
            }
        }
        splice.close_length_prefixed_before(usize::MAX);
        splice.edits.drop_unchanged(bytes);
        splice.edits
    }

    /// Returns the changes of a string, and how much it grows without its escapes.
    fn change_string_at(
        &mut self,
        bytes: &[u8],
        places: &StringPlaces,
        place: &StringPlace,
        level: u32,
    ) -> Option<(Edits, i64)> {
        let raw = bytes.get(place.start..place.end)?;
        let escaping = place.escaping.and_then(|index| places.escapings.get(index));
        let (edits, growth) = match escaping {
            None => {
                let edits = self.change_decoded(raw, place.role, level);
                let growth = edits.growth();
                (edits, growth)
            }
            Some(escaping) => {
                let decoded = escaping.decode(raw)?;
                let edits = self.change_decoded(decoded.text(), place.role, level);
                if edits.is_empty() {
                    return None;
                }
                let growth = edits.growth();
                let Some(raw_edits) = raw_edits(raw, &decoded, &edits, &**escaping) else {
                    self.tally.unrepresentable += 1;
                    return None;
                };
                (raw_edits, growth)
            }
        };
        if edits.is_empty() {
            return None;
        }
        if growth != 0 && place.length.is_some_and(|length| length.write_grown(growth).is_none()) {
            self.tally.unrepresentable += 1;
            return None;
        }
        Some((edits, growth))
    }

    /// Returns the changes of the decoded text of a string in this role.
    fn change_decoded(&mut self, text: &[u8], role: StringRole, level: u32) -> Edits {
        match role {
            StringRole::Value => self.change_value(text, level + 1),
            role => self.change_plain_text(text, role),
        }
    }
}

/// Collects edits from front to back, and corrects the lengths of the parts of the format around them.
struct EditSplice {
    edits: Edits,
    /// Parts with a length that are not yet closed, from the outermost to the innermost.
    open: Vec<OpenPart>,
}

/// A part with a length that is not yet closed.
struct OpenPart {
    part: LengthPrefixed,
    /// Index of the edit for its length.
    length_edit: usize,
    /// Number of bytes by which it grows.
    growth: i64,
}

impl EditSplice {
    /// Begins a part that has a length. Adds an edit for the length now, because edits are in order; its text is
    /// known only at the end of the part.
    fn open_length_prefixed(&mut self, bytes: &[u8], measured: LengthPrefixed) {
        let Length { start, end, .. } = measured.length;
        self.edits.push(start, end, bytes.get(start..end).unwrap_or_default());
        self.open.push(OpenPart { part: measured, length_edit: self.edits.len() - 1, growth: 0 });
    }

    /// Closes parts that end at or before this offset.
    fn close_length_prefixed_before(&mut self, offset: usize) {
        while let Some(OpenPart { part, length_edit, growth }) = self.open.pop_if(|open| open.part.end <= offset) {
            if growth == 0 {
                continue;
            }
            let length = part.length;
            let Some(new) = length.write_grown(growth) else { continue };
            let length_growth = new.len() as i64 - (length.end - length.start) as i64;
            self.edits.set_new_bytes(length_edit, &new);
            self.grow_enclosing(growth + length_growth);
        }
    }

    /// Adds growth to the enclosing part.
    fn grow_enclosing(&mut self, delta: i64) {
        if let Some(open) = self.open.last_mut() {
            open.growth += delta;
        }
    }

    /// Adds the changes of a string.
    fn add_string_edits(&mut self, place: &StringPlace, edits: &Edits, growth: i64) {
        let mut total_growth = edits.growth();
        if let Some(length) = place.length.filter(|_| growth != 0)
            && let Some(new) = length.write_grown(growth)
        {
            total_growth += new.len() as i64 - (length.end - length.start) as i64;
            self.edits.push(length.start, length.end, &new);
        }
        self.edits.append(edits, place.start);
        self.grow_enclosing(total_growth);
    }
}

/// Returns `true` if the bytes look enough like this format to try to read them.
fn is_candidate(format: &Format, bytes: &[u8]) -> bool {
    match (format.strings, format.detect_in_string) {
        (Some(strings), _) => (strings.is_candidate)(bytes),
        (None, Some(detect)) => detect(bytes),
        (None, None) => format.is_likely(bytes),
    }
}

/// Returns `true` if all of these bytes can be read as this format.
#[cold]
fn is_readable(format: &Format, bytes: &[u8], limits: &Limits) -> bool {
    let outcome = format.read(bytes, &Settings::new(), Request::new(limits));
    let rest = bytes.get(outcome.consumed..).unwrap_or_default();
    outcome.error.is_none() && (rest.is_empty() || format.ends_with_blanks(rest))
}

/// Returns `true` if the format accepts the new name of a class.
fn accepts_class_name(format: &Format, bytes: &[u8], place: &StringPlace, edits: &Edits) -> bool {
    let Some(is_class_name) = format.strings.and_then(|strings| strings.is_class_name) else { return true };
    is_class_name(&edits.apply(bytes.get(place.start..place.end).unwrap_or_default()))
}

fn describe_broken(format: &Format, bytes: &[u8], level: u32, error: &Error) -> Broken {
    Broken {
        format: format.name,
        level,
        offset: error.offset().unwrap_or_default(),
        reason: error.to_string(),
        head: bytes.get(..MAX_HEAD_LEN).unwrap_or(bytes).to_vec(),
    }
}
