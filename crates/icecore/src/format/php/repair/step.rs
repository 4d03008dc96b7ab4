//! One step of a reader of a damaged text.

use super::Start;
use super::changes::Fix;
use super::measure::{Between, Measure};
use super::names::{self, Classes};
use super::search::Reader;
use super::variables::{counted_variable, has_counted_variable, has_variable, named_variable};
use crate::format::Request;
use crate::format::php::session::begins_value;
use crate::format::php::spl::{self, Family, IS_SELF};
use crate::format::php::text;
use crate::format::php::token::Tokens;
use crate::format::php::{ReadOptions, read_plain};
use crate::limits::Limits;
use memchr::memmem;
use std::rc::Rc;

/// How far after its stated end a string is searched: its length again, plus this.
const BEHIND: usize = 1024;
/// How many ends of a string are tried: those nearest to its stated end.
const ENDS: usize = 12;
/// How often the replaced text may occur in a string, if the growth of strings is known.
const TIMES: i64 = 1000;

/// Which ends of strings are searched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hunt<'r> {
    /// The stated end, and if none is there, those near it. `texts`: a string that begins like
    /// a serialized text, and whose length is wrong, is such a text.
    Near { texts: bool },
    /// Each string is longer than stated by a multiple of this; shorter if it is below 0. Then
    /// a string may also end elsewhere if its stated end fits.
    Step(i64),
    /// Those at which the string may have counted the stated length.
    Between(Between<'r>),
    /// None: the caller handles each string. Names of classes are measured like this.
    Measured(Measure<'r>),
}

impl Hunt<'_> {
    /// Whether a stated end is accepted even if it would cut off a serialized text.
    fn trusts(self) -> bool {
        matches!(self, Hunt::Near { texts: false })
    }
}

/// A string or an opaque payload whose end the caller must find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Offset of its length.
    pub(super) offset: usize,
    /// The stated length.
    pub(super) was: u64,
    /// Where it starts.
    pub(super) first: usize,
    pub(super) what: &'static str,
    /// For a key of an object: start and length of the class.
    pub(super) class: Option<(usize, usize)>,
    /// For a variable of a session: tells if content contains another variable.
    pub(super) has_variable: Option<fn(&[u8]) -> bool>,
}

/// Result of a step.
pub(super) enum Met {
    Good,
    Bad,
    /// The end of the text.
    End,
    /// A string with a wrong length; its possible ends were collected.
    Fork,
    /// A wrong length with only one right value.
    Fix(Fix),
    /// A piece that the caller has to skip, after a wrong length if there is one.
    Piece(Piece, Option<Fix>),
}

/// Where to continue, with the right length for each.
pub(super) struct Candidates<'c> {
    pub(super) found: Vec<(usize, Fix)>,
    /// The offsets of `";` in the text.
    ends: Rc<[usize]>,
    /// The classes in the text.
    classes: &'c Classes,
    /// How many bytes and ends were examined.
    looked: usize,
}

impl<'c> Candidates<'c> {
    pub(super) fn new(ends: &Rc<[usize]>, classes: &'c Classes) -> Candidates<'c> {
        Candidates { found: Vec::new(), ends: Rc::clone(ends), classes, looked: 0 }
    }

    /// Whether a serialized text can be read as it is.
    fn is_whole(&mut self, text: &[u8]) -> bool {
        self.looked += text.len();
        let limits = Limits::default();
        let outcome = read_plain(text, &ReadOptions::default(), Request::new(&limits));
        outcome.error.is_none() && outcome.consumed == text.len()
    }
}

/// Returns the offsets of `";` in the text.
pub(super) fn ends(input: &[u8]) -> Rc<[usize]> {
    memmem::find_iter(input, b"\";").collect()
}

/// Returns those between two offsets.
pub(super) fn between(ends: &[usize], first: usize, most: usize) -> &[usize] {
    let from = ends.partition_point(|end| *end < first);
    let to = from + ends[from..].partition_point(|end| *end + 2 <= most);
    &ends[from..to]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Root,
    /// The variables of a session: after names with a bar, or with a length.
    Named,
    Counted,
    /// For an object, `payload` is the start and the length of its class.
    Entries,
    /// A string that is a serialized text; `payload` is its length.
    Text,
    /// Payloads, by their families: before the array, before `;m:`.
    Array,
    Members,
    List,
    /// Before an element of a storage, after its object, after its data.
    First,
    Element,
    Object,
    Data,
    End,
}

impl State {
    fn has_variable(self) -> Option<fn(&[u8]) -> bool> {
        match self {
            State::Named => Some(has_variable),
            State::Counted => Some(has_counted_variable),
            _ => None,
        }
    }
}

/// An open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    state: State,
    /// How many keys and values, or elements, are still to read.
    left: u64,
    /// For a payload: offset of its length, the length, and where it starts.
    payload: (usize, u64, usize),
    /// Hash of all frames below.
    below: u64,
}

