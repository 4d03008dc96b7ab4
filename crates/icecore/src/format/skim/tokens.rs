//! One skimmer for all formats whose values begin with a tag. A table of tags says which parts follow each tag. The
//! skimmer follows these parts, and calls the format for anything that a table can't express.
//!
//! A format also has a fast loop over common tokens. The skimmer handles all other tokens, and all tokens of an
//! answer, one at a time.
//!
//! An answer is written as a separate document. It can't refer to names and values outside of it, so names are
//! written in full, and its values get new numbers.

use super::{Input, Mark, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind, View};
use crate::document::Document;
use crate::format::tags::{Count, Part, Table};
use crate::format::{Format, Reader, Request};
use crate::limits::Limits;
use std::fmt;

/// The skimmer for documents of the format `F`.
#[derive(Debug)]
pub(crate) struct Skimmer<'i, F> {
    pub(crate) view: View<'i>,
    /// The key of the next value, if it is a string.
    pub(crate) key: Vec<u8>,
    /// Number of values that have a number and were skipped so far.
    pub(crate) value_count: u64,
    /// Number of names that have a number and were skipped so far.
    pub(crate) name_count: u64,
    pub(crate) format: F,
    open: Vec<SkimFrame>,
    /// Parts that follow the open values, for each frame that is a [`FrameContent::Rest`].
    pending_parts: Vec<&'static [Part]>,
    answer: Option<Answer>,
}

/// A value that is written as a separate document.
#[derive(Debug)]
struct Answer {
    bytes: Vec<u8>,
    /// Its maximum length.
    max_len: u64,
}

/// An open container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkimFrame {
    pub(crate) content: FrameContent,
    /// Number of values that must still be skipped. A key counts as a value.
    pub(crate) remaining: u64,
}

/// Kind of values in a [`SkimFrame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameContent {
    /// Values without keys.
    Values,
    /// Keys and values.
    Entries,
    /// Keys with flags, and values.
    FlagEntries,
    /// Names and values.
    Members,
    /// The remaining parts of a tag, after a value in the middle of it.
    Rest,
}

impl SkimFrame {
    #[inline(always)]
    pub(crate) fn new_values(count: u64) -> SkimFrame {
        SkimFrame { content: FrameContent::Values, remaining: count }
    }

    /// Returns a frame of `count` keys and as many values. If twice the count is too large, the largest number is
    /// enough, because a document can't contain that number of values.
    #[inline(always)]
    pub(crate) fn new_pairs(content: FrameContent, count: u64) -> SkimFrame {
        SkimFrame { content, remaining: count.saturating_mul(2) }
    }

    /// Returns `true` if a key is next.
    fn is_at_key<F: Tokens>(&self) -> bool {
        !matches!(self.content, FrameContent::Values | FrameContent::Rest)
            && self.remaining.is_multiple_of(2) != F::KEYS_FOLLOW_VALUES
    }
}

/// State of a format's fast loop.
pub(crate) struct Run<'r, F> {
    /// The bytes in view, and the offset of the first byte.
    pub(crate) bytes: &'r [u8],
    pub(crate) view_start: u64,
    pub(crate) open: &'r mut Vec<SkimFrame>,
    /// As in [`Skimmer`].
    pub(crate) value_count: u64,
    pub(crate) name_count: u64,
    pub(crate) format: &'r mut F,
}

/// What a table of tags can't express about a format. Its functions read tokens from a view that
/// may end anywhere, and write them to the answer if there is one.
pub(crate) trait Tokens: fmt::Debug + Sized {
    /// The reader of an answer.
    type Options: Reader + Default;
    const FORMAT: &'static Format;
    const TAGS: &'static Table;
    /// Whether the key of an entry follows its value.
    const KEYS_FOLLOW_VALUES: bool = false;
    /// Whether keys are encoded like values. Then a frame needs only a count, and not the places of keys.
    const IS_FLAT: bool = false;
    /// Whether [`Tokens::run_fast_loop`] finds the entry with an integer as its key.
    const SEEKS_INTEGERS: bool = false;

