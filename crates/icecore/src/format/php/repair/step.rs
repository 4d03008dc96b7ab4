//! One step of a reader of a damaged text.

use super::Start;
use super::changes::Fix;
use super::measure::{Measure, MeasureRange};
use super::names::{self, Classes};
use super::search::TextReader;
use super::variables::{has_counted_variable, has_variable, match_counted_name, match_delimited_name};
use crate::document::Tape;
use crate::format::Request;
use crate::format::php::session::begins_value;
use crate::format::php::spl::{self, Family, IS_SELF};
use crate::format::php::text;
use crate::format::php::token::Tokens;
use crate::format::php::{ReadOptions, read_unrepaired};
use crate::limits::Limits;
use memchr::memmem;
use std::rc::Rc;

/// The end of a string is searched up to this distance after twice its stated length.
const SEARCH_BEYOND: usize = 1024;
/// Number of ends of a string that are tried: those nearest to its stated end.
const MAX_ENDS: usize = 12;
/// Maximum number of occurrences of the replaced text in a string, if the growth of strings is known.
const MAX_TIMES: i64 = 1000;

/// Which ends of strings are searched.
#[derive(Clone, Copy, Debug)]
pub(super) enum SearchMode<'r> {
    /// The stated end, or the ends near it if a string can't end there. With `reads_texts`, a string with a wrong
    /// length that begins like a serialized text is read as such a text.
    Near { reads_texts: bool },
    /// Each string is longer than stated by a multiple of this number, or shorter if the number is negative. Other
    /// ends are tried even if the stated end fits.
    Step(i64),
    /// The ends at which the string may have counted the stated length.
    Between(MeasureRange<'r>),
    /// No ends are searched, because the caller handles each string. Only names of classes are measured here.
    Measured(Measure<'r>),
}

impl SearchMode<'_> {
    /// Returns `true` if a stated end is accepted even if it would cut off a serialized text.
    fn trusts_stated_end(self) -> bool {
        matches!(self, SearchMode::Near { reads_texts: false })
    }
}

/// A string or an opaque payload whose end the caller must find.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadPiece {
    /// Offset of its length.
    pub(super) offset: usize,
    /// The stated length.
    pub(super) stated_len: u64,
    /// Offset of its first byte.
    pub(super) content_start: usize,
    pub(super) subject: &'static str,
    /// For a key of an object: start and length of the class.
    pub(super) class: Option<(usize, usize)>,
    /// For a variable of a session: returns `true` if the content contains another variable.
    pub(super) has_variable: Option<fn(&[u8]) -> bool>,
}

/// Result of a step.
pub(super) enum StepResult {
    /// The piece fits, and was read.
    Good,
    /// The text can't be read like this.
    Bad,
    /// The end of the text.
    End,
    /// A string with a wrong length; its possible ends were collected.
    Fork,
    /// A wrong length with only one right value.
    Fix(Fix),
    /// A piece that the caller has to skip, after a wrong length if there is one.
    Piece(UnreadPiece, Option<Fix>),
}

/// The offsets where a reader can continue, each with the right length for it.
pub(super) struct Candidates<'c> {
    pub(super) found: Vec<(usize, Fix)>,
    /// The offsets of `";` in the text.
    ends: Rc<[usize]>,
    /// The classes in the text.
    classes: &'c Classes,
    /// Number of bytes and ends that were examined.
    work: usize,
}