impl Frame {
    fn root(start: Start) -> Frame {
        let (state, left) = match start {
            Start::Value => (State::Root, 1),
            Start::Named => (State::Named, 0),
            Start::Counted => (State::Counted, 0),
        };
        Frame { state, left, payload: (0, 0, 0), below: 0 }
    }

    /// Returns a hash of this frame and all below it.
    fn sum(&self) -> u64 {
        let mut sum = self.below;
        for part in [self.state as u64, self.left, self.payload.2 as u64] {
            sum = (sum ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            sum ^= sum >> 29;
        }
        sum
    }
}

/// The open containers. Readers that split share the frames that they have in common, so a
/// split costs the same at any depth.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    top: Frame,
    below: Option<Rc<Frames>>,
}

impl Frames {
    pub(super) fn new(start: Start) -> Frames {
        Frames { top: Frame::root(start), below: None }
    }

    /// Whether the value that this began with is complete.
    pub(super) fn is_value_read(&self) -> bool {
        self.top.state == State::Root && self.top.left == 0
    }

    /// Returns the innermost frame.
    pub(super) fn last(&self) -> Frame {
        self.top
    }

    fn push(&mut self, frame: Frame) {
        let below = Frames { top: self.top, below: self.below.take() };
        (self.top, self.below) = (frame, Some(Rc::new(below)));
    }

    fn pop(&mut self) {
        if let Some(below) = self.below.take() {
            (self.top, self.below) = (below.top, below.below.clone());
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // In a loop, not by recursion: the text may be nested deeper than the stack allows.
        let mut next = self.below.take();
        while let Some(mut frames) = next.and_then(Rc::into_inner) {
            next = frames.below.take();
        }
    }
}

impl Reader {
    /// Takes the next piece; returns the result and its cost.
    pub(super) fn step(&mut self, input: &[u8], hunt: Hunt<'_>, candidates: &mut Candidates<'_>) -> (Met, u64) {
        candidates.found.clear();
        let start = self.at;
        let met = self.piece(input, hunt, candidates).unwrap_or(Met::Bad);
        let looked = std::mem::take(&mut candidates.looked) + candidates.found.len() * 16;
        (met, (self.at.max(start) - start) as u64 + looked as u64 + 16)
    }

    fn piece(&mut self, input: &[u8], hunt: Hunt<'_>, candidates: &mut Candidates<'_>) -> Option<Met> {
        let frame = self.frames.last();
        let byte = input.get(self.at).copied();
        match frame.state {
            State::Root if frame.left == 0 => input[self.at..].trim_ascii_start().is_empty().then_some(Met::End),
            State::Named | State::Counted if frame.left == 0 => self.variable(input, frame.state, hunt),
            State::Root | State::Named | State::Counted => self.value(input, hunt, candidates),
            State::Text if frame.left > 0 => self.value(input, hunt, candidates),
            State::Text => {
                input[self.at..].starts_with(b"\";").then_some(())?;
                let (offset, was, start) = frame.payload;
                let is = (self.at - start) as u64;
                self.frames.pop();
                self.texts -= 1;
                self.at += 2;
                Some(if was == is {
                    Met::Good
                } else {
                    Met::Fix(Fix { offset, was, is, what: "string", first: start, owner: 0 })
                })
            }
            State::Entries if frame.left == 0 => {
                (byte? == b'}').then_some(())?;
                self.frames.pop();
                self.at += 1;
                Some(Met::Good)
            }
            State::Entries if frame.left.is_multiple_of(2) => self.key(input, hunt, candidates),
            State::Entries => self.value(input, hunt, candidates),
            State::Array => {
                spl::begins_array(byte?).then_some(())?;
                self.frames.top.state = State::Members;
                self.value(input, hunt, candidates)
            }
            State::Members => self.members(input, true),
            State::List if byte? == b':' => {
                self.at += 1;
                self.value(input, hunt, candidates)
            }
            State::First | State::Element if frame.left == 0 => self.members(input, frame.state == State::Element),
            State::First | State::Element => {
                if frame.state == State::Element {
                    (byte? == b';').then_some(())?;
                    self.at += 1;
                }
                spl::begins_object(*input.get(self.at)?).then_some(())?;
                let top = &mut self.frames.top;
                (top.state, top.left) = (State::Object, frame.left - 1);
                self.value(input, hunt, candidates)
            }
            State::Object if byte? == b',' => {
                self.at += 1;
                self.frames.top.state = State::Data;
                self.value(input, hunt, candidates)
            }
            State::Object | State::Data => {
                self.frames.top.state = State::Element;
                Some(Met::Good)
            }
            State::List | State::End => self.payload_end(input, frame, hunt),
        }
    }

