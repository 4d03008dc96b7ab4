//! A stage made ready for many documents.

use crate::document::{Document, Tape};
use crate::error::Error;
use crate::format::{Outcome, Request, dumper, json, pack, php, sereal, storable};
use crate::limits::Limits;
use crate::output::{Losses, Output, Spare};
use crate::stage::Stage;
use std::borrow::Cow;

/// A stage whose options are looked up once, for who reads or writes many small
/// documents with the same tape.
///
/// ```
/// use icecore::{Codec, Document, Stage, Tape};
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
    /// What a document may cost.
    pub limits: Limits,
    ready: Ready,
}

#[derive(Clone, Debug)]
enum Ready {
    Storable(storable::ReadOptions, storable::WriteOptions),
    Sereal(sereal::ReadOptions, Box<sereal::WriteOptions>),
    Php(php::ReadOptions),
    Json(json::ReadOptions, Box<json::WriteOptions>),
    Pack(Box<pack::Options>),
    Dumper(Box<(dumper::ReadOptions, dumper::WriteOptions)>),
    Other,
    Wrapped,
}

/// What a reading into a tape gave.
#[derive(Debug)]
pub struct Filled {
    /// How many bytes of the input the document took.
    pub consumed: usize,
    /// What stopped the reading.
    pub error: Option<Error>,
    /// What the strings of the tape are borrowed from, if that is not the input.
    pub body: Option<Vec<u8>>,
    /// It is known that there is nothing in it but arrays, maps, strings and
    /// numbers, which nothing refers to, and whose keys have ids without flags.
    pub is_simple: bool,
}

/// How far a document is that is written in parts.
#[derive(Debug, Default)]
pub struct Parts {
    pub(crate) begun: bool,
    /// Sereal: the offset behind what was written.
    pub(crate) written: u64,
    /// Storable: how many containers are open.
    pub(crate) depth: usize,
    pub(crate) spare: Spare,
}

impl Parts {
    /// Whether a part was written.
    pub fn are_begun(&self) -> bool {
        self.begun
    }

    /// Whether every container has all its children (Storable).
    pub(crate) fn is_complete(&self) -> bool {
        self.depth == 0 && self.spare.open.first().is_some_and(|root| root.left == 0)
    }

    /// Forgets what was written, but keeps its memory for the next document.
    pub fn clear(&mut self) {
        *self = Parts { spare: std::mem::take(&mut self.spare), ..Parts::default() };
    }
}

impl Codec {
    /// Makes a stage ready; the limits are the default ones.
    pub fn new(stage: Stage) -> Codec {
        let settings = stage.settings();
        let ready = match stage.format().name {
            _ if !stage.wrappers().is_empty() => Ready::Wrapped,
            "storable" => Ready::Storable(
                storable::ReadOptions::from_settings(settings),
                storable::WriteOptions::from_settings(settings),
            ),
            "sereal" => Ready::Sereal(sereal::ReadOptions::of(settings), Box::new(sereal::WriteOptions::of(settings))),
            "json" => Ready::Json(
                json::ReadOptions::from_settings(settings),
                Box::new(json::WriteOptions::from_settings(settings)),
            ),
            "php" => Ready::Php(php::ReadOptions::from_settings(settings)),
            // A bad template is refused where it is used.
            "pack" => {
                pack::Options::from_settings(settings).map_or(Ready::Other, |options| Ready::Pack(Box::new(options)))
            }
            "dumper" => Ready::Dumper(Box::new((
                dumper::ReadOptions::from_settings(settings),
                dumper::WriteOptions::from_settings(settings, dumper::WriteOptions::default()),
            ))),
            _ => Ready::Other,
        };
        Codec { stage, limits: Limits::default(), ready }
    }

    /// The stage.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Reads one document from the start of the input into a tape, which is
    /// cleared first. Of one with an error the tape has what was read before it.
    pub fn read(&self, input: &[u8], tape: &mut Tape) -> Filled {
        match &self.ready {
            Ready::Storable(options, _) => {
                let (consumed, error) = storable::read_tape(input, options, &self.limits, tape);
                Filled { consumed, error, body: None, is_simple: false }
            }
            Ready::Sereal(options, _) => sereal::read_tape(input, options, &self.limits, tape),
            Ready::Json(options, _) => match json::read_tape(input, options, &self.limits, tape) {
                Some((consumed, error)) => Filled { consumed, error, body: None, is_simple: false },
                None => self.fill(input, &self.limits, tape),
            },
            Ready::Php(options) => match php::read_tape(input, options, &self.limits, tape) {
                Some((consumed, error)) => Filled { consumed, error, body: None, is_simple: false },
                None => self.fill(input, &self.limits, tape),
            },
            Ready::Pack(options) => filled(pack::read_outcome(input, options, request(&self.limits, tape)), tape),
            Ready::Dumper(options) => {
                filled(dumper::read_outcome(input, &options.0, request(&self.limits, tape)), tape)
            }
            Ready::Other => self.fill(input, &self.limits, tape),
            Ready::Wrapped => self.read_wrapped(input, tape),
        }
    }