impl<'c> Candidates<'c> {
    pub(super) fn new(ends: &Rc<[usize]>, classes: &'c Classes) -> Candidates<'c> {
        Candidates { found: Vec::new(), ends: Rc::clone(ends), classes, work: 0 }
    }

    /// Returns `true` if a serialized text can be read as it is.
    fn is_readable(&mut self, text: &[u8]) -> bool {
        self.work += text.len();
        let limits = Limits::default();
        let outcome = read_unrepaired(text, &ReadOptions::default(), Request::new(&limits));
        outcome.error.is_none() && outcome.consumed == text.len()
    }
}

/// Returns the offsets of `";` in the text.
pub(super) fn find_string_ends(input: &[u8]) -> Rc<[usize]> {
    memmem::find_iter(input, b"\";").collect()
}

/// Returns the ends that are between two offsets.
pub(super) fn ends_between(ends: &[usize], first: usize, last: usize) -> &[usize] {
    let start = ends.partition_point(|end| *end < first);
    let end = start + ends[start..].partition_point(|end| *end + 2 <= last);
    &ends[start..end]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepairState {
    /// Before the value, or after it.
    Root,
    /// The variables of a session, whose names end with a bar.
    Named,
    /// The variables of a session, whose names begin with their lengths.
    Counted,
    /// The entries of an array or an object.
    Entries,
    /// A string that is a serialized text.
    Text,
    /// In the payload of an array object, before the array.
    Array,
    /// In the payload of an array object, before `;m:`.
    Members,
    /// In the payload of a list.
    List,
    /// In the payload of a storage, before its first element.
    First,
    /// In the payload of a storage, after an element.
    Element,
    /// In the payload of a storage, after the object of an element.
    Object,
    /// In the payload of a storage, after the data of an element.
    Data,
    /// At the end of a payload.
    End,
}

impl RepairState {
    fn variable_check(self) -> Option<fn(&[u8]) -> bool> {
        match self {
            RepairState::Named => Some(has_variable),
            RepairState::Counted => Some(has_counted_variable),
            _ => None,
        }
    }
}

/// A payload or a serialized text with its stated length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StatedText {
    /// Offset of the length.
    offset: usize,
    /// The stated length.
    stated_len: u64,
    /// Where the text starts.
    start: usize,
}

/// An open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RepairFrame {
    state: RepairState,
    /// Number of keys and values, or elements, that are still to be read.
    remaining: u64,
    /// The payload or the serialized text that this frame reads; empty for other frames.
    payload: StatedText,
    /// For an object: start and length of its class.
    class: Option<(usize, usize)>,
    /// Hash of all outer frames. With it, two readers are compared without walking over their frames.
    outer_hash: u64,
}

impl RepairFrame {
    fn new_root(start: Start) -> RepairFrame {
        let (state, remaining) = match start {
            Start::Value => (RepairState::Root, 1),
            Start::Named => (RepairState::Named, 0),
            Start::Counted => (RepairState::Counted, 0),
        };
        RepairFrame { state, remaining, payload: StatedText::default(), class: None, outer_hash: 0 }
    }

    /// Returns a hash of this frame and all outer ones.
    fn compute_hash(&self) -> u64 {
        let mut sum = self.outer_hash;
        for part in [self.state as u64, self.remaining, self.payload.start as u64] {
            sum = (sum ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            sum ^= sum >> 29;
        }
        sum
    }
}

/// The open containers. When a reader splits into two, both share their frames, so a split costs the same at any
/// depth.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    top: RepairFrame,
    outer: Option<Rc<Frames>>,
}

impl Frames {
    pub(super) fn new(start: Start) -> Frames {
        Frames { top: RepairFrame::new_root(start), outer: None }
    }

    /// Returns `true` if the value that this began with is complete.
    pub(super) fn is_value_read(&self) -> bool {
        self.top.state == RepairState::Root && self.top.remaining == 0
    }

    /// Returns the innermost frame.
    pub(super) fn last(&self) -> RepairFrame {
        self.top
    }

    fn push(&mut self, frame: RepairFrame) {
        let outer = Frames { top: self.top, outer: self.outer.take() };
        (self.top, self.outer) = (frame, Some(Rc::new(outer)));
    }

    fn pop(&mut self) {
        if let Some(outer) = self.outer.take() {
            (self.top, self.outer) = (outer.top, outer.outer.clone());
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // This is a loop and not recursion, because the text may be nested deeper than the stack allows.
        let mut next = self.outer.take();
        while let Some(mut frames) = next.and_then(Rc::into_inner) {
            next = frames.outer.take();
        }
    }
}

impl TextReader {
    /// Takes the next piece; returns the result and its cost.
    pub(super) fn read_next(
        &mut self,
        input: &[u8],
        mode: SearchMode<'_>,
        candidates: &mut Candidates<'_>,
    ) -> (StepResult, u64) {
        candidates.found.clear();
        let start = self.offset;
        let result = self.read_piece(input, mode, candidates).unwrap_or(StepResult::Bad);
        let work = std::mem::take(&mut candidates.work) + candidates.found.len() * 16;
        (result, (self.offset.max(start) - start) as u64 + work as u64 + 16)
    }

