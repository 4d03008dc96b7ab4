//! One skimmer for formats whose values begin with a tag: it follows the parts in their tables
//! of tags, and calls the format for what a table can't express.
//!
//! A format also has a fast loop over common tokens. This skimmer handles the tokens that the
//! loop does not, one at a time, and all tokens of an answer.
//!
//! An answer is written as a separate document: names that it uses are written in full, and it
//! has its own numbers.

use super::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View};
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
    /// How many numbered values, and how many names, were skipped.
    pub(crate) values: u64,
    pub(crate) names: u64,
    pub(crate) format: F,
    open: Vec<Frame>,
    /// Parts that follow the open values, for each frame that is a [`Sort::Rest`].
    rests: Vec<&'static [Part]>,
    answer: Option<Answer>,
}

/// A value that is written as a separate document.
#[derive(Debug)]
struct Answer {
    bytes: Vec<u8>,
    /// Its maximum length.
    most: u64,
}

/// An open container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) sort: Sort,
    /// Number of values still to skip. A key counts as a value.
    pub(crate) left: u64,
}

/// Kind of values in a [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Values,
    /// Keys and values.
    Entries,
    /// Keys with flags, and values.
    FlagEntries,
    /// Names and values.
    Members,
    /// No values: the parts of a tag after the previous value.
    Rest,
}

impl Frame {
    #[inline(always)]
    pub(crate) fn values(count: u64) -> Frame {
        Frame { sort: Sort::Values, left: count }
    }

    /// Returns a frame of this many keys and values. Documents can't have so many that the count
    /// overflows.
    #[inline(always)]
    pub(crate) fn pairs(sort: Sort, count: u64) -> Frame {
        Frame { sort, left: count.saturating_mul(2) }
    }

    /// Whether a key is next.
    fn is_at_key<F: Tokens>(&self) -> bool {
        !matches!(self.sort, Sort::Values | Sort::Rest) && self.left.is_multiple_of(2) != F::KEYS_ARE_LAST
    }
}