    fn enter_root(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<()>;
    fn enter_value(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<SkimmedContainer>;
    fn next_value(skimmer: &mut Skimmer<'_, Self>, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>>;
    /// Returns `true` if [`Tokens::next_value`] already skipped the value, and moves to its end.
    fn skip_passed(_: &mut Skimmer<'_, Self>) -> bool {
        false
    }
    /// Returns the bytes before the value in a separate document.
    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<Vec<u8>>;
    /// Takes the value out of that document.
    fn finish_answer(_: &mut Skimmer<'_, Self>, document: Document<'_>) -> SkimResult<Document<'static>> {
        Ok(document.into_owned())
    }

    /// Returns the parts after a tag, if they depend on the next bytes.
    fn parts_of_tag(_: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<&'static [Part]> {
        Ok(Self::TAGS.parts_of_tag(tag))
    }
    /// Reads a length or a count.
    fn read_count(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<u64>;
    fn read_integer(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<()>;
    fn read_float(_: &mut Skimmer<'_, Self>, _: Mark) -> SkimResult<()> {
        Err(SkimAborted)
    }
    /// This function and the next two write the tags of names to the answer, because the answer may need other tags.
    fn read_name(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> SkimResult<()>;
    fn read_name_number(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> SkimResult<()>;
    fn read_link(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> SkimResult<()>;
    /// Reads the token of a name or of its number.
    fn read_name_token(_: &mut Skimmer<'_, Self>) -> SkimResult<()> {
        Err(SkimAborted)
    }
    /// Reads the content of an object, or of a shared variable.
    fn read_body(_: &mut Skimmer<'_, Self>, _tag: u8) -> SkimResult<()> {
        Err(SkimAborted)
    }
    fn count_value(skimmer: &mut Skimmer<'_, Self>) {
        skimmer.value_count += 1;
    }
    /// Reads a key; [`Tokens::read_name_token`] reads those of members.
    fn read_key(skimmer: &mut Skimmer<'_, Self>, content: FrameContent) -> SkimResult<()>;

    /// The fast loop. It skips tokens until all frames are complete. It stops before a token that is rare or not
    /// completely in view; only the bytes of a string may end after the view. It also stops after a key of the
    /// outermost container that is the integer `sought`.
    ///
    /// Returns the number of bytes that it skipped, and whether it found that key.
    fn run_fast_loop(run: &mut Run<'_, Self>, sought: Option<i64>) -> (usize, bool);
}

impl<'i, F: Tokens> Skimmer<'i, F> {
    pub(crate) fn new(input: Input<'i>, format: F) -> Skimmer<'i, F> {
        Skimmer {
            view: View::new(input),
            key: Vec::new(),
            value_count: 0,
            name_count: 0,
            format,
            open: Vec::new(),
            pending_parts: Vec::new(),
            answer: None,
        }
    }

    /// Returns the bytes of the answer, if one is written.
    #[inline]
    pub(crate) fn answer_bytes(&mut self) -> Option<&mut Vec<u8>> {
        self.answer.as_mut().map(|answer| &mut answer.bytes)
    }

    pub(crate) fn emit_bytes(&mut self, bytes: &[u8]) {
        if let Some(answer) = self.answer_bytes() {
            answer.extend_from_slice(bytes);
        }
    }

    /// Skips this many bytes, which are the same in an answer.
    #[inline]
    pub(crate) fn pass_bytes(&mut self, count: u64) -> SkimResult<()> {
        match &mut self.answer {
            None => self.view.advance(count),
            Some(answer) if (answer.bytes.len() as u64).saturating_add(count) > answer.max_len => Err(SkimAborted),
            Some(answer) => self.view.read_into(count, &mut answer.bytes),
        }
    }

    #[inline]
    pub(crate) fn pass_byte(&mut self) -> SkimResult<u8> {
        let byte = self.view.read_byte()?;
        self.emit_bytes(&[byte]);
        Ok(byte)
    }

    fn pass_count(&mut self, tag: u8, count: Count) -> SkimResult<u64> {
        match count {
            Count::Usual => F::read_count(self, tag),
            Count::Byte => self.pass_byte().map(u64::from),
            Count::Low(mask) => Ok(u64::from(tag & mask)),
        }
    }

    /// Skips a leaf completely, or the beginning of a container.
    pub(crate) fn pass_value_beginning(&mut self) -> SkimResult<()> {
        loop {
            let mark = self.mark_position();
            let tag = self.view.read_byte()?;
            let parts = F::parts_of_tag(self, tag)?;
            if !matches!(parts.first(), Some(Part::Name | Part::Again | Part::Link)) {
                self.emit_bytes(&[tag]);
            }
            if !self.pass_parts(parts, tag, mark)? {
                return Ok(());
            }
        }
    }

    /// Skips the parts of a tag. Returns `true` if the last part is a value, and this value is next.
    pub(crate) fn pass_parts(&mut self, parts: &'static [Part], tag: u8, mark: Mark) -> SkimResult<bool> {
        let mut content = FrameContent::Values;
        for (index, part) in parts.iter().enumerate() {
            let frame = match *part {
                Part::Bytes(count) => {
                    // Bytes before a count are the flags of a hash. The keys of such a hash have flags, too.
                    content = FrameContent::FlagEntries;
                    self.pass_bytes(u64::from(count))?;
                    continue;
                }
                Part::Integer => {
                    F::read_integer(self, tag)?;
                    continue;
                }
                Part::Float => {
                    F::read_float(self, mark)?;
                    continue;
                }
                Part::Text(count) => {
                    let len = self.pass_count(tag, count)?;
                    self.pass_bytes(len)?;
                    continue;
                }
                Part::Pairs => {
                    let len = F::read_count(self, tag)?;
                    self.pass_bytes(len.saturating_mul(2))?;
                    continue;
                }
                Part::Name => {
                    F::read_name(self, tag, mark.offset)?;
                    continue;
                }
                Part::Again => {
                    F::read_name_number(self, tag, mark.offset)?;
                    continue;
                }
                Part::Named => {
                    F::read_name_token(self)?;
                    continue;
                }
                Part::Link => {
                    F::read_link(self, tag, mark.offset)?;
                    continue;
                }
                Part::Body => {
                    F::read_body(self, tag)?;
                    continue;
                }
                Part::Number => {
                    F::count_value(self);
                    continue;
                }
                Part::Value if index + 1 == parts.len() => return Ok(true),
                Part::Value if parts[index..].iter().all(|part| *part == Part::Value) => {
                    self.enter_frame(SkimFrame::new_values((parts.len() - index) as u64));
                    break;
                }
                Part::Value => SkimFrame::new_values(1),
                Part::Items(count) => SkimFrame::new_values(self.pass_count(tag, count)?),
                Part::Entries(count) => {
                    let content = match content {
                        FrameContent::FlagEntries => content,
                        _ if F::IS_FLAT => FrameContent::Values,
                        _ => FrameContent::Entries,
                    };
                    SkimFrame::new_pairs(content, self.pass_count(tag, count)?)
                }
                Part::Members => SkimFrame::new_pairs(FrameContent::Members, F::read_count(self, tag)?),
                Part::InBody | Part::Other => return Err(SkimAborted),
            };
            let rest = parts.get(index + 1..).unwrap_or(&[]);
            if !rest.is_empty() {
                self.pending_parts.push(rest);
                self.open.push(SkimFrame { content: FrameContent::Rest, remaining: 0 });
            }
            self.enter_frame(frame);
            break;
        }
        Ok(false)
    }

    /// Enters a frame. In a flat format its values are added to the count of the frame around it, so the stack does
    /// not grow with the depth.
    fn enter_frame(&mut self, frame: SkimFrame) {
        match self.open.last_mut() {
            Some(outer) if F::IS_FLAT => outer.remaining = outer.remaining.saturating_add(frame.remaining),
            _ => self.open.push(frame),
        }
    }

    pub(crate) fn pass_value(&mut self) -> SkimResult<()> {
        self.pass_frame(SkimFrame::new_values(1))
    }

    /// Skips the content of this frame, and nothing else.
    fn pass_frame(&mut self, frame: SkimFrame) -> SkimResult<()> {
        self.begin_frame(frame);
        self.pass_open_frames()
    }

    fn begin_frame(&mut self, frame: SkimFrame) {
        self.open.clear();
        self.pending_parts.clear();
        self.open.push(frame);
    }

    fn run_over_view(&mut self, sought: Option<i64>) -> SkimResult<bool> {
        let Skimmer { view, open, format, value_count, name_count, .. } = self;
        let (bytes, base) = (view.bytes_in_view(), view.position());
        let mut run = Run { bytes, view_start: base, open, value_count: *value_count, name_count: *name_count, format };
        let (passed, is_found) = F::run_fast_loop(&mut run, sought);
        (*value_count, *name_count) = (run.value_count, run.name_count);
        view.advance(passed as u64)?;
        Ok(is_found)
    }

    /// Continues until nothing is open.
    fn pass_open_frames(&mut self) -> SkimResult<()> {
        loop {
            if self.answer.is_none() {
                self.run_over_view(None)?;
            }
            let Some(frame) = self.open.last_mut() else { return Ok(()) };
            if frame.content == FrameContent::Rest {
                self.open.pop();
                let parts = self.pending_parts.pop().ok_or(SkimAborted)?;
                let mark = self.mark_position();
                if self.pass_parts(parts, 0, mark)? {
                    self.pass_value_beginning()?;
                }
            } else if frame.remaining == 0 {
                self.open.pop();
            } else {
                let (content, is_key) = (frame.content, frame.is_at_key::<F>());
                frame.remaining -= 1;
                match content {
                    FrameContent::Members if is_key => F::read_name_token(self)?,
                    _ if is_key => F::read_key(self, content)?,
                    _ => self.pass_value_beginning()?,
                }
            }
        }
    }
}

impl<F: Tokens> Skim for Skimmer<'_, F> {
    fn enter_root(&mut self) -> SkimResult<()> {
        F::enter_root(self)
    }

    fn is_at_end(&mut self) -> bool {
        self.view.is_at_end()
    }

    fn mark_position(&self) -> Mark {
        Mark { offset: self.view.position(), numbers: [self.value_count, self.name_count] }
    }

    fn return_to(&mut self, mark: Mark) {
        self.view.seek_to(mark.offset);
        [self.value_count, self.name_count] = mark.numbers;
    }

    fn enter_value(&mut self) -> SkimResult<SkimmedContainer> {
        F::enter_value(self)
    }

    fn next_value(&mut self, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>> {
        F::next_value(self, open)
    }

    fn current_key(&self) -> &[u8] {
        &self.key
    }

    fn skip_value(&mut self) -> SkimResult<()> {
        if F::skip_passed(self) { Ok(()) } else { self.pass_value() }
    }

    fn skip_items(&mut self, open: &mut SkimmedContainer, count: u64) -> SkimResult<bool> {
        let accepted = open.take_items(count);
        self.pass_frame(match open.kind {
            SkimmedKind::List => SkimFrame::new_values(accepted),
            _ => SkimFrame::new_pairs(FrameContent::Entries, accepted),
        })?;
        Ok(accepted == count)
    }

    fn find_int(&mut self, open: &mut SkimmedContainer, number: i64) -> SkimResult<bool> {
        loop {
            if F::SEEKS_INTEGERS {
                let count = open.count.ok_or(SkimAborted)?;
                self.begin_frame(SkimFrame::new_pairs(FrameContent::Entries, count - open.read));
                let is_found = self.run_over_view(Some(number))?;
                // The fast loop stopped inside of an entry. The frames of this entry are completed first.
                let outer = if self.open.is_empty() { SkimFrame::new_values(0) } else { self.open.remove(0) };
                self.pass_open_frames()?;
                open.read = count - outer.remaining / 2;
                if is_found {
                    return Ok(true);
                }
            }
            match self.next_value(open)? {
                None => return Ok(false),
                Some(SkimmedKey::Int(known)) if known == number => return Ok(true),
                Some(_) => self.skip_value()?,
            }
        }
    }

    fn read_value(&mut self, limits: &Limits) -> SkimResult<Document<'static>> {
        let limit = limits.expanded_from(usize::try_from(self.view.len()).unwrap_or(usize::MAX));
        let bytes = F::begin_answer(self)?;
        self.answer = Some(Answer { bytes, max_len: limit });
        self.pass_value()?;
        let bytes = self.answer.take().ok_or(SkimAborted)?.bytes;
        let outcome = F::Options::default().read(&bytes, Request::new(limits));
        let document = outcome.into_whole_document(&bytes, F::FORMAT).map_err(|_| SkimAborted)?;
        F::finish_answer(self, document)
    }
}