    fn read_piece(
        &mut self,
        input: &[u8],
        mode: SearchMode<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<StepResult> {
        let frame = self.frames.last();
        let byte = input.get(self.offset).copied();
        match frame.state {
            RepairState::Root if frame.remaining == 0 => {
                input[self.offset..].trim_ascii_start().is_empty().then_some(StepResult::End)
            }
            RepairState::Named | RepairState::Counted if frame.remaining == 0 => {
                self.read_variable_name(input, frame.state, mode)
            }
            RepairState::Root | RepairState::Named | RepairState::Counted => self.read_value(input, mode, candidates),
            RepairState::Text if frame.remaining > 0 => self.read_value(input, mode, candidates),
            RepairState::Text => {
                input[self.offset..].starts_with(b"\";").then_some(())?;
                let StatedText { offset, stated_len, start } = frame.payload;
                let new_len = (self.offset - start) as u64;
                self.frames.pop();
                self.open_texts -= 1;
                self.offset += 2;
                Some(if stated_len == new_len {
                    StepResult::Good
                } else {
                    StepResult::Fix(Fix {
                        offset,
                        old_len: stated_len,
                        new_len,
                        subject: "string",
                        content_start: start,
                        owner: 0,
                    })
                })
            }
            RepairState::Entries if frame.remaining == 0 => {
                (byte? == b'}').then_some(())?;
                self.frames.pop();
                self.offset += 1;
                Some(StepResult::Good)
            }
            RepairState::Entries if frame.remaining.is_multiple_of(2) => self.read_entry_key(input, mode, candidates),
            RepairState::Entries => self.read_value(input, mode, candidates),
            RepairState::Array => {
                spl::begins_array(byte?).then_some(())?;
                self.frames.top.state = RepairState::Members;
                self.read_value(input, mode, candidates)
            }
            RepairState::Members => self.read_members(input, true),
            RepairState::List if byte? == b':' => {
                self.offset += 1;
                self.read_value(input, mode, candidates)
            }
            RepairState::First | RepairState::Element if frame.remaining == 0 => {
                self.read_members(input, frame.state == RepairState::Element)
            }
            RepairState::First | RepairState::Element => {
                if frame.state == RepairState::Element {
                    (byte? == b';').then_some(())?;
                    self.offset += 1;
                }
                spl::begins_object(*input.get(self.offset)?).then_some(())?;
                let top = &mut self.frames.top;
                (top.state, top.remaining) = (RepairState::Object, frame.remaining - 1);
                self.read_value(input, mode, candidates)
            }
            RepairState::Object if byte? == b',' => {
                self.offset += 1;
                self.frames.top.state = RepairState::Data;
                self.read_value(input, mode, candidates)
            }
            RepairState::Object | RepairState::Data => {
                self.frames.top.state = RepairState::Element;
                Some(StepResult::Good)
            }
            RepairState::List | RepairState::End => self.read_payload_end(input, frame, mode),
        }
    }

    /// Reads the name of a variable of a session, or the end of the session.
    fn read_variable_name(&mut self, input: &[u8], state: RepairState, mode: SearchMode<'_>) -> Option<StepResult> {
        let rest = &input[self.offset..];
        if rest.is_empty() || self.offset > 0 && state == RepairState::Named && rest.trim_ascii().is_empty() {
            return Some(StepResult::End);
        }
        self.frames.top.remaining = 1;
        if state == RepairState::Named {
            self.offset += match_delimited_name(rest)?;
            return Some(StepResult::Good);
        }
        let (offset, stated_len) = (self.offset, u64::from(rest[0]));
        let end = match mode {
            SearchMode::Measured(measure) => measure.find_end(input, offset + 1, stated_len)?,
            _ => offset + 1 + stated_len as usize,
        };
        let new_len = (end - offset - 1) as u64;
        (1..0x80).contains(&stated_len.max(new_len)).then_some(())?;
        self.offset = end;
        Some(if new_len == stated_len {
            StepResult::Good
        } else {
            StepResult::Fix(Fix {
                offset,
                old_len: stated_len,
                new_len,
                subject: "name",
                content_start: offset + 1,
                owner: 0,
            })
        })
    }

    fn read_members(&mut self, input: &[u8], is_after_value: bool) -> Option<StepResult> {
        let mark: &[u8] = if is_after_value { b";m:" } else { b"m:" };
        input[self.offset..].starts_with(mark).then_some(())?;
        self.offset += mark.len();
        (*input.get(self.offset)? == b'a').then_some(())?;
        self.frames.top.state = RepairState::End;
        self.read_array(input)
    }

    /// Reads the end of a payload. Its length is always reported, because the lengths inside may get more or fewer
    /// digits.
    fn read_payload_end(&mut self, input: &[u8], frame: RepairFrame, mode: SearchMode<'_>) -> Option<StepResult> {
        let StatedText { offset, stated_len, start } = frame.payload;
        self.frames.pop();
        // PHP ignores bytes after the last part of a payload, so the payload may end at its stated end.
        let stated_end = usize::try_from(stated_len).ok().and_then(|len| start.checked_add(len));
        let stated_end = stated_end.filter(|_| !matches!(mode, SearchMode::Measured(_)));
        let end = stated_end.filter(|end| *end >= self.offset && input.get(*end) == Some(&b'}')).unwrap_or(self.offset);
        (*input.get(end)? == b'}').then_some(())?;
        self.offset = end + 1;
        Some(StepResult::Fix(Fix {
            offset,
            old_len: stated_len,
            new_len: (end - start) as u64,
            subject: "payload",
            content_start: start,
            owner: 0,
        }))
    }

    fn tokens_here<'i>(&self, input: &'i [u8]) -> Tokens<'i> {
        Tokens::new(input, self.offset)
    }