    fn read_wrapped(&self, input: &[u8], tape: &mut Tape) -> Filled {
        let mut limits = self.limits.clone();
        match self.stage.inside(input, &mut limits) {
            Ok(inside) => {
                let mut filled = self.fill(&inside, &limits, tape);
                if filled.error.is_none() && filled.consumed < inside.len() {
                    filled.error = Some(crate::api::trailing(&inside, filled.consumed));
                }
                filled.error = filled.error.map(|error| match self.stage.layer() {
                    Some(layer) => error.in_layer(layer),
                    None => error,
                });
                let body = filled.body.take().unwrap_or_else(|| inside.into_owned());
                Filled { consumed: input.len(), body: Some(body), ..filled }
            }
            Err(error) => {
                tape.clear();
                Filled { consumed: 0, error: Some(error), body: None, is_simple: false }
            }
        }
    }

    /// Reads with the format's own function.
    fn fill(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        let request = request(limits, tape);
        filled((self.stage.format().read)(input, self.stage.settings(), request), tape)
    }

    /// Writes a document, and says what the format could not say.
    ///
    /// # Errors
    /// As for [`crate::write_to`].
    pub fn write(&self, document: &Document<'_>, out: &mut dyn Output) -> Result<Losses, Error> {
        let written = match &self.ready {
            Ready::Storable(_, options) => storable::write(document, options, &self.limits, out),
            Ready::Sereal(_, options) => sereal::write(document, options, &self.limits, out),
            Ready::Json(_, options) => json::write(document, options, &self.limits, out),
            Ready::Pack(options) => pack::write(document, options, &self.limits, out),
            // The settings of a text that was read come before the usual ones.
            Ready::Dumper(options) if document.spelling().is_none() => {
                dumper::write(document, &options.1, &self.limits, out)
            }
            Ready::Dumper(_) | Ready::Php(_) | Ready::Other => {
                (self.stage.format().write)(document, self.stage.settings(), &self.limits, out)
            }
            Ready::Wrapped => return crate::api::write_to(document, &self.stage, &self.limits, out),
        };
        written.map_err(|error| error.in_format(self.stage.format().name))
    }

    /// Writes the document that was read onto this tape, if that is quickly done.
    pub(crate) fn write_tape(
        &self,
        input: &[u8],
        tape: &Tape,
        memory: &mut json::Memory,
        out: &mut dyn Output,
    ) -> bool {
        match &self.ready {
            Ready::Json(_, options) => json::write_tape(input, tape, options, memory, out),
            _ => false,
        }
    }

    /// As [`Codec::write`], for documents that were read onto one and the same tape:
    /// what is in the memory is used again.
    pub(crate) fn write_next(
        &self,
        document: &Document<'_>,
        memory: &mut json::Memory,
        out: &mut dyn Output,
    ) -> Result<Losses, Error> {
        match &self.ready {
            Ready::Json(_, options) => json::write_next(document, options, &self.limits, memory, out)
                .map_err(|error| error.in_format(self.stage.format().name)),
            _ => self.write(document, out),
        }
    }

    /// Writes the next nodes of a document that is too large to be filled as a
    /// whole: its tape has the nodes that come next, and only them. Containers
    /// must have their count; where they end is not looked at.
    ///
    /// Says no, and writes nothing, if the format or its options do not allow it or
    /// if there is anything else in them than arrays, maps with plain keys,
    /// strings and numbers. Then the whole has to be written with [`Codec::write`],
    /// and what was written before thrown away.
    ///
    /// ```
    /// use icecore::{Codec, Document, Kind, Node, Parts, Stage, Tape};
    /// let codec = Codec::new(Stage::parse("sereal:protocol=5")?);
    /// let (mut parts, mut out) = (Parts::default(), Vec::new());
    /// let mut array = Node::int(0);
    /// (array.kind, array.aux) = (Kind::Array, 2);
    /// for nodes in [vec![array, Node::int(1)], vec![Node::int(2)]] {
    ///     let mut tape = Tape::new();
    ///     tape.fill(nodes, Vec::new(), 0, None);
    ///     assert!(codec.write_part(&Document::from_tape(Vec::new(), tape), &mut parts, &mut out));
    /// }
    /// assert_eq!(out, b"=\xF3rl\x05\0\x42\x01\x02");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn write_part(&self, document: &Document<'_>, parts: &mut Parts, out: &mut dyn Output) -> bool {
        match &self.ready {
            Ready::Storable(_, options) => {
                self.limits.depth >= storable::SIMPLE_DEPTH && storable::write_part(document, options, parts, out)
            }
            Ready::Sereal(_, options) => sereal::write_part(document, options, parts, out),
            Ready::Json(..) | Ready::Pack(_) | Ready::Dumper(_) | Ready::Php(_) | Ready::Other | Ready::Wrapped => {
                false
            }
        }
    }
}

fn request<'l>(limits: &'l Limits, tape: &mut Tape) -> Request<'l> {
    Request { tape: std::mem::take(tape), ..Request::new(limits) }
}

/// Puts what was read into the tape.
fn filled(outcome: Outcome<'_>, tape: &mut Tape) -> Filled {
    let (buffer, read) = outcome.document.into_parts();
    *tape = read;
    let body = match buffer {
        Cow::Owned(body) => Some(body),
        Cow::Borrowed(_) => None,
    };
    Filled { consumed: outcome.consumed, error: outcome.error, body, is_simple: false }
}
