//! A prepared stage: its options are looked up once for many documents.

use crate::document::{Document, Tape, has_repeated, lose_metadata};
use crate::error::Error;
use crate::format::{DocumentPart, Filled, Memory, Prepared, Stencils, write_with};
use crate::limits::Limits;
use crate::output::{Output, Spare, Written};
use crate::stage::Stage;
use std::sync::Arc;

/// Maximum memory for wrapped content that is kept for the next document.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// A stage whose options are looked up once, for callers that read or write many
/// small documents with the same tape.
///
/// ```
/// use icecore::{Codec, Document, Stage, raw::Tape};
/// let codec = Codec::new(Stage::parse("json")?);
/// let mut tape = Tape::new();
/// for input in [&b"[1]"[..], b"[1,2]"] {
///     let read = codec.read(input, &mut tape);
///     assert_eq!((read.consumed, read.error), (input.len(), None));
/// }
/// assert_eq!(tape.nodes().len(), 3);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Codec {
    stage: Stage,
    /// Bounds on work and memory for a document.
    pub limits: Limits,
    prepared: Arc<Prepared>,
}

impl Codec {
    /// Prepares a stage; the limits are the default ones.
    pub fn new(stage: Stage) -> Codec {
        let prepared = Arc::new(stage.format().prepare(stage.settings()));
        Codec { stage, limits: Limits::default(), prepared }
    }

    /// Returns the stage.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Returns the format with its options.
    pub(crate) fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    fn is_wrapped(&self) -> bool {
        !self.stage.wrappers().is_empty()
    }

    /// Clears a tape and reads one document from the start of the input into it. After an error, the tape
    /// contains what was read before it.
    pub fn read(&self, input: &[u8], tape: &mut Tape) -> Filled {
        match self.is_wrapped() {
            true => self.read_wrapped(input, tape, None),
            false => self.prepared.reader.fill_tape(input, &self.limits, tape),
        }
    }

    /// Like [`Codec::read`], but much faster for a document that differs from a recent one only in its scalars, like
    /// the rows of a table. The stencils remember recent documents; they belong to one codec.
    ///
    /// ```
    /// use icecore::{Codec, Stage, raw::{Stencils, Tape}};
    /// let codec = Codec::new(Stage::parse("php")?);
    /// let (mut tape, mut stencils) = (Tape::new(), Stencils::default());
    /// for id in 0..10 {
    ///     let input = format!("a:1:{{s:2:\"id\";i:{id};}}");
    ///     let read = codec.read_alike(input.as_bytes(), &mut tape, &mut stencils);
    ///     assert_eq!((read.consumed, read.error), (input.len(), None));
    ///     assert_eq!(tape.nodes()[1].payload, id);
    /// }
    /// # Ok::<(), icecore::Error>(())
    /// ```
    #[inline]
    pub fn read_alike(&self, input: &[u8], tape: &mut Tape, stencils: &mut Stencils) -> Filled {
        match self.is_wrapped() {
            true => self.read_wrapped(input, tape, Some(stencils)),
            false => self.fill_alike(input, &self.limits, tape, stencils),
        }
    }

    #[inline]
    fn fill_alike(&self, input: &[u8], limits: &Limits, tape: &mut Tape, stencils: &mut Stencils) -> Filled {
        if let Some(filled) = stencils.fill_tape(&self.prepared, input, limits, tape) {
            return filled;
        }
        let filled = self.prepared.reader.fill_tape(input, limits, tape);
        stencils.learn(input, limits, &filled, tape);
        filled
    }

    fn read_wrapped(&self, input: &[u8], tape: &mut Tape, stencils: Option<&mut Stencils>) -> Filled {
        let mut limits = self.limits.clone();
        match self.stage.unwrap_bytes(input, &mut limits) {
            Ok(content) => {
                let mut filled = match stencils {
                    Some(stencils) => self.fill_alike(&content, &limits, tape, stencils),
                    None => self.prepared.reader.fill_tape(&content, &limits, tape),
                };
                if filled.error.is_none() && filled.consumed < content.len() {
                    filled.error = Some(Error::trailing(&content, filled.consumed));
                }
                filled.error = filled.error.map(|error| match self.stage.layer() {
                    Some(layer) => error.in_layer(layer),
                    None => error,
                });
                let body = filled.body.take().unwrap_or_else(|| content.into_owned());
                Filled { consumed: input.len(), body: Some(body), ..filled }
            }
            Err(error) => {
                tape.clear();
                Filled { consumed: 0, error: Some(error), body: None, is_simple: false }
            }
        }
    }