    fn push_frame(&mut self, state: RepairState, remaining: u64, payload: StatedText) -> Option<()> {
        let outer_hash = self.frames.last().compute_hash();
        self.frames.push(RepairFrame { state, remaining, payload, class: None, outer_hash });
        Some(())
    }

    /// Counts a key or value of the innermost container as read.
    fn count_down(&mut self) {
        let top = &mut self.frames.top;
        if matches!(
            top.state,
            RepairState::Root | RepairState::Named | RepairState::Counted | RepairState::Entries | RepairState::Text
        ) {
            top.remaining -= 1;
        }
    }

    fn read_entry_key(
        &mut self,
        input: &[u8],
        mode: SearchMode<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<StepResult> {
        self.count_down();
        let mut tokens = self.tokens_here(input);
        match input.get(self.offset)? {
            b's' => return self.read_string(input, "key", mode, candidates),
            b'i' => drop(tokens.read_integer().ok()?),
            b'S' => tokens.read_escaped(&mut Vec::new()).ok()?,
            _ => return None,
        }
        self.offset = tokens.offset;
        Some(StepResult::Good)
    }

    fn read_value(
        &mut self,
        input: &[u8],
        mode: SearchMode<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<StepResult> {
        self.count_down();
        let mut tokens = self.tokens_here(input);
        match input.get(self.offset)? {
            b's' => return self.read_string(input, "string", mode, candidates),
            b'a' => return self.read_array(input),
            b'O' => return self.read_object(input, mode),
            b'C' => return self.read_opaque(input, mode, candidates),
            b'E' => return self.read_enum_case(input, mode),
            b'i' => drop(tokens.read_integer().ok()?),
            b'd' => drop(tokens.read_float().ok()?),
            b'b' => drop(tokens.read_boolean().ok()?),
            b'N' => tokens.read_word(b"N;").ok()?,
            b'r' | b'R' => drop(tokens.read_link().ok()?),
            b'S' => tokens.read_escaped(&mut Vec::new()).ok()?,
            _ => return None,
        }
        self.offset = tokens.offset;
        Some(StepResult::Good)
    }

    fn read_array(&mut self, input: &[u8]) -> Option<StepResult> {
        let mut tokens = self.tokens_here(input);
        let (count, _) = tokens.read_array_head(&mut Tape::new()).ok()?;
        self.offset = tokens.offset;
        self.push_frame(RepairState::Entries, u64::from(count) * 2, StatedText::default())?;
        Some(StepResult::Good)
    }

    // -- Pieces with a length -------------------------------------------------

    /// Returns the length after the letter at `offset`, and where the bytes start.
    fn read_head(&self, input: &[u8]) -> Option<(u64, usize)> {
        let digits = input.get(self.offset + 2..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = self.offset + 2 + digits;
        (digits > 0 && input[self.offset + 1] == b':' && input.get(end..end + 2)? == b":\"").then_some(())?;
        let len = input[self.offset + 2..end]
            .iter()
            .fold(0u64, |len, digit| len.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        Some((len, end + 2))
    }

    fn read_string(
        &mut self,
        input: &[u8],
        subject: &'static str,
        mode: SearchMode<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<StepResult> {
        let (stated_len, content_start) = self.read_head(input)?;
        let offset = self.offset + 2;
        let frame = self.frames.last();
        let class = frame.class.filter(|_| subject == "key");
        if let SearchMode::Measured(_) = mode {
            return Some(StepResult::Piece(
                UnreadPiece {
                    offset,
                    stated_len,
                    content_start,
                    subject,
                    class,
                    has_variable: frame.state.variable_check(),
                },
                None,
            ));
        }
        let stated_end = usize::try_from(stated_len).ok().and_then(|len| content_start.checked_add(len));
        let fits = stated_end.is_some_and(|end| {
            input.get(end..end.saturating_add(2)) == Some(b"\";")
                && (subject == "key"
                    || self.open_texts > 3
                    || mode.trusts_stated_end()
                    || !begins_container(&input[content_start..end])
                    || candidates.is_readable(&input[content_start..end]))
        });
        if !fits && let Some(fix) = fix_lost_name(input, offset, stated_len, content_start, class, candidates.classes) {
            self.offset = content_start + stated_len as usize;
            return Some(StepResult::Fix(fix));
        }
        let stated_end = stated_end.unwrap_or(usize::MAX).min(input.len());
        let takes_stated = match mode {
            SearchMode::Step(step) => step > 0,
            SearchMode::Near { .. } => true,
            SearchMode::Between(_) | SearchMode::Measured(_) => false,
        };
        if fits && takes_stated {
            self.offset = stated_end + 2;
            return Some(StepResult::Good);
        }
        if matches!(mode, SearchMode::Near { reads_texts: true })
            && !fits
            && subject == "string"
            && begins_container(&input[content_start..])
        {
            self.offset = content_start;
            self.open_texts += 1;
            self.push_frame(RepairState::Text, 1, StatedText { offset, stated_len, start: content_start })?;
            return Some(StepResult::Good);
        }
        let search_end =
            stated_end.saturating_add((stated_end - content_start).saturating_add(SEARCH_BEYOND)).min(input.len());
        let fix_at = |end: usize| {
            let new_len = (end - content_start) as u64;
            // This key is two bytes shorter than its length, and may be the name of a property that lost its NUL
            // bytes. It is not taken for a shorter name.
            let may_lack = |key: &[u8]| key.starts_with(b"*") || text::is_class_name(key);
            if class.is_some() && new_len.checked_add(2) == Some(stated_len) && may_lack(&input[content_start..end]) {
                return None;
            }
            can_continue(frame, &input[end + 2..])
                .then_some((end + 2, Fix { offset, old_len: stated_len, new_len, subject, content_start, owner: 0 }))
        };
        match mode {
            SearchMode::Near { .. } => {
                let ends = Rc::clone(&candidates.ends);
                let ends = ends_between(&ends, content_start, search_end);
                candidates.work += ends.len();
                candidates.found.extend(ends.iter().filter_map(|end| fix_at(*end)));
            }
            SearchMode::Step(step) => {
                let lens = (0..MAX_TIMES).map_while(|times| stated_len.checked_add_signed(step.checked_mul(times)?));
                let ends = lens.map(|len| usize::try_from(len).unwrap_or(usize::MAX).saturating_add(content_start));
                let near = ends.skip_while(|end| step < 0 && *end > search_end).take_while(|end| *end <= search_end);
                let ends = near.filter(|end| input[*end..].starts_with(b"\";"));
                candidates.found.extend(ends.filter_map(fix_at));
            }
            SearchMode::Between(between) => {
                let (mut end, mut min, mut max) = (content_start, 0, 0);
                loop {
                    if between.fits_length(min, max, stated_len) && input[end..].starts_with(b"\";") {
                        candidates.found.extend(fix_at(end));
                    }
                    let Some((bytes, low, high)) = between.measure_character(input, end).filter(|_| min <= stated_len)
                    else {
                        break;
                    };
                    (end, min, max) = (end + bytes, min + low, max + high);
                }
                candidates.work += end - content_start;
            }
            SearchMode::Measured(_) => {}
        }
        // A session does not have a count of variables. So a wrong end could take the next variable into a string,
        // and the text could still be parsed. Such an end is refused.
        if matches!(frame.state, RepairState::Named | RepairState::Counted) {
            let variable = if frame.state == RepairState::Named { match_delimited_name } else { match_counted_name };
            let is_before_name = |(end, _): &(usize, Fix)| variable(&input[*end..]).is_some();
            let first = candidates.found.iter().filter(|found| is_before_name(found)).map(|(end, _)| *end).min();
            candidates.found.retain(|(end, _)| first.is_none_or(|first| *end <= first));
        }
        candidates.found.sort_by_key(|(_, fix)| fix.old_len.abs_diff(fix.new_len));
        candidates.found.truncate(MAX_ENDS);
        Some(StepResult::Fork)
    }

    /// Reads the name of a class; it contains no quote. Returns its end, and the change if its
    /// length is wrong.
    fn read_class_name(&self, input: &[u8], mode: SearchMode<'_>) -> Option<(usize, usize, Option<Fix>)> {
        let (stated_len, content_start) = self.read_head(input)?;
        let len = input[content_start..].iter().take(1 << 16).position(|byte| *byte == b'"')?;
        if let SearchMode::Measured(measure) = mode {
            (measure.find_end(input, content_start, stated_len)? == content_start + len).then_some(())?;
        }
        let fix = Fix {
            offset: self.offset + 2,
            old_len: stated_len,
            new_len: len as u64,
            subject: "class",
            content_start,
            owner: 0,
        };
        Some((content_start, content_start + len, (stated_len != fix.new_len).then_some(fix)))
    }

    fn read_object(&mut self, input: &[u8], mode: SearchMode<'_>) -> Option<StepResult> {
        let (content_start, end, fix) = self.read_class_name(input, mode)?;
        text::is_class_name(&input[content_start..end]).then_some(())?;
        let (count, count_end) = read_number(input, end + 1, b'{')?;
        (count <= (input.len() - count_end) as u64).then_some(())?;
        self.offset = count_end;
        self.push_frame(RepairState::Entries, count * 2, StatedText::default())?;
        self.frames.top.class = Some((content_start, end - content_start));
        Some(fix.map_or(StepResult::Good, StepResult::Fix))
    }

    fn read_enum_case(&mut self, input: &[u8], mode: SearchMode<'_>) -> Option<StepResult> {
        let (content_start, end, fix) = self.read_class_name(input, mode)?;
        (text::is_enum_case(&input[content_start..end]) && input.get(end + 1) == Some(&b';')).then_some(())?;
        self.offset = end + 2;
        Some(fix.map_or(StepResult::Good, StepResult::Fix))
    }

    fn read_opaque(
        &mut self,
        input: &[u8],
        mode: SearchMode<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<StepResult> {
        let (content_start, end, fix) = self.read_class_name(input, mode)?;
        text::is_class_name(&input[content_start..end]).then_some(())?;
        let (stated_len, start) = read_number(input, end + 1, b'{')?;
        let offset = end + 2;
        match spl::find_family(&input[content_start..end]).filter(|_| input.get(start) != Some(&b'}')) {
            Some(family) => self.open_payload(input, family, StatedText { offset, stated_len, start })?,
            None => {
                return self.read_raw_payload(input, StatedText { offset, stated_len, start }, fix, mode, candidates);
            }
        }
        Some(fix.map_or(StepResult::Good, StepResult::Fix))
    }

    /// Reads a payload that only its class understands.
    fn read_raw_payload(
        &mut self,
        input: &[u8],
        StatedText { offset, stated_len, start }: StatedText,
        fix: Option<Fix>,
        mode: SearchMode<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<StepResult> {
        if let SearchMode::Measured(_) = mode {
            let piece = UnreadPiece {
                offset,
                stated_len,
                content_start: start,
                subject: "payload",
                class: None,
                has_variable: None,
            };
            return Some(StepResult::Piece(piece, fix));
        }
        let stated_end = usize::try_from(stated_len).ok().and_then(|len| start.checked_add(len));
        if let Some(end) = stated_end.filter(|end| input.get(*end) == Some(&b'}')) {
            self.offset = end + 1;
            return Some(fix.map_or(StepResult::Good, StepResult::Fix));
        }
        // The length of the class name is already wrong. Two wrong lengths directly after each other are not
        // searched.
        if fix.is_some() {
            return None;
        }
        let stated_end = stated_end.unwrap_or(usize::MAX).min(input.len());
        let search_end = stated_end.saturating_add((stated_end - start).saturating_add(SEARCH_BEYOND)).min(input.len());
        let frame = self.frames.last();
        candidates.work += search_end - start;
        for end in start..search_end {
            if input[end] == b'}' && can_continue(frame, &input[end + 1..]) {
                candidates.found.push((
                    end + 1,
                    Fix {
                        offset,
                        old_len: stated_len,
                        new_len: (end - start) as u64,
                        subject: "payload",
                        content_start: start,
                        owner: 0,
                    },
                ));
            }
        }
        candidates.found.sort_by_key(|(_, fix)| fix.old_len.abs_diff(fix.new_len));
        candidates.found.truncate(MAX_ENDS);
        Some(StepResult::Fork)
    }

    /// Reads the head of a payload of one of PHP's own classes.
    fn open_payload(&mut self, input: &[u8], family: Family, payload: StatedText) -> Option<()> {
        self.offset = payload.start;
        if family != Family::List {
            input[self.offset..].starts_with(b"x:").then_some(())?;
            self.offset += 2;
        }
        let mut tokens = self.tokens_here(input);
        (input.get(self.offset) == Some(&b'i')).then_some(())?;
        let (number, ..) = tokens.read_integer().ok()?;
        self.offset = tokens.offset;
        match family {
            Family::List => self.push_frame(RepairState::List, 0, payload),
            Family::Storage => self.push_frame(RepairState::First, u64::try_from(number).ok()?, payload),
            Family::Array if number & IS_SELF == 0 => self.push_frame(RepairState::Array, 0, payload),
            // The properties follow directly, in the same state as after the last element of a list.
            Family::Array => self.push_frame(RepairState::First, 0, payload),
        }
    }
}

/// Returns the correction of a key of an object that certainly lost the NUL bytes of its visibility.
fn fix_lost_name(
    input: &[u8],
    offset: usize,
    stated_len: u64,
    content_start: usize,
    class: Option<(usize, usize)>,
    classes: &Classes,
) -> Option<Fix> {
    let (start, len) = class?;
    let end = content_start.checked_add(usize::try_from(stated_len).ok()?.checked_sub(2)?)?;
    input.get(end..)?.starts_with(b"\";").then_some(())?;
    let class = input.get(start..start + len);
    let restored = names::restore_lost(&input[content_start..end], stated_len - 2, stated_len, class, classes)?;
    (restored.nuls == names::Nuls::Lost).then_some(())?;
    Some(Fix {
        offset,
        old_len: stated_len,
        new_len: stated_len - 2,
        subject: "visibility",
        content_start,
        owner: restored.owner,
    })
}

/// Reads `:number:` and `last`; returns the number and what follows.
fn read_number(input: &[u8], offset: usize, last: u8) -> Option<(u64, usize)> {
    let digits = input.get(offset + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = offset + 1 + digits;
    (digits > 0 && input[offset] == b':' && input.get(end..end + 2)? == [b':', last]).then_some(())?;
    Some((std::str::from_utf8(&input[offset + 1..end]).ok()?.parse().ok()?, end + 2))
}

/// Returns `true` if the next bytes are possible in this container, as far as the first of them show.
fn can_continue(frame: RepairFrame, rest: &[u8]) -> bool {
    let is_key = |rest: &[u8]| {
        matches!(rest, [b'i', b':', b'0'..=b'9' | b'-' | b'+', ..] | [b's' | b'S', b':', b'0'..=b'9', ..])
    };
    match frame.state {
        RepairState::Root => rest.trim_ascii_start().is_empty(),
        RepairState::Named => rest.trim_ascii_start().is_empty() || match_delimited_name(rest).is_some(),
        RepairState::Counted => match rest.split_first() {
            None => true,
            Some((len, rest)) => rest.get(usize::from(*len)..).is_some_and(begins_value),
        },
        RepairState::Text => rest.starts_with(b"\";"),
        RepairState::Entries if frame.remaining == 0 => rest.first() == Some(&b'}'),
        RepairState::Entries if frame.remaining.is_multiple_of(2) => is_key(rest),
        RepairState::Entries => {
            is_key(rest)
                || matches!(
                    rest,
                    [b'N', b';', ..]
                        | [b'a' | b'O' | b'C' | b'E' | b'r' | b'R', b':', b'0'..=b'9', ..]
                        | [b'b' | b'd', b':', ..]
                )
        }
        _ => matches!(rest.first(), Some(b';' | b':' | b',' | b'}')),
    }
}

/// Returns `true` if this begins like a serialized array or object.
pub(super) fn begins_container(text: &[u8]) -> bool {
    matches!(text, [b'a' | b'O', b':', b'0'..=b'9', ..])
}
