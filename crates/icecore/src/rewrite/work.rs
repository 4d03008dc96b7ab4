//! Searches for frozen data, layer by layer.

use super::ahead::Ahead;
use super::tally::Broken;
use super::{Change, Edits, Part, Rewriting, Tally, bare, signed, tape};
use crate::deep::LEVELS;
use crate::edit::raw_edits;
use crate::error::{Error, ErrorKind};
use crate::format::strings::{Damage, Found, Length, Measured, Place, Places, Wanted};
use crate::format::{self, Format, Request, Settings};
use crate::limits::Limits;
use std::ops::Range;

/// Number of bytes of a broken text that are kept.
const HEAD: usize = 60;

/// The change, its options, and the results.
pub(super) struct Work<'w> {
    pub(super) change: &'w mut dyn Change,
    pub(super) how: &'w Rewriting,
    pub(super) tally: &'w mut Tally,
    /// The remaining limits.
    pub(super) limits: Limits,
}

/// The result for a text.
pub(super) enum Inside {
    /// Frozen data: these are its changes.
    Frozen(Edits),
    /// Frozen data that stays unchanged.
    Kept,
    /// Plain text, although it may look like frozen data.
    Plain(Option<Broken>),
}

impl<'w> Work<'w> {
    pub(super) fn new(change: &'w mut dyn Change, how: &'w Rewriting, tally: &'w mut Tally) -> Work<'w> {
        Work { change, how, tally, limits: how.limits.clone() }
    }

    /// Returns `true` if these bytes have to be examined.
    pub(super) fn may(&self, raw: &[u8]) -> bool {
        self.asks_all() || self.change.may_change(raw)
    }

    /// Encoded data has to be decoded to see its strings, and wrong lengths may be anywhere.
    fn asks_all(&self) -> bool {
        self.how.base64 || self.how.mend
    }

    /// Returns the changes of a value of any kind.
    pub(super) fn value(&mut self, bytes: &[u8], level: u32) -> Edits {
        if self.may(bytes) { self.looked_into(bytes, level) } else { Edits::new() }
    }

    /// The same for a value that has to be examined.
    pub(super) fn looked_into(&mut self, bytes: &[u8], level: u32) -> Edits {
        match self.look(bytes, level) {
            Inside::Frozen(edits) => edits,
            Inside::Kept => Edits::new(),
            Inside::Plain(broken) => self.text_around(bytes, level, broken),
        }
    }

    /// Returns the changes of a plain text.
    pub(super) fn plain(&mut self, text: &[u8], part: Part) -> Edits {
        let mut edits = Edits::new();
        if self.change.may_change(text) {
            self.change.change(text, part, &mut edits);
        }
        self.tally.changed += u64::from(!edits.is_empty());
        edits
    }

    /// Determines what a text is, and its changes if it is frozen data.
    pub(super) fn look(&mut self, bytes: &[u8], level: u32) -> Inside {
        if bytes.len() < 2 || !self.how.base64 && bare::is_bare(bytes) {
            return Inside::Plain(None);
        }
        self.probe(bytes, level)
    }

    /// The same, trying each format and wrapper, also on the text without the blanks around it.
    pub(super) fn probe(&mut self, bytes: &[u8], level: u32) -> Inside {
        match self.probe_whole(bytes, level) {
            Inside::Plain(mut broken) => self.trimmed(bytes, level, &mut broken).unwrap_or(Inside::Plain(broken)),
            inside => inside,
        }
    }

    /// The same for the text with everything around it.
    pub(super) fn probe_whole(&mut self, bytes: &[u8], level: u32) -> Inside {
        let mut broken = None;
        for format in format::all().iter().copied().filter(|format| is_candidate(format, bytes)) {
            if level >= LEVELS {
                return self.beyond(bytes);
            }
            if let Ok(Some(edits)) = self.mended(format, bytes, Damage::Names, level) {
                return Inside::Frozen(edits);
            }
            let limits = self.limits.clone();
            match self.document(format, &Settings::new(), bytes, &limits, level) {
                Ok(edits) => return Inside::Frozen(edits),
                Err(error) if error.kind() == ErrorKind::Limit => return self.beyond(bytes),
                // The data is valid, and would become invalid if it were changed as text.
                Err(error) if error.kind() == ErrorKind::Unsupported && is_readable(format, bytes, &limits) => {
                    self.tally.unsayable += u64::from(self.change.may_change(bytes));
                    return Inside::Kept;
                }
                Err(error) => {
                    if broken.is_none() && format.may_begin(bytes) {
                        broken = Some((format, error));
                    }
                }
            }
        }
        // Data in another text may be escaped; at the top level it is damaged.
        let damage = if level == 0 { Damage::Whole } else { Damage::Lengths };
        let mut mended = Ok(None);
        if let Some((format, _)) = broken.as_ref().filter(|_| level == 0) {
            mended = self.mended(format, bytes, damage, level);
        }
        if !matches!(mended, Ok(Some(_)))
            && let Some(inside) = self.wrapped(bytes, level)
        {
            return inside;
        }
        let Some((format, error)) = broken else { return Inside::Plain(None) };
        if level > 0 {
            mended = self.mended(format, bytes, damage, level);
        }
        match mended {
            Ok(Some(edits)) => Inside::Frozen(edits),
            Ok(None) => Inside::Plain(Some(broken_at(format, bytes, level, &error))),
            Err(error) => Inside::Plain(Some(broken_at(format, bytes, level, &error))),
        }
    }

    /// Data that could not be read because of a limit stays unchanged.
    pub(super) fn beyond(&mut self, bytes: &[u8]) -> Inside {
        self.tally.beyond += u64::from(self.change.may_change(bytes));
        Inside::Kept
    }

    /// Returns the changes of a document of this format.
    pub(super) fn document(
        &mut self,
        format: &'static Format,
        settings: &Settings,
        bytes: &[u8],
        limits: &Limits,
        level: u32,
    ) -> Result<Edits, Error> {
        let places = format.strings.map(|strings| {
            let (keys, classes) = (self.how.keys, self.how.classes);
            let ahead = Ahead::new(self.change, bytes);
            let asks_all = self.asks_all();
            let may = |start, end| asks_all || ahead.is_within(start, end);
            (strings.find)(bytes, settings, &Wanted { limits, keys, classes, may: &may })
        });
        let edits = match places {
            Some(Ok(places)) => {
                let rest = bytes.get(places.consumed..).unwrap_or_default();
                if !rest.is_empty() && !format.ends_with_blanks(rest) {
                    return Err(Error::trailing(bytes, places.consumed));
                }
                let sealed = match &places.list[..] {
                    [] => Vec::new(),
                    _ => signed::ranges(format, settings, bytes, limits),
                };
                self.splice(format, bytes, &places, &sealed, level)
            }
            Some(Err(error)) if error.kind() != ErrorKind::Unsupported => return Err(error),
            _ => tape::edits(self, format, settings, bytes, limits, level)?,
        };
        self.tally.frozen.add(format.name, 1);
        Ok(edits)
    }

    /// Repairs a damaged text and then changes it.
    fn mended(
        &mut self,
        format: &'static Format,
        bytes: &[u8],
        damage: Damage,
        level: u32,
    ) -> Result<Option<Edits>, Error> {
        let Some(mend) = format.strings.and_then(|strings| strings.mend).filter(|_| self.how.mend) else {
            return Ok(None);
        };
        let limits = self.limits.clone();
        let Some(mended) = mend(bytes, damage, &limits)? else { return Ok(None) };
        let edits = self.document(format, &Settings::new(), &mended.text, &limits, level)?;
        self.tally.mend(mended.explanation);
        Ok(Some(Edits::between(bytes, &edits.apply(&mended.text))))
    }

    /// Returns `true` if something in signed data would be changed. Nothing is counted.
    pub(super) fn would_change(&mut self, text: &[u8], level: u32) -> bool {
        let tally = self.tally.clone();
        self.change.begin_trial();
        let edits = self.value(text, level + 1);
        self.change.end_trial(false);
        *self.tally = tally;
        !edits.is_empty()
    }

    /// Returns the changes of the strings at these places. Strings in `sealed` ranges are signed and stay unchanged.
    fn splice(&mut self, format: &Format, bytes: &[u8], places: &Places, sealed: &[Range<usize>], level: u32) -> Edits {
        let mut splice = Splice { edits: Edits::new(), open: Vec::new() };
        let mut sealed = sealed.iter().peekable();
        for found in &places.list {
            match found {
                Found::Text(place) => {
                    splice.reach(place.start);
                    while sealed.next_if(|range| range.end <= place.start).is_some() {}
                    if sealed.peek().is_some_and(|range| range.start <= place.start) {
                        let text = bytes.get(place.start..place.end).unwrap_or_default();
                        let would_change = self.would_change(text, level);
                        self.tally.signed += u64::from(would_change);
                        continue;
                    }
                    let Some((edits, growth)) = self.place(bytes, places, place, level) else { continue };
                    if place.part == Part::Class && !takes_class(format, bytes, place, &edits) {
                        self.tally.unsayable += 1;
                        continue;
                    }
                    splice.take(place, &edits, growth);
                }
                Found::Measured(measured) => {
                    splice.reach(measured.length.start);
                    splice.enter(bytes, *measured);
                }
                Found::Opaque(start, end) => {
                    let body = bytes.get(*start..*end).unwrap_or_default();
                    let count = match signed::is_signed_body(body) {
                        true => &mut self.tally.signed,
                        false => &mut self.tally.opaque,
                    };
                    *count += u64::from(self.change.may_change(body));
                }
            }
        }
        splice.reach(usize::MAX);
        splice.edits.drop_idle(bytes);
        splice.edits
    }

    /// Returns the changes of a string, and how much it grows without its escapes.
    fn place(&mut self, bytes: &[u8], places: &Places, place: &Place, level: u32) -> Option<(Edits, i64)> {
        let raw = bytes.get(place.start..place.end)?;
        let escaping = place.escaping.and_then(|at| places.escapings.get(at));
        let (edits, growth) = match escaping {
            None => {
                let edits = self.text(raw, place.part, level);
                let growth = edits.growth();
                (edits, growth)
            }
            Some(escaping) => {
                let decoded = escaping.decode(raw)?;
                let edits = self.text(decoded.text(), place.part, level);
                if edits.is_empty() {
                    return None;
                }
                let growth = edits.growth();
                let Some(raw_edits) = raw_edits(raw, &decoded, &edits, &**escaping) else {
                    self.tally.unsayable += 1;
                    return None;
                };
                (raw_edits, growth)
            }
        };
        if edits.is_empty() {
            return None;
        }
        if growth != 0 && place.length.is_some_and(|length| length.grown(growth).is_none()) {
            self.tally.unsayable += 1;
            return None;
        }
        Some((edits, growth))
    }

    fn text(&mut self, text: &[u8], part: Part, level: u32) -> Edits {
        match part {
            Part::Value => self.value(text, level + 1),
            part => self.plain(text, part),
        }
    }
}

/// Edits from front to back, with the lengths of enclosing parts.
struct Splice {
    edits: Edits,
    /// Open parts: each with the index of the edit of its length, and its growth.
    open: Vec<(Measured, usize, i64)>,
}

impl Splice {
    /// Begins a part that has a length: reserves an edit for the length.
    fn enter(&mut self, bytes: &[u8], measured: Measured) {
        let Length { start, end, .. } = measured.length;
        self.edits.push(start, end, bytes.get(start..end).unwrap_or_default());
        self.open.push((measured, self.edits.len() - 1, 0));
    }

