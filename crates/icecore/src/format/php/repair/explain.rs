//! Reads a damaged text under one explanation of its lengths, from the first byte to the last. There are no choices
//! in between. If one length does not fit, the explanation is wrong.

use super::changes::{Change, Fix, collect_edits, settle_changes};
use super::measure::{Charset, Measure};
use super::names::{Classes, Nuls, RestoredName, restore_blank, restore_lost, restore_spelled};
use super::search::TextReader;
use super::step::{Candidates, SearchMode, StepResult, UnreadPiece};
use super::{MAX_DEPTH, Start};
use crate::document::Explanation;
use crate::error::{Error, ErrorKind};
use crate::format::Request;
use crate::format::php::{ReadOptions, read_unrepaired};
use crate::limits::Limits;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A text that was read to the end of its value.
pub(super) struct MeasuredText {
    pub(super) changes: Vec<Change>,
    /// Where the value ends.
    pub(super) end: usize,
    pub(super) restored: RestoredNames,
}

/// The damage of the names that were repaired.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RestoredNames {
    /// The NUL bytes of a name were lost.
    lost_nuls: bool,
    /// The class at the start of a name was found because another property has the rest of this name. So it is a
    /// guess.
    guessed_class: bool,
    /// NUL bytes became blanks or question marks.
    blank_nuls: bool,
    /// NUL bytes became other characters.
    replaced_nuls: bool,
}

impl RestoredNames {
    pub(super) fn with_lost(lost_nuls: bool) -> RestoredNames {
        RestoredNames { lost_nuls, ..RestoredNames::default() }
    }

    fn record_nuls(&mut self, nuls: Nuls) {
        match nuls {
            Nuls::Lost => self.lost_nuls = true,
            Nuls::LostWithClass => (self.lost_nuls, self.guessed_class) = (true, true),
            Nuls::Blank => self.blank_nuls = true,
            Nuls::Spelled => self.replaced_nuls = true,
        }
    }

    fn add(&mut self, other: RestoredNames) {
        self.lost_nuls |= other.lost_nuls;
        self.guessed_class |= other.guessed_class;
        self.blank_nuls |= other.blank_nuls;
        self.replaced_nuls |= other.replaced_nuls;
    }

    pub(super) fn into_explanation(self) -> Explanation {
        let part = |did: bool, name: &str, sentence: &str| {
            if did { Explanation::new(name, sentence) } else { Explanation::new_empty() }
        };
        let mut lost_nuls =
            part(self.lost_nuls, "nul-lost", "names of properties lost the NUL bytes of their visibility");
        if self.guessed_class {
            lost_nuls.is_guess = true;
            lost_nuls.sentence.push_str(", and a class that nothing else in the text names is a guess");
        }
        lost_nuls
            .and(part(
                self.blank_nuls,
                "nul-blank",
                "the NUL bytes in names of properties became blanks or question marks",
            ))
            .and(part(self.replaced_nuls, "nul-spelled", "NUL bytes became other characters"))
    }
}

/// Maximum number of strings in serialized texts that did not fit and are remembered.
const MAX_SUSPECT_TEXTS: usize = 4;

/// A string or a name that does not end where its length says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mismatch<'t> {
    /// The text from its first byte on.
    pub(super) rest: &'t [u8],
    pub(super) stated_len: u64,
}

/// Settings and state of reading a text.
pub(super) struct MeasuredReader<'f> {
    measure: Measure<'f>,
    classes: &'f Classes,
    /// The string that did not fit, and the strings around it; the innermost first.
    mismatches: RefCell<Vec<Mismatch<'f>>>,
    /// Strings that ended where their lengths say, but maybe by chance. They are the last ones, and those that only
    /// look like serialized texts.
    suspects: RefCell<Suspects<'f>>,
    /// Number of bytes that were read. A nested text counts each time that it is read.
    read: Cell<usize>,
}

/// Strings that ended where their lengths say, but maybe by chance.
#[derive(Default)]
struct Suspects<'f> {
    last: [Option<Mismatch<'f>>; 3],
    texts: Vec<Mismatch<'f>>,
}

