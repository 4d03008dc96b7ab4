//! Many documents from one stage to another.

use crate::codec::Codec;
use crate::document::{Document, Repair, Tape};
use crate::error::Error;
use crate::format::{Request, json};
use crate::limits::Limits;
use crate::output::{Losses, Output};
use crate::stage::Stage;
use std::borrow::Cow;

/// Converts documents one by one, with the memory and the knowledge of keys of
/// those before.
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
    memory: json::Memory,
    keeps_form: bool,
}

/// What came of a document.
#[derive(Debug)]
pub struct Converted {
    /// How many bytes of the input it took.
    pub consumed: usize,
    /// Whether it could be read.
    pub is_read: bool,
    /// What the target could not say; or what is wrong. Of a document that could be
    /// read, but not written, a part may be in the output.
    pub written: Result<Losses, Error>,
    /// What was changed in the document to read it.
    pub repairs: Vec<Repair>,
}

impl std::fmt::Debug for Converter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Converter").field("from", &self.from).field("to", &self.to).finish_non_exhaustive()
    }
}

impl Converter {
    /// Makes two stages ready; the limits are the default ones. Where both are the
    /// same format, the byte form is kept.
    pub fn new(from: Stage, to: Stage) -> Converter {
        let keeps_form = std::ptr::eq(from.format(), to.format()) || to.settings().flag("spelling");
        Converter {
            from: Codec::new(from),
            to: Codec::new(to),
            tape: Tape::new(),
            memory: json::Memory::default(),
            keeps_form,
        }
    }

    /// What a document may cost.
    #[must_use]
    pub fn limited(mut self, limits: &Limits) -> Converter {
        self.from.limits = limits.clone();
        self.to.limits = limits.clone();
        self
    }

    /// The stage that is read.
    pub fn from(&self) -> &Stage {
        self.from.stage()
    }

    /// Converts the document at the start of the input. What stands behind it is not
    /// looked at, unless there are wrappers, which take all of the input.
    pub fn convert(&mut self, input: &[u8], out: &mut dyn Output) -> Converted {
        if self.keeps_form || self.from.stage().settings().choice("repair").is_some() {
            return self.with_form(input, out);
        }
        let filled = self.from.read(input, &mut self.tape);
        if let Some(error) = filled.error {
            let error = error.in_format(self.from.stage().format().name);
            return Converted { consumed: filled.consumed, is_read: false, written: Err(error), repairs: Vec::new() };
        }
        let bytes = filled.body.map_or(Cow::Borrowed(input), Cow::Owned);
        let document = Document::from_tape(bytes, std::mem::take(&mut self.tape));
        let written = self.to.write_next(&document, &mut self.memory, out);
        self.tape = document.into_tape();
        Converted { consumed: filled.consumed, is_read: true, written, repairs: Vec::new() }
    }

    /// Converts one with its byte form.
    fn with_form(&mut self, input: &[u8], out: &mut dyn Output) -> Converted {
        let stage = self.from.stage();
        let fail = |error: Error| Converted {
            consumed: 0,
            is_read: false,
            written: Err(error.in_format(stage.format().name)),
            repairs: Vec::new(),
        };
        let inside = match stage.unwrap(input, &self.from.limits) {
            Ok(inside) => inside.bytes,
            Err(error) => return fail(error),
        };
        let request = Request { detail: self.keeps_form, ..Request::new(&self.from.limits) };
        let outcome = (stage.format().read)(&inside, stage.settings(), request);
        let is_wrapped = !stage.wrappers().is_empty();
        let trailing = || {
            let is_more = is_wrapped && outcome.consumed < inside.len();
            is_more.then(|| crate::api::trailing(&inside, outcome.consumed))
        };
        if let Some(error) = outcome.error.clone().or_else(trailing) {
            return fail(stage.layer().map_or(error.clone(), |layer| error.in_layer(layer)));
        }
        let consumed = if is_wrapped { input.len() } else { outcome.consumed };
        let written = self.to.write(&outcome.document, out);
        Converted { consumed, is_read: true, written, repairs: outcome.document.repairs().to_vec() }
    }
}