    /// Writes a document. Returns its losses.
    ///
    /// # Errors
    /// Those of [`crate::write_to`].
    pub fn write(&self, document: &Document<'_>, out: &mut dyn Output) -> Written {
        let mut bytes = Vec::new();
        let writer = &self.prepared.writer;
        let written = match self.is_wrapped() {
            false => write_with(&**writer, document, &self.limits, out),
            true => write_with(&**writer, document, &self.limits, &mut bytes),
        };
        let mut losses = written.map_err(|error| self.stage.format().explain(error))?;
        if !self.is_wrapped() {
            lose_metadata(document.metadata(), &mut losses);
            return Ok(losses);
        }
        let (bytes, lost) = self.stage.wrap_with(bytes, document.metadata())?;
        lose_metadata(&lost, &mut losses);
        out.buffer().extend_from_slice(&bytes);
        out.allow_flush()?;
        Ok(losses)
    }

    /// Appends a document that a program filled, if there is a fast path and nothing is lost; otherwise returns `false`
    /// and appends nothing.
    ///
    /// ```
    /// use icecore::{Codec, Document, Stage, raw::{Node, Spare, Tape}};
    /// let codec = Codec::new(Stage::parse("php")?);
    /// let mut tape = Tape::new();
    /// tape.fill(vec![Node::int(7)], Vec::new(), 0, None);
    /// codec.stage().format().named(&mut tape);
    /// let (mut spare, mut out) = (Spare::default(), Vec::new());
    /// assert!(codec.write_filled(&Document::from_tape(Vec::new(), tape), &mut spare, &mut out));
    /// assert_eq!(out, b"i:7;");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn write_filled(&self, document: &Document<'_>, spare: &mut Spare, buf: &mut Vec<u8>) -> bool {
        // Two keys of another language may be one here. That is a loss, which only the other writers report.
        if document.tape().has_foreign_values() && has_repeated(document, self.stage.format().can.naming) {
            return false;
        }
        if !self.is_wrapped() {
            return self.prepared.writer.write_filled(document, &self.limits, spare, buf);
        }
        if !document.metadata().is_empty() {
            return false;
        }
        let start = buf.len();
        let mut content = std::mem::take(&mut spare.content);
        content.clear();
        let is_written = self.prepared.writer.write_filled(document, &self.limits, spare, &mut content)
            && self.stage.wrap_onto(&mut content, buf).is_ok();
        if !is_written {
            buf.truncate(start);
        }
        if content.capacity() <= MAX_KEPT_BYTES {
            spare.content = content;
        }
        is_written
    }

    /// Like [`Codec::write`], for documents that were read onto the same tape: data in `memory` is reused.
    pub(crate) fn write_next(&self, document: &Document<'_>, memory: &mut Memory, out: &mut dyn Output) -> Written {
        if self.is_wrapped() {
            return self.write(document, out);
        }
        let writer = &self.prepared.writer;
        let written = match writer.keeps_hook_values() {
            true => writer.write_next(document, &self.limits, memory, out),
            false => writer.write_next(&document.with_hook_values_in_payload(), &self.limits, memory, out),
        };
        written.map_err(|error| self.stage.format().explain(error))
    }

    /// Writes the document that was read onto this tape, if there is a fast path.
    pub(crate) fn write_tape(&self, input: &[u8], tape: &Tape, memory: &mut Memory, out: &mut dyn Output) -> bool {
        !self.is_wrapped() && self.prepared.writer.write_tape(input, tape, memory, out)
    }

    /// Writes the next part of a document that is too large for one tape, or not yet complete. Returns `None` and
    /// writes nothing if the format, its options or the content of the part do not allow it.
    ///
    /// ```
    /// use icecore::{Codec, Document, Kind, Stage, raw::{DocumentPart, Node, PartProgress, Tape}};
    /// let codec = Codec::new(Stage::parse("sereal:protocol=5")?);
    /// let (mut parts, mut out) = (PartProgress::default(), Vec::new());
    /// let mut array = Node::int(0);
    /// (array.kind, array.aux) = (Kind::Array, 2);
    /// for nodes in [vec![array, Node::int(1)], vec![Node::int(2)]] {
    ///     let mut tape = Tape::new();
    ///     tape.fill(nodes, Vec::new(), 0, None);
    ///     let document = Document::from_tape(Vec::new(), tape);
    ///     assert!(codec.write_part(&document, DocumentPart::Nodes(&mut parts), &mut out).is_some());
    /// }
    /// assert_eq!(out, b"=\xF3rl\x05\0\x42\x01\x02");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Codec::write`].
    pub fn write_part(&self, document: &Document<'_>, part: DocumentPart<'_>, out: &mut dyn Output) -> Option<Written> {
        if self.is_wrapped() {
            return None;
        }
        let writer = &self.prepared.writer;
        match &part {
            DocumentPart::Items { .. } if !writer.keeps_hook_values() => {
                writer.write_part(&document.with_hook_values_in_payload(), part, &self.limits, out)
            }
            _ => writer.write_part(document, part, &self.limits, out),
        }
    }
}
