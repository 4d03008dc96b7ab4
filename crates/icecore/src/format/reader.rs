//! Reading a format: bytes in, a tape out.

use super::skim::{Input, Skim};
use super::stencil::ReadScalar;
use crate::document::{Document, ReceiveWindow, Tape, Windows};
use crate::error::Error;
use crate::limits::Limits;
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// Memory for the bytes of a document that had to be decompressed; windows of the document borrow
/// from it.
pub type Store = OnceLock<Vec<u8>>;

/// The reader of a format, with its options.
///
/// [`Reader::read`] is the only required method. Some formats override others that they can implement
/// better than by reading everything. Most formats implement `Feed` (`format/feed.rs`) instead, which
/// provides all of them.
pub trait Reader: fmt::Debug + Send + Sync {
    /// Reads one document from the start of the input, as far as it is valid. The request may ask
    /// for spelling and spans, and provide a tape; other documents may follow.
    ///
    /// ```
    /// use icecore::{Limits, Request, raw::Reader, format::sereal};
    /// let two = b"=\xF3rl\x05\x00\x01=\xF3rl\x05\x00\x02";
    /// let limits = Limits::default();
    /// let first = sereal::ReadOptions::default().read(two, Request::new(&limits));
    /// assert_eq!(first.consumed, 7);
    /// assert_eq!(first.document.root().as_i64(), Some(1));
    /// ```
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a>;

    /// Clears a tape and reads one document from the start of the input into it. After an
    /// error, the tape has what was read before it.
    fn fill_tape(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        Filled::by_reading(limits, tape, |request| self.read(input, request))
    }

    /// Reads one document and hands over finished items of a root that is an array while reading
    /// continues, if the [format can](super::Capabilities::hands_over). Decompressed data goes into
    /// the store, which the windows then borrow from.
    fn read_windows<'a>(
        &self,
        input: &'a [u8],
        store: &'a Store,
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Rest<'a> {
        let _ = (store, receive);
        Rest::from_outcome(self.read(input, Request::new(limits)))
    }

    /// Like [`Reader::read_windows`], with spelling and spans: each window has those of its
    /// items. `None` if this is not supported.
    fn read_traced_windows<'a>(
        &self,
        input: &'a [u8],
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Option<Rest<'a>> {
        let _ = (input, limits, receive);
        None
    }

    /// Returns a skimmer, which scans the bytes of a document without building nodes, if this
    /// format supports it with these options.
    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        let _ = input;
        None
    }

    /// Returns a function that reads single scalars of documents like this one, if this format
    /// supports it with these options.
    fn scalar_reader(&self, input: &[u8]) -> Option<ReadScalar> {
        let _ = input;
        None
    }

    /// Returns `true` if the input may contain its form in another format, such as `$spelling` in json:typed:
    /// a tape alone has no place for that.
    fn states_form(&self, input: &[u8]) -> bool {
        let _ = input;
        false
    }

    /// Returns `true` if the input, which was read onto this tape, differs from what this format would write.
    fn has_own_form(&self, input: &[u8], tape: &Tape) -> bool {
        let _ = (input, tape);
        true
    }
}

/// What to read, and how.
#[derive(Debug)]
pub struct Request<'r> {
    /// Limits for its cost.
    pub limits: &'r Limits,
    /// Whether spelling and spans are wanted.
    pub detail: bool,
    /// Whether a container contains what is there if its count promises more than the rest of the input can hold.
    pub salvages: bool,
    /// The tape to use; it is cleared first.
    pub tape: Tape,
}

impl<'r> Request<'r> {
    /// Asks for the meaning only, on a new tape.
    pub fn new(limits: &'r Limits) -> Request<'r> {
        Request { limits, detail: false, salvages: false, tape: Tape::new() }
    }

    /// Asks for what a cut document contains, in detail. The reading ends with the same error as without it, but if a
    /// container promises more than the rest of the input can hold, the document has the values that are there.
    ///
    /// ```
    /// use icecore::{Limits, Request, Stage};
    /// let (stage, limits) = (Stage::parse("php")?, Limits::default());
    /// let read = |request| stage.format().read(b"a:40000:{i:0;i:5;i:1;s:9:\"ab", stage.settings(), request);
    /// assert_eq!(read(Request::new(&limits).salvaging()).document.root().item(0).and_then(|item| item.as_i64()), Some(5));
    /// assert!(read(Request::new(&limits)).document.root().item(0).is_none());
    /// # Ok::<(), icecore::Error>(())
    /// ```
    #[must_use]
    pub fn salvaging(mut self) -> Request<'r> {
        (self.detail, self.salvages) = (true, true);
        self
    }