impl<'f> MeasuredReader<'f> {
    pub(super) fn new(measure: Measure<'f>, classes: &'f Classes) -> MeasuredReader<'f> {
        MeasuredReader {
            measure,
            classes,
            mismatches: RefCell::default(),
            suspects: RefCell::default(),
            read: Cell::new(0),
        }
    }

    /// Returns the number of bytes that were read.
    pub(super) fn bytes_read(&self) -> usize {
        self.read.get()
    }

    /// Returns the strings because of which the text could not be read. If a length was wrong, these are the string
    /// that did not fit, and the strings around it. Otherwise they are strings that ended where their lengths say,
    /// but maybe by chance.
    pub(super) fn into_mismatches(self) -> Vec<Mismatch<'f>> {
        let mismatches = self.mismatches.into_inner();
        if !mismatches.is_empty() {
            return mismatches;
        }
        let Suspects { last, texts } = self.suspects.into_inner();
        last.into_iter().flatten().chain(texts).collect()
    }

    /// Reads one value, or all variables of a session. Returns `None` if the explanation is wrong.
    pub(super) fn read_text(&self, text: &'f [u8], start: Start, depth: u32) -> Option<MeasuredText> {
        let mut reader = TextReader::new(start);
        let outcome = self.read_text_with(&mut reader, text, depth);
        self.read.set(self.read.get() + reader.offset);
        outcome
    }

    fn read_text_with(&self, reader: &mut TextReader, text: &'f [u8], depth: u32) -> Option<MeasuredText> {
        let mode = SearchMode::Measured(self.measure);
        let mut candidates = Candidates::new(&Rc::from([]), self.classes);
        let mut outcome = MeasuredText { changes: Vec::new(), end: 0, restored: RestoredNames::default() };
        loop {
            if reader.frames.is_value_read() {
                break;
            }
            match reader.read_next(text, mode, &mut candidates).0 {
                StepResult::Good => {}
                StepResult::End => break,
                StepResult::Fix(fix) => outcome.changes.push(Change::fix_length(fix)),
                StepResult::Piece(piece, fix) => {
                    outcome.changes.extend(fix.map(Change::fix_length));
                    reader.offset = self.skip_piece(text, piece, depth, &mut outcome)?;
                }
                StepResult::Bad | StepResult::Fork => return None,
            }
        }
        outcome.end = reader.offset;
        settle_changes(text, &mut outcome.changes);
        Some(outcome)
    }

    /// Like [`Self::read_text`], for a text after which only blanks may follow.
    pub(super) fn read_whole_text(&self, text: &'f [u8], start: Start, depth: u32) -> Option<MeasuredText> {
        self.read_text(text, start, depth).filter(|outcome| text[outcome.end..].trim_ascii().is_empty())
    }

    /// Skips a string or a payload. Returns the offset where the text continues.
    fn skip_piece(&self, text: &'f [u8], piece: UnreadPiece, depth: u32, outcome: &mut MeasuredText) -> Option<usize> {
        let end = self.find_piece_end(text, piece, depth, outcome);
        let mismatch = Mismatch { rest: &text[piece.content_start..], stated_len: piece.stated_len };
        match end {
            None => self.mismatches.borrow_mut().push(mismatch),
            Some(_) if piece.subject == "key" => {}
            Some(_) => {
                let last = &mut self.suspects.borrow_mut().last;
                last.rotate_right(1);
                last[0] = Some(mismatch);
            }
        }
        end
    }

    fn find_piece_end(
        &self,
        text: &'f [u8],
        piece: UnreadPiece,
        depth: u32,
        outcome: &mut MeasuredText,
    ) -> Option<usize> {
        let UnreadPiece { offset, stated_len, content_start, subject, .. } = piece;
        let terminator: &[u8] = if subject == "payload" { b"}" } else { b"\";" };
        let ends = |end: usize| text.get(end..).is_some_and(|rest| rest.starts_with(terminator));
        let fix = |end: usize| Fix {
            offset,
            old_len: stated_len,
            new_len: (end - content_start) as u64,
            subject,
            content_start,
            owner: 0,
        };
        let end = self.measure.find_end(text, content_start, stated_len).filter(|end| ends(*end));
        if subject == "key" {
            if let Some(restored) = self.restore_key(text, &piece, end)? {
                let end = content_start + restored.len;
                ends(end).then_some(())?;
                outcome.restored.record_nuls(restored.nuls);
                outcome.changes.push(Change::replace_name(fix(end), restored.name));
                return Some(end + terminator.len());
            }
            let end = end?;
            if self.is_rewritten() && piece.class.is_some() && (end - content_start) as u64 + 2 == stated_len {
                // The key is the name of a property that lost its NUL bytes. `restore_key` finds its end.
                return None;
            }
            outcome.changes.push(Change::fix_length(fix(end)));
            return Some(end + terminator.len());
        }
        let may_be_text = depth < MAX_DEPTH && begins_serialized(&text[content_start..]);
        if let Some(end) = end {
            let content = &text[content_start..end];
            if piece.has_variable.is_some_and(|has_variable| has_variable(content)) {
                return None;
            }
            match may_be_text.then(|| self.read_inner_text(content, depth)).flatten() {
                Some(inner) => {
                    outcome.restored.add(inner.restored);
                    outcome.changes.push(Change::with_inner(fix(end), content, inner.changes));
                }
                // In a nested text that can't be read, it is unknown whether a U+FFFD was a NUL byte of a name.
                None if may_be_text && self.measure.charset == Charset::Replaced => return None,
                None if may_be_text && self.contains_rewritten(content) && ends_as_serialized(content) => return None,
                None => {
                    let mut inner_misfits = std::mem::take(&mut *self.mismatches.borrow_mut());
                    let texts = &mut self.suspects.borrow_mut().texts;
                    inner_misfits.truncate(MAX_SUSPECT_TEXTS.saturating_sub(texts.len()));
                    texts.append(&mut inner_misfits);
                    outcome.changes.push(Change::fix_length(fix(end)));
                    if may_be_text && !self.is_rewritten() && !only_looks_serialized(content) && is_damaged(content) {
                        outcome.changes.push(Change::keep_text(content_start, fix(end).new_len));
                    }
                }
            }
            return Some(end + terminator.len());
        }
        // The string is shorter than its length says. This is possible only if names in a nested text lost bytes.
        if !may_be_text || subject != "string" {
            return None;
        }
        let inner =
            self.read_text(&text[content_start..], Start::Value, depth + 1).filter(|inner| inner.restored.lost_nuls)?;
        let end = content_start + inner.end;
        ends(end).then_some(())?;
        let lost_nuls = count_lost_nuls(&inner.changes);
        (self.count_units(text, content_start, end)?.checked_add(lost_nuls)? == stated_len).then_some(())?;
        outcome.restored.add(inner.restored);
        outcome.changes.push(Change::with_inner(fix(end), &text[content_start..end], inner.changes));
        Some(end + terminator.len())
    }

    /// Reads a serialized text in a string. Its lengths are measured in the same way as those around it.
    fn read_inner_text(&self, text: &'f [u8], depth: u32) -> Option<MeasuredText> {
        self.read_text(text, Start::Value, depth + 1).filter(|inner| inner.end == text.len())
    }

    fn is_rewritten(&self) -> bool {
        matches!(self.measure.charset, Charset::Rewritten { .. })
    }

    /// Returns `true` if the text contains something that the explanation calls rewritten.
    fn contains_rewritten(&self, text: &[u8]) -> bool {
        matches!(self.measure.charset, Charset::Rewritten { new, .. } if memchr::memmem::find(text, new).is_some())
    }

    /// Returns a key with the NUL bytes that it lost, if it lost some. `end` is the end of the key if it did not have
    /// such bytes. Returns `None` if the explanation is wrong.
    fn restore_key(&self, text: &[u8], piece: &UnreadPiece, end: Option<usize>) -> Option<Option<RestoredName>> {
        let UnreadPiece { stated_len, content_start, .. } = *piece;
        let rest = &text[content_start..];
        let class = piece.class.and_then(|(start, len)| text.get(start..start + len));
        if let Some(end) = end {
            let key = &text[content_start..end];
            // Other spellings of NUL bytes are restored in the whole text or not at all. This key would keep its
            // spelling, so the explanation is wrong.
            if self.measure.charset == Charset::Replaced && restore_spelled(rest).is_some() {
                return None;
            }
            return Some(class.and_then(|_| restore_blank(key)));
        }
        if let Some(restored) = restore_spelled(rest) {
            let owner_and_name = restored.name.len() as u64;
            let counted = self.count_units(&restored.name, 0, restored.name.len()).unwrap_or(owner_and_name);
            return (counted == stated_len).then_some(Some(restored));
        }
        // The key lacks two bytes, so it ends two units earlier than its length says.
        let end = self.measure.find_end(text, content_start, stated_len.checked_sub(2)?)?;
        Some(restore_lost(&text[content_start..end], stated_len - 2, stated_len, class, self.classes))
            .filter(Option::is_some)
    }

    /// Returns the length that the text between these offsets had when its length was counted.
    fn count_units(&self, text: &[u8], mut offset: usize, end: usize) -> Option<u64> {
        let mut counted = 0;
        while offset < end {
            let (bytes, units) = self.measure.measure_character(text, offset)?;
            offset += bytes;
            counted += units;
        }
        (offset == end).then_some(counted)
    }
}