/// State of a format's fast loop.
pub(crate) struct Run<'r, F> {
    /// The bytes in view, and the offset of the first byte.
    pub(crate) bytes: &'r [u8],
    pub(crate) base: u64,
    pub(crate) open: &'r mut Vec<Frame>,
    /// As in [`Skimmer`].
    pub(crate) values: u64,
    pub(crate) names: u64,
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
    const KEYS_ARE_LAST: bool = false;
    /// Whether keys are encoded like values: then frames need not track where keys are.
    const IS_FLAT: bool = false;
    /// Whether [`Tokens::run`] finds the entry with an integer as its key.
    const SEEKS_INTEGERS: bool = false;

    fn start(skimmer: &mut Skimmer<'_, Self>) -> Sure<()>;
    fn open(skimmer: &mut Skimmer<'_, Self>) -> Sure<Opened>;
    fn next(skimmer: &mut Skimmer<'_, Self>, open: &mut Opened) -> Sure<Option<KeyOf>>;
    /// Skips the value that [`Tokens::next`] already skipped.
    fn skip_passed(_: &mut Skimmer<'_, Self>) -> bool {
        false
    }
    /// Returns the bytes before the value in a separate document.
    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> Sure<Vec<u8>>;
    /// Takes the value out of that document.
    fn finish_answer(_: &mut Skimmer<'_, Self>, document: Document<'_>) -> Sure<Document<'static>> {
        Ok(document.into_owned())
    }

    /// Returns the parts after a tag, if they depend on the next bytes.
    fn parts(_: &mut Skimmer<'_, Self>, tag: u8) -> Sure<&'static [Part]> {
        Ok(Self::TAGS.parts(tag))
    }
    /// Reads a length or a count.
    fn count(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<u64>;
    fn integer(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<()>;
    fn float(_: &mut Skimmer<'_, Self>, _: Mark) -> Sure<()> {
        Err(Unsure)
    }
    /// These three write their tags themselves, because the answer may need others.
    fn name(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> Sure<()>;
    fn again(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> Sure<()>;
    fn link(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> Sure<()>;
    /// Reads the token of a name or of its number.
    fn named(_: &mut Skimmer<'_, Self>) -> Sure<()> {
        Err(Unsure)
    }
    /// Reads the content of an object, or of a shared variable.
    fn body(_: &mut Skimmer<'_, Self>, _tag: u8) -> Sure<()> {
        Err(Unsure)
    }
    fn number(skimmer: &mut Skimmer<'_, Self>) {
        skimmer.values += 1;
    }
    /// Reads a key; [`Tokens::named`] reads those of members.
    fn key(skimmer: &mut Skimmer<'_, Self>, sort: Sort) -> Sure<()>;

    /// The fast loop: skips tokens until no frame is left, or up to a token that is rare or not
    /// completely in view. Only the bytes of a string may end beyond the view. Stops after a key
    /// of the outermost container that is the integer that is sought.
    ///
    /// Returns how many bytes it skipped, and whether it found that key.
    fn run(run: &mut Run<'_, Self>, sought: Option<i64>) -> (usize, bool);
}

impl<'i, F: Tokens> Skimmer<'i, F> {
    pub(crate) fn new(input: Input<'i>, format: F) -> Skimmer<'i, F> {
        Skimmer {
            view: View::new(input),
            key: Vec::new(),
            values: 0,
            names: 0,
            format,
            open: Vec::new(),
            rests: Vec::new(),
            answer: None,
        }
    }

    /// Returns the bytes of the answer, if one is written.
    #[inline]
    pub(crate) fn answer(&mut self) -> Option<&mut Vec<u8>> {
        self.answer.as_mut().map(|answer| &mut answer.bytes)
    }

    pub(crate) fn emit(&mut self, bytes: &[u8]) {
        if let Some(answer) = self.answer() {
            answer.extend_from_slice(bytes);
        }
    }

    /// Skips this many bytes, which are the same in an answer.
    #[inline]
    pub(crate) fn pass(&mut self, count: u64) -> Sure<()> {
        match &mut self.answer {
            None => self.view.advance(count),
            Some(answer) if (answer.bytes.len() as u64).saturating_add(count) > answer.most => Err(Unsure),
            Some(answer) => self.view.append(count, &mut answer.bytes),
        }
    }

    #[inline]
    pub(crate) fn pass_byte(&mut self) -> Sure<u8> {
        let byte = self.view.byte()?;
        self.emit(&[byte]);
        Ok(byte)
    }

    fn pass_count(&mut self, tag: u8, count: Count) -> Sure<u64> {
        match count {
            Count::Usual => F::count(self, tag),
            Count::Byte => self.pass_byte().map(u64::from),
            Count::Low(mask) => Ok(u64::from(tag & mask)),
        }
    }

    /// Skips a value: a leaf completely, a container up to its front.
    pub(crate) fn front(&mut self) -> Sure<()> {
        loop {
            let mark = self.mark();
            let tag = self.view.byte()?;
            let parts = F::parts(self, tag)?;
            if !matches!(parts.first(), Some(Part::Name | Part::Again | Part::Link)) {
                self.emit(&[tag]);
            }
            if !self.follow(parts, tag, mark)? {
                return Ok(());
            }
        }
    }

    /// Skips the parts of a tag. Returns whether a value is next that ends with them.
    pub(crate) fn follow(&mut self, parts: &'static [Part], tag: u8, mark: Mark) -> Sure<bool> {
        let mut sort = Sort::Values;
        for (index, part) in parts.iter().enumerate() {
            let frame = match *part {
                Part::Bytes(count) => {
                    // Flags of entries precede their count.
                    sort = Sort::FlagEntries;
                    self.pass(u64::from(count))?;
                    continue;
                }
                Part::Integer => {
                    F::integer(self, tag)?;
                    continue;
                }
                Part::Float => {
                    F::float(self, mark)?;
                    continue;
                }
                Part::Text(count) => {
                    let len = self.pass_count(tag, count)?;
                    self.pass(len)?;
                    continue;
                }
                Part::Pairs => {
                    let len = F::count(self, tag)?;
                    self.pass(len.saturating_mul(2))?;
                    continue;
                }
                Part::Name => {
                    F::name(self, tag, mark.at)?;
                    continue;
                }
                Part::Again => {
                    F::again(self, tag, mark.at)?;
                    continue;
                }
                Part::Named => {
                    F::named(self)?;
                    continue;
                }
                Part::Link => {
                    F::link(self, tag, mark.at)?;
                    continue;
                }
                Part::Body => {
                    F::body(self, tag)?;
                    continue;
                }
                Part::Number => {
                    F::number(self);
                    continue;
                }
                Part::Value if index + 1 == parts.len() => return Ok(true),
                Part::Value if parts[index..].iter().all(|part| *part == Part::Value) => {
                    self.enter(Frame::values((parts.len() - index) as u64));
                    break;
                }
                Part::Value => Frame::values(1),
                Part::Items(count) => Frame::values(self.pass_count(tag, count)?),
                Part::Entries(count) => {
                    let sort = match sort {
                        Sort::FlagEntries => sort,
                        _ if F::IS_FLAT => Sort::Values,
                        _ => Sort::Entries,
                    };
                    Frame::pairs(sort, self.pass_count(tag, count)?)
                }
                Part::Members => Frame::pairs(Sort::Members, F::count(self, tag)?),
                Part::InBody | Part::Other => return Err(Unsure),
            };
            let rest = parts.get(index + 1..).unwrap_or(&[]);
            if !rest.is_empty() {
                self.rests.push(rest);
                self.open.push(Frame { sort: Sort::Rest, left: 0 });
            }
            self.enter(frame);
            break;
        }
        Ok(false)
    }

    /// In a flat format the values are counted with those around them, so depth costs nothing.
    fn enter(&mut self, frame: Frame) {
        match self.open.last_mut() {
            Some(around) if F::IS_FLAT => around.left = around.left.saturating_add(frame.left),
            _ => self.open.push(frame),
        }
    }

    pub(crate) fn pass_value(&mut self) -> Sure<()> {
        self.pass_frame(Frame::values(1))
    }

    /// Skips the content of this frame, and nothing else.
    fn pass_frame(&mut self, frame: Frame) -> Sure<()> {
        self.begin(frame);
        self.drain()
    }

    fn begin(&mut self, frame: Frame) {
        self.open.clear();
        self.rests.clear();
        self.open.push(frame);
    }

    fn run(&mut self, sought: Option<i64>) -> Sure<bool> {
        let Skimmer { view, open, format, values, names, .. } = self;
        let (bytes, base) = (view.rest(), view.position());
        let mut run = Run { bytes, base, open, values: *values, names: *names, format };
        let (passed, is_found) = F::run(&mut run, sought);
        (*values, *names) = (run.values, run.names);
        view.advance(passed as u64)?;
        Ok(is_found)
    }

    /// Continues until nothing is open.
    fn drain(&mut self) -> Sure<()> {
        loop {
            if self.answer.is_none() {
                self.run(None)?;
            }
            let Some(frame) = self.open.last_mut() else { return Ok(()) };
            if frame.sort == Sort::Rest {
                self.open.pop();
                let parts = self.rests.pop().ok_or(Unsure)?;
                let mark = self.mark();
                if self.follow(parts, 0, mark)? {
                    self.front()?;
                }
            } else if frame.left == 0 {
                self.open.pop();
            } else {
                let (sort, is_key) = (frame.sort, frame.is_at_key::<F>());
                frame.left -= 1;
                match sort {
                    Sort::Members if is_key => F::named(self)?,
                    _ if is_key => F::key(self, sort)?,
                    _ => self.front()?,
                }
            }
        }
    }
}

impl<F: Tokens> Skim for Skimmer<'_, F> {
    fn start(&mut self) -> Sure<()> {
        F::start(self)
    }

    fn is_at_end(&mut self) -> bool {
        self.view.is_at_end()
    }

    fn mark(&self) -> Mark {
        Mark { at: self.view.position(), numbers: [self.values, self.names] }
    }

    fn back(&mut self, mark: Mark) {
        self.view.go(mark.at);
        [self.values, self.names] = mark.numbers;
    }

    fn open(&mut self) -> Sure<Opened> {
        F::open(self)
    }

    fn next(&mut self, open: &mut Opened) -> Sure<Option<KeyOf>> {
        F::next(self, open)
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn skip(&mut self) -> Sure<()> {
        if F::skip_passed(self) { Ok(()) } else { self.pass_value() }
    }

    fn skip_items(&mut self, open: &mut Opened, count: u64) -> Sure<bool> {
        let taken = open.take(count);
        self.pass_frame(match open.shape {
            Shape::List => Frame::values(taken),
            _ => Frame::pairs(Sort::Entries, taken),
        })?;
        Ok(taken == count)
    }

    fn find_int(&mut self, open: &mut Opened, number: i64) -> Sure<bool> {
        loop {
            if F::SEEKS_INTEGERS {
                let count = open.count.ok_or(Unsure)?;
                self.begin(Frame::pairs(Sort::Entries, count - open.read));
                let is_found = self.run(Some(number))?;
                // The rest of an entry that the loop entered.
                let outer = if self.open.is_empty() { Frame::values(0) } else { self.open.remove(0) };
                self.drain()?;
                open.read = count - outer.left / 2;
                if is_found {
                    return Ok(true);
                }
            }
            match self.next(open)? {
                None => return Ok(false),
                Some(KeyOf::Int(known)) if known == number => return Ok(true),
                Some(_) => self.skip()?,
            }
        }
    }

    fn take(&mut self, limits: &Limits) -> Sure<Document<'static>> {
        let most = limits.expanded_from(usize::try_from(self.view.len()).unwrap_or(usize::MAX));
        let bytes = F::begin_answer(self)?;
        self.answer = Some(Answer { bytes, most });
        self.pass_value()?;
        let bytes = self.answer.take().ok_or(Unsure)?.bytes;
        let outcome = F::Options::default().read(&bytes, Request::new(limits));
        let document = outcome.whole(&bytes, F::FORMAT).map_err(|_| Unsure)?;
        F::finish_answer(self, document)
    }
}