    /// Asks for spelling and spans as well.
    #[must_use]
    pub fn detailed(mut self) -> Request<'r> {
        self.detail = true;
        self
    }
}

/// Result of a reading: a document, as far as it was read, and the reason why it was not read
/// further.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The document; a part of one if there is an error.
    pub document: Document<'a>,
    /// Number of bytes of the input that the document used.
    pub consumed: usize,
    /// The error that stopped the reading.
    pub error: Option<Error>,
}

impl<'a> Outcome<'a> {
    /// Returns an outcome in which nothing was read, because the options are invalid.
    pub(crate) fn from_refusal(input: &'a [u8], request: Request<'_>, error: Error) -> Outcome<'a> {
        let mut tape = request.tape;
        tape.clear();
        Outcome { document: Document::new(input, tape), consumed: 0, error: Some(error) }
    }

    /// Returns the document, if nothing stopped the reading and it uses the whole input.
    pub(crate) fn into_whole_document(self, input: &[u8], format: &super::Format) -> Result<Document<'a>, Error> {
        let trailing = || (self.consumed < input.len()).then(|| Error::trailing(input, self.consumed));
        match self.error.or_else(trailing) {
            Some(error) => Err(format.explain(error)),
            None => Ok(self.document),
        }
    }
}

/// Result of a reading into a tape.
#[derive(Debug)]
pub struct Filled {
    /// Number of bytes of the input that the document used.
    pub consumed: usize,
    /// The error that stopped the reading.
    pub error: Option<Error>,
    /// The bytes that the strings of the tape borrow from, if not the input.
    pub body: Option<Vec<u8>>,
    /// Whether it is known to contain only arrays, maps, strings and numbers, without links to
    /// them, and with keys that have ids without flags.
    pub is_simple: bool,
}

impl Filled {
    /// Returns the result of a reading whose strings borrow from the input.
    pub(crate) fn new((consumed, error): (usize, Option<Error>)) -> Filled {
        Filled { consumed, error, body: None, is_simple: false }
    }

    /// Reads a document and puts it into the tape.
    pub(crate) fn by_reading<'a>(
        limits: &Limits,
        tape: &mut Tape,
        read: impl FnOnce(Request<'_>) -> Outcome<'a>,
    ) -> Filled {
        let outcome = read(Request { tape: std::mem::take(tape), ..Request::new(limits) });
        let (buffer, read) = outcome.document.into_parts();
        *tape = read;
        let body = match buffer {
            Cow::Owned(body) => Some(body),
            Cow::Borrowed(_) => None,
        };
        Filled { consumed: outcome.consumed, error: outcome.error, body, is_simple: false }
    }
}

/// What remains after windows were handed over.
#[derive(Debug)]
pub struct Rest<'a> {
    /// The last window, how far reading got, and the error that stopped it.
    pub outcome: Outcome<'a>,
    /// Number of items that were handed over in previous windows.
    pub items: u64,
    /// Whether a link was found that requires the document to be read as a whole.
    pub needs_whole: bool,
}

impl<'a> Rest<'a> {
    /// Returns the whole document: nothing was handed over.
    pub(crate) fn from_outcome(outcome: Outcome<'a>) -> Rest<'a> {
        Rest { outcome, items: 0, needs_whole: false }
    }

    pub(crate) fn new(sink: Windows<'_, 'a>, consumed: usize, error: Option<Error>) -> Rest<'a> {
        let needs_whole = sink.is_stopped();
        Rest::from_remaining(sink.into_rest(), needs_whole, consumed, error)
    }

    pub(crate) fn from_remaining(
        document: Document<'a>,
        needs_whole: bool,
        consumed: usize,
        error: Option<Error>,
    ) -> Rest<'a> {
        let items = document.tape().first_item;
        Rest { outcome: Outcome { document, consumed, error }, items, needs_whole }
    }
}