    /// Reads the name of a variable of a session, or the end of the session.
    fn variable(&mut self, input: &[u8], state: State, hunt: Hunt<'_>) -> Option<Met> {
        let rest = &input[self.at..];
        if rest.is_empty() || self.at > 0 && state == State::Named && rest.trim_ascii().is_empty() {
            return Some(Met::End);
        }
        self.frames.top.left = 1;
        if state == State::Named {
            self.at += named_variable(rest)?;
            return Some(Met::Good);
        }
        let (offset, was) = (self.at, u64::from(rest[0]));
        let end = match hunt {
            Hunt::Measured(measure) => measure.end(input, offset + 1, was)?,
            _ => offset + 1 + was as usize,
        };
        let is = (end - offset - 1) as u64;
        (1..0x80).contains(&was.max(is)).then_some(())?;
        self.at = end;
        Some(if is == was {
            Met::Good
        } else {
            Met::Fix(Fix { offset, was, is, what: "name", first: offset + 1, owner: 0 })
        })
    }

    fn members(&mut self, input: &[u8], behind: bool) -> Option<Met> {
        let mark: &[u8] = if behind { b";m:" } else { b"m:" };
        input[self.at..].starts_with(mark).then_some(())?;
        self.at += mark.len();
        (*input.get(self.at)? == b'a').then_some(())?;
        self.frames.top.state = State::End;
        self.array(input)
    }

    /// Reads the end of a payload. Its length is always reported: lengths inside may have
    /// other digits than before.
    fn payload_end(&mut self, input: &[u8], frame: Frame, hunt: Hunt<'_>) -> Option<Met> {
        let (offset, was, start) = frame.payload;
        self.frames.pop();
        // PHP ignores what follows the last piece.
        let stated = usize::try_from(was).ok().and_then(|len| start.checked_add(len));
        let stated = stated.filter(|_| !matches!(hunt, Hunt::Measured(_)));
        let end = stated.filter(|end| *end >= self.at && input.get(*end) == Some(&b'}')).unwrap_or(self.at);
        (*input.get(end)? == b'}').then_some(())?;
        self.at = end + 1;
        Some(Met::Fix(Fix { offset, was, is: (end - start) as u64, what: "payload", first: start, owner: 0 }))
    }