/// Returns how many NUL bytes were lost in these changes.
fn count_lost_nuls(changes: &[Change]) -> u64 {
    changes
        .iter()
        .map(|change| match &change.new_content {
            Some(name) => (name.len() as u64).saturating_sub(change.fix.new_len),
            None => count_lost_nuls(&change.inner),
        })
        .sum()
}

/// Returns `true` if this begins like serialized data with lengths.
pub(super) fn begins_serialized(text: &[u8]) -> bool {
    matches!(text, [b'a' | b'O' | b's' | b'C', b':', b'0'..=b'9', ..])
}

/// Returns `true` if data that begins like serialized data also ends like it.
fn ends_as_serialized(text: &[u8]) -> bool {
    text.ends_with(if text.starts_with(b"s") { b"\";" } else { b"}" })
}

/// Returns `true` if this begins like a serialized string, but does not end like one. Then it is plain text.
pub(super) fn only_looks_serialized(text: &[u8]) -> bool {
    text.starts_with(b"s:") && !ends_as_serialized(text)
}

/// Returns `true` if serialized data with lengths can't be read as it is.
pub(super) fn is_damaged(text: &[u8]) -> bool {
    let limits = Limits::default();
    let outcome = read_unrepaired(text, &ReadOptions::default(), Request::new(&limits));
    let is_wrong = |error: &Error| matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated);
    outcome.error.as_ref().map_or(outcome.consumed < text.len(), is_wrong)
}

/// Returns the text with these changes.
pub(super) fn apply_changes(text: &[u8], changes: &[Change]) -> Vec<u8> {
    collect_edits(text, changes).apply(text)
}