    /// Closes parts that end at or before this offset.
    fn reach(&mut self, at: usize) {
        while let Some((measured, place, growth)) = self.open.pop_if(|(measured, ..)| measured.end <= at) {
            if growth == 0 {
                continue;
            }
            let length = measured.length;
            let Some(new) = length.grown(growth) else { continue };
            let more = new.len() as i64 - (length.end - length.start) as i64;
            self.edits.set(place, &new);
            self.grow(growth + more);
        }
    }

    /// Adds growth to the enclosing part.
    fn grow(&mut self, by: i64) {
        if let Some((.., growth)) = self.open.last_mut() {
            *growth += by;
        }
    }

    /// Adds the changes of a string.
    fn take(&mut self, place: &Place, edits: &Edits, growth: i64) {
        let mut more = edits.growth();
        if let Some(length) = place.length.filter(|_| growth != 0)
            && let Some(new) = length.grown(growth)
        {
            more += new.len() as i64 - (length.end - length.start) as i64;
            self.edits.push(length.start, length.end, &new);
        }
        self.edits.append(edits, place.start);
        self.grow(more);
    }
}

/// Returns `true` if the bytes look enough like this format to try to read them.
fn is_candidate(format: &Format, bytes: &[u8]) -> bool {
    match (format.strings, format.inside) {
        (Some(strings), _) => (strings.inside)(bytes),
        (None, Some(inside)) => inside(bytes),
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
fn takes_class(format: &Format, bytes: &[u8], place: &Place, edits: &Edits) -> bool {
    let Some(takes) = format.strings.and_then(|strings| strings.takes_class) else { return true };
    takes(&edits.apply(bytes.get(place.start..place.end).unwrap_or_default()))
}

fn broken_at(format: &Format, bytes: &[u8], level: u32, error: &Error) -> Broken {
    Broken {
        format: format.name,
        level,
        offset: error.offset().unwrap_or_default(),
        reason: error.to_string(),
        head: bytes.get(..HEAD).unwrap_or(bytes).to_vec(),
    }
}