    fn tokens<'i>(&self, input: &'i [u8]) -> Tokens<'i> {
        Tokens::new(input, self.at)
    }

    fn push(&mut self, state: State, left: u64, payload: (usize, u64, usize)) -> Option<()> {
        let below = self.frames.last().sum();
        self.frames.push(Frame { state, left, payload, below });
        Some(())
    }

    /// Counts a key or value of the innermost container as read.
    fn count(&mut self) {
        let top = &mut self.frames.top;
        if matches!(top.state, State::Root | State::Named | State::Counted | State::Entries | State::Text) {
            top.left -= 1;
        }
    }

    fn key(&mut self, input: &[u8], hunt: Hunt<'_>, candidates: &mut Candidates<'_>) -> Option<Met> {
        self.count();
        let mut tokens = self.tokens(input);
        match input.get(self.at)? {
            b's' => return self.string(input, "key", hunt, candidates),
            b'i' => drop(tokens.integer().ok()?),
            b'S' => tokens.escaped(&mut Vec::new()).ok()?,
            _ => return None,
        }
        self.at = tokens.at;
        Some(Met::Good)
    }

    fn value(&mut self, input: &[u8], hunt: Hunt<'_>, candidates: &mut Candidates<'_>) -> Option<Met> {
        self.count();
        let mut tokens = self.tokens(input);
        match input.get(self.at)? {
            b's' => return self.string(input, "string", hunt, candidates),
            b'a' => return self.array(input),
            b'O' => return self.object(input, hunt),
            b'C' => return self.opaque(input, hunt, candidates),
            b'E' => return self.enum_case(input, hunt),
            b'i' => drop(tokens.integer().ok()?),
            b'd' => drop(tokens.float().ok()?),
            b'b' => drop(tokens.boolean().ok()?),
            b'N' => tokens.word(b"N;").ok()?,
            b'r' | b'R' => drop(tokens.link().ok()?),
            b'S' => tokens.escaped(&mut Vec::new()).ok()?,
            _ => return None,
        }
        self.at = tokens.at;
        Some(Met::Good)
    }

    fn array(&mut self, input: &[u8]) -> Option<Met> {
        let mut tokens = self.tokens(input);
        let (count, _) = tokens.array().ok()?;
        self.at = tokens.at;
        self.push(State::Entries, u64::from(count) * 2, (0, 0, 0))?;
        Some(Met::Good)
    }

    // -- Pieces with a length -------------------------------------------------

    /// Returns the length after the letter at `at`, and where the bytes start.
    fn head(&self, input: &[u8]) -> Option<(u64, usize)> {
        let digits = input.get(self.at + 2..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = self.at + 2 + digits;
        (digits > 0 && input[self.at + 1] == b':' && input.get(end..end + 2)? == b":\"").then_some(())?;
        let len = input[self.at + 2..end]
            .iter()
            .fold(0u64, |len, digit| len.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        Some((len, end + 2))
    }

    fn string(
        &mut self,
        input: &[u8],
        what: &'static str,
        hunt: Hunt<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<Met> {
        let (was, first) = self.head(input)?;
        let offset = self.at + 2;
        let frame = self.frames.last();
        let class = (what == "key" && frame.payload.1 > 0).then_some((frame.payload.0, frame.payload.1 as usize));
        if let Hunt::Measured(_) = hunt {
            return Some(Met::Piece(
                Piece { offset, was, first, what, class, has_variable: frame.state.has_variable() },
                None,
            ));
        }
        let stated = usize::try_from(was).ok().and_then(|len| first.checked_add(len));
        let fits = stated.is_some_and(|end| {
            input.get(end..end.saturating_add(2)) == Some(b"\";")
                && (what == "key"
                    || self.texts > 3
                    || hunt.trusts()
                    || !is_text(&input[first..end])
                    || candidates.is_whole(&input[first..end]))
        });
        if !fits && let Some(fix) = lost_name(input, offset, was, first, class, candidates.classes) {
            self.at = first + was as usize;
            return Some(Met::Fix(fix));
        }
        let stated = stated.unwrap_or(usize::MAX).min(input.len());
        let takes_stated = match hunt {
            Hunt::Step(step) => step > 0,
            Hunt::Near { .. } => true,
            Hunt::Between(_) | Hunt::Measured(_) => false,
        };
        if fits && takes_stated {
            self.at = stated + 2;
            return Some(Met::Good);
        }
        if matches!(hunt, Hunt::Near { texts: true }) && !fits && what == "string" && is_text(&input[first..]) {
            self.at = first;
            self.texts += 1;
            self.push(State::Text, 1, (offset, was, first))?;
            return Some(Met::Good);
        }
        let most = stated.saturating_add((stated - first).saturating_add(BEHIND)).min(input.len());
        let fix_at = |end: usize| {
            let is = (end - first) as u64;
            // The name of a property without its NUL bytes is never taken for a shorter name.
            let may_lack = |key: &[u8]| key.starts_with(b"*") || text::is_class_name(key);
            if class.is_some() && is.checked_add(2) == Some(was) && may_lack(&input[first..end]) {
                return None;
            }
            goes_on(frame, &input[end + 2..]).then_some((end + 2, Fix { offset, was, is, what, first, owner: 0 }))
        };
        match hunt {
            Hunt::Near { .. } => {
                let ends = Rc::clone(&candidates.ends);
                let ends = between(&ends, first, most);
                candidates.looked += ends.len();
                candidates.found.extend(ends.iter().filter_map(|end| fix_at(*end)));
            }
            Hunt::Step(step) => {
                let lens = (0..TIMES).map_while(|times| was.checked_add_signed(step.checked_mul(times)?));
                let ends = lens.map(|len| usize::try_from(len).unwrap_or(usize::MAX).saturating_add(first));
                let near = ends.skip_while(|end| step < 0 && *end > most).take_while(|end| *end <= most);
                let ends = near.filter(|end| input[*end..].starts_with(b"\";"));
                candidates.found.extend(ends.filter_map(fix_at));
            }
            Hunt::Between(between) => {
                let (mut at, mut least, mut max) = (first, 0, 0);
                loop {
                    if between.fits(least, max, was) && input[at..].starts_with(b"\";") {
                        candidates.found.extend(fix_at(at));
                    }
                    let Some((bytes, low, high)) = between.unit(input, at).filter(|_| least <= was) else { break };
                    (at, least, max) = (at + bytes, least + low, max + high);
                }
                candidates.looked += at - first;
            }
            Hunt::Measured(_) => {}
        }
        // A session has no counts: a string may not swallow the variable after it.
        if matches!(frame.state, State::Named | State::Counted) {
            let variable = if frame.state == State::Named { named_variable } else { counted_variable };
            let is_before_name = |(end, _): &(usize, Fix)| variable(&input[*end..]).is_some();
            let first = candidates.found.iter().filter(|found| is_before_name(found)).map(|(end, _)| *end).min();
            candidates.found.retain(|(end, _)| first.is_none_or(|first| *end <= first));
        }
        candidates.found.sort_by_key(|(_, fix)| fix.was.abs_diff(fix.is));
        candidates.found.truncate(ENDS);
        Some(Met::Fork)
    }

    /// Reads the name of a class, which has no quote in it: its end, and the change if its
    /// length is wrong.
    fn name(&self, input: &[u8], hunt: Hunt<'_>) -> Option<(usize, usize, Option<Fix>)> {
        let (was, first) = self.head(input)?;
        let len = input[first..].iter().take(1 << 16).position(|byte| *byte == b'"')?;
        if let Hunt::Measured(measure) = hunt {
            (measure.end(input, first, was)? == first + len).then_some(())?;
        }
        let fix = Fix { offset: self.at + 2, was, is: len as u64, what: "class", first, owner: 0 };
        Some((first, first + len, (was != fix.is).then_some(fix)))
    }

    fn object(&mut self, input: &[u8], hunt: Hunt<'_>) -> Option<Met> {
        let (first, end, fix) = self.name(input, hunt)?;
        text::is_class_name(&input[first..end]).then_some(())?;
        let (count, behind) = number(input, end + 1, b'{')?;
        (count <= (input.len() - behind) as u64).then_some(())?;
        self.at = behind;
        self.push(State::Entries, count * 2, (first, (end - first) as u64, 0))?;
        Some(fix.map_or(Met::Good, Met::Fix))
    }

    fn enum_case(&mut self, input: &[u8], hunt: Hunt<'_>) -> Option<Met> {
        let (first, end, fix) = self.name(input, hunt)?;
        (text::is_enum_case(&input[first..end]) && input.get(end + 1) == Some(&b';')).then_some(())?;
        self.at = end + 2;
        Some(fix.map_or(Met::Good, Met::Fix))
    }

    fn opaque(&mut self, input: &[u8], hunt: Hunt<'_>, candidates: &mut Candidates<'_>) -> Option<Met> {
        let (first, end, fix) = self.name(input, hunt)?;
        text::is_class_name(&input[first..end]).then_some(())?;
        let (was, start) = number(input, end + 1, b'{')?;
        let offset = end + 2;
        match spl::family(&input[first..end]).filter(|_| input.get(start) != Some(&b'}')) {
            Some(family) => self.open(input, family, (offset, was, start))?,
            None => {
                return self.raw(input, (offset, was, start), fix, hunt, candidates);
            }
        }
        Some(fix.map_or(Met::Good, Met::Fix))
    }

    /// Reads a payload that only its class understands.
    fn raw(
        &mut self,
        input: &[u8],
        (offset, was, start): (usize, u64, usize),
        fix: Option<Fix>,
        hunt: Hunt<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<Met> {
        if let Hunt::Measured(_) = hunt {
            let piece = Piece { offset, was, first: start, what: "payload", class: None, has_variable: None };
            return Some(Met::Piece(piece, fix));
        }
        let stated = usize::try_from(was).ok().and_then(|len| start.checked_add(len));
        if let Some(end) = stated.filter(|end| input.get(*end) == Some(&b'}')) {
            self.at = end + 1;
            return Some(fix.map_or(Met::Good, Met::Fix));
        }
        // The length of a name and that of its payload are not both searched.
        if fix.is_some() {
            return None;
        }
        let stated = stated.unwrap_or(usize::MAX).min(input.len());
        let most = stated.saturating_add((stated - start).saturating_add(BEHIND)).min(input.len());
        let frame = self.frames.last();
        candidates.looked += most - start;
        for end in start..most {
            if input[end] == b'}' && goes_on(frame, &input[end + 1..]) {
                candidates.found.push((
                    end + 1,
                    Fix { offset, was, is: (end - start) as u64, what: "payload", first: start, owner: 0 },
                ));
            }
        }
        candidates.found.sort_by_key(|(_, fix)| fix.was.abs_diff(fix.is));
        candidates.found.truncate(ENDS);
        Some(Met::Fork)
    }

    /// Reads the front of a payload of one of PHP's own classes.
    fn open(&mut self, input: &[u8], family: Family, payload: (usize, u64, usize)) -> Option<()> {
        self.at = payload.2;
        if family != Family::List {
            input[self.at..].starts_with(b"x:").then_some(())?;
            self.at += 2;
        }
        let mut tokens = self.tokens(input);
        (input.get(self.at) == Some(&b'i')).then_some(())?;
        let (number, ..) = tokens.integer().ok()?;
        self.at = tokens.at;
        match family {
            Family::List => self.push(State::List, 0, payload),
            Family::Storage => self.push(State::First, u64::try_from(number).ok()?, payload),
            Family::Array if number & IS_SELF == 0 => self.push(State::Array, 0, payload),
            // Its properties follow directly, as after the last element.
            Family::Array => self.push(State::First, 0, payload),
        }
    }
}

/// A key of an object that lost the NUL bytes of its visibility: this is certain.
fn lost_name(
    input: &[u8],
    offset: usize,
    was: u64,
    first: usize,
    class: Option<(usize, usize)>,
    classes: &Classes,
) -> Option<Fix> {
    let (start, len) = class?;
    let end = first.checked_add(usize::try_from(was).ok()?.checked_sub(2)?)?;
    input.get(end..)?.starts_with(b"\";").then_some(())?;
    let class = input.get(start..start + len);
    let restored = names::restore_lost(&input[first..end], was - 2, was, class, classes)?;
    (restored.nuls == names::Nuls::Lost).then_some(())?;
    Some(Fix { offset, was, is: was - 2, what: "visibility", first, owner: restored.owner })
}

/// Reads `:number:` and `last`; returns the number and what follows.
fn number(input: &[u8], at: usize, last: u8) -> Option<(u64, usize)> {
    let digits = input.get(at + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = at + 1 + digits;
    (digits > 0 && input[at] == b':' && input.get(end..end + 2)? == [b':', last]).then_some(())?;
    Some((std::str::from_utf8(&input[at + 1..end]).ok()?.parse().ok()?, end + 2))
}

/// Whether the next bytes are possible in this container, as far as the first of them show.
fn goes_on(frame: Frame, rest: &[u8]) -> bool {
    let is_key = |rest: &[u8]| {
        matches!(rest, [b'i', b':', b'0'..=b'9' | b'-' | b'+', ..] | [b's' | b'S', b':', b'0'..=b'9', ..])
    };
    match frame.state {
        State::Root => rest.trim_ascii_start().is_empty(),
        State::Named => rest.trim_ascii_start().is_empty() || named_variable(rest).is_some(),
        State::Counted => match rest.split_first() {
            None => true,
            Some((len, rest)) => rest.get(usize::from(*len)..).is_some_and(begins_value),
        },
        State::Text => rest.starts_with(b"\";"),
        State::Entries if frame.left == 0 => rest.first() == Some(&b'}'),
        State::Entries if frame.left.is_multiple_of(2) => is_key(rest),
        State::Entries => {
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

/// Whether this begins like a serialized array or object.
pub(super) fn is_text(text: &[u8]) -> bool {
    matches!(text, [b'a' | b'O', b':', b'0'..=b'9', ..])
}
