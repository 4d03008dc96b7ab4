//! Converts many documents from one stage to another, with one tape.

use crate::codec::Codec;
use crate::document::{Document, Repair, Tape};
use crate::error::Error;
use crate::format::{Memory, Request};
use crate::limits::{ALWAYS_OUTPUT, Limits};
use crate::output::{Losses, Output, RationedOutput, Written};
use crate::stage::Stage;
use std::borrow::Cow;

/// Converts documents one by one, and reuses the memory and the known keys of the previous ones.
///
/// ```
/// use icecore::{Converter, Stage};
/// let mut converter = Converter::new(Stage::parse("sereal")?, Stage::parse("json")?);
/// let (input, mut out) = (b"=\xF3rl\x05\0\x01=\xF3rl\x05\0\x02", Vec::new());
/// let mut at = 0;
/// while at < input.len() {
///     let done = converter.convert(&input[at..], &mut out);
///     done.written?;
///     at += done.consumed;
///     out.push(b'\n');
/// }
/// assert_eq!(out, b"1\n2\n");
/// # Ok::<(), icecore::Error>(())
/// ```
pub struct Converter {
    from: Codec,
    to: Codec,
    tape: Tape,
    memory: Memory,
    keeps: RecordedDetail,
    /// Output that is allowed whatever the size of the input. This amount remains for all further documents together.
    slack: u64,
}

/// The detail that is recorded in addition to the meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordedDetail {
    Nothing,
    /// The byte form of those documents that need it. The format determines which ones do.
    OwnForm,
    Form,
}

/// The result for one document.
///
/// ```
/// use icecore::{Converter, Limits, Stage};
/// let limits = Limits::default();
/// let mut converter = Converter::new(Stage::parse("php")?, Stage::parse("json")?).limited(&limits);
/// assert_eq!(converter.source().name(), "php");
/// let mut out = Vec::new();
/// let done = converter.convert(b"i:1;i:2;", &mut out);
/// assert_eq!((done.consumed, done.is_read, done.written.is_ok()), (4, true, true));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Debug)]
pub struct Converted {
    /// Number of bytes of the input that were consumed.
    pub consumed: usize,
    /// Whether the document could be read.
    pub is_read: bool,
    /// What the target could not represent, or the error. If the document could be read but not written, the output may
    /// contain a part of it.
    pub written: Written,
    /// Changes that were made to read the document.
    pub repairs: Vec<Repair>,
}

impl std::fmt::Debug for Converter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Converter").field("from", &self.from).field("to", &self.to).finish_non_exhaustive()
    }
}

impl Converter {
    /// Prepares two stages; the limits are the default ones. If both have the same format, the byte form is kept.
    pub fn new(from: Stage, to: Stage) -> Converter {
        let is_same = std::ptr::eq(from.format(), to.format());
        let (from, to) = (Codec::new(from), Codec::new(to));
        let keeps = match is_same || to.stage().settings().flag("spelling") {
            true if is_same && to.prepared().writer.tells_own_form() => RecordedDetail::OwnForm,
            true => RecordedDetail::Form,
            false => RecordedDetail::Nothing,
        };
        Converter { from, to, tape: Tape::new(), memory: Memory::default(), keeps, slack: ALWAYS_OUTPUT }
    }

    /// Bounds on work and memory for a document.
    #[must_use]
    pub fn limited(mut self, limits: &Limits) -> Converter {
        self.from.limits = limits.clone();
        self.to.limits = limits.clone();
        self
    }

    /// Returns the source stage.
    pub fn source(&self) -> &Stage {
        self.from.stage()
    }

    /// Converts the document at the start of the input. Bytes after it are not read, except by wrappers, which consume
    /// the whole input.
    pub fn convert(&mut self, input: &[u8], out: &mut dyn Output) -> Converted {
        let mut slack = self.slack;
        let conversion = self.convert_to(input, &mut RationedOutput { out, slack: &mut slack });
        self.slack = slack;
        conversion
    }

    fn convert_to(&mut self, input: &[u8], out: &mut RationedOutput<'_>) -> Converted {
        let states_form = || self.from.prepared().reader.states_form(input);
        if self.keeps == RecordedDetail::Form
            || self.has_frame_wrapper()
            || states_form()
            || self.from.stage().settings().choice("repair").is_some()
        {
            return self.convert_with_detail(input, out);
        }
        let filled = self.from.read(input, &mut self.tape);
        if let Some(error) = filled.error {
            let error = self.from.stage().format().explain(error);
            return Converted { consumed: filled.consumed, is_read: false, written: Err(error), repairs: Vec::new() };
        }
        if self.keeps == RecordedDetail::OwnForm
            && self.from.prepared().reader.has_own_form(input.get(..filled.consumed).unwrap_or(input), &self.tape)
        {
            return self.convert_with_detail(input, out);
        }
        let body = filled.body.as_deref().unwrap_or(input);
        if self.to.write_tape(body, &self.tape, &mut self.memory, out) {
            let written = out.allow_flush().map(|()| Losses::default());
            return Converted { consumed: filled.consumed, is_read: true, written, repairs: Vec::new() };
        }
        let bytes = filled.body.map_or(Cow::Borrowed(input), Cow::Owned);
        let document = Document::from_tape(bytes, std::mem::take(&mut self.tape));
        let written = self.to.write_next(&document, &mut self.memory, out);
        self.tape = document.into_tape();
        Converted { consumed: filled.consumed, is_read: true, written, repairs: Vec::new() }
    }

    /// Returns `true` if a wrapper stores properties of the documents.
    fn has_frame_wrapper(&self) -> bool {
        self.from.stage().wrappers().iter().any(|wrap| wrap.wrapper().is_envelope())
    }

    /// Converts one document with its byte form.
    fn convert_with_detail(&mut self, input: &[u8], out: &mut dyn Output) -> Converted {
        let stage = self.from.stage();
        let fail = |error: Error| Converted {
            consumed: 0,
            is_read: false,
            written: Err(stage.format().explain(error)),
            repairs: Vec::new(),
        };
        let (content, metadata) = match stage.unwrap(input, &self.from.limits) {
            Ok(content) => (content.bytes, content.metadata),
            Err(error) => return fail(error),
        };
        let request = Request { detail: self.keeps != RecordedDetail::Nothing, ..Request::new(&self.from.limits) };
        let mut outcome = self.from.prepared().reader.read(&content, request);
        outcome.document.set_metadata(metadata);
        let is_wrapped = !stage.wrappers().is_empty();
        let trailing = || {
            let is_more = is_wrapped && outcome.consumed < content.len();
            is_more.then(|| Error::trailing(&content, outcome.consumed))
        };
        if let Some(error) = outcome.error.clone().or_else(trailing) {
            return fail(stage.layer().map_or(error.clone(), |layer| error.in_layer(layer)));
        }
        let consumed = if is_wrapped { input.len() } else { outcome.consumed };
        let written = self.to.write(&outcome.document, out);
        Converted { consumed, is_read: true, written, repairs: outcome.document.repairs().to_vec() }
    }
}
