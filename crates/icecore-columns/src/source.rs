//! Formats of blobs.

use icecore::raw::{Stencils, Tape};
use icecore::{Codec, Converter, Error, Limits, Stage, detect};

/// The format of the blobs of a column.
///
/// ```
/// use icecore::Stage;
/// use icecore_columns::Source;
/// let known = Source::from(Stage::parse("php")?);
/// assert!(matches!(known, Source::Stage(_)));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Source {
    /// All blobs are of this stage.
    Stage(Stage),
    /// The stage of each blob is detected, like in [`detect::stage_of`].
    Detect,
}

impl From<Stage> for Source {
    fn from(stage: Stage) -> Source {
        Source::Stage(stage)
    }
}

/// Reads blobs of a source, with stages that are prepared once.
#[derive(Debug)]
pub(crate) struct Codecs {
    limits: Limits,
    is_detected: bool,
    /// Whether the stage of the last blob is assumed for the current one, because it begins like that format.
    is_guessed: bool,
    /// Stages of the blobs so far. The stage of the last blob comes first.
    stages: Vec<PreparedStage>,
}

/// A stage with what is needed to read its blobs.
#[derive(Debug)]
struct PreparedStage {
    codec: Codec,
    stencils: Stencils,
    /// Converts blobs to JSON. It is created when it is first used.
    converter: Option<Converter>,
}

impl Codecs {
    /// Maximum number of stages that are kept. With their options, there are many different ones.
    const MAX_STAGES: usize = 16;

    pub(crate) fn new(source: Source, limits: &Limits) -> Codecs {
        let mut codecs = Codecs { limits: limits.clone(), is_detected: true, is_guessed: false, stages: Vec::new() };
        if let Source::Stage(stage) = source {
            codecs.is_detected = false;
            codecs.remember_stage(stage);
        }
        codecs
    }

    fn remember_stage(&mut self, stage: Stage) {
        self.stages.truncate(Codecs::MAX_STAGES - 1);
        let mut codec = Codec::new(stage);
        codec.limits = self.limits.clone();
        self.stages.insert(0, PreparedStage { codec, stencils: Stencils::default(), converter: None });
    }

    /// Determines the stage of this blob, by its beginning and the previous blob. If that guess is wrong,
    /// [`Codecs::read_blob`] and [`Codecs::write_json`] detect the stage.
    pub(crate) fn guess_stage(&mut self, blob: &[u8]) -> Result<(), Error> {
        if !self.is_detected {
            return Ok(());
        }
        self.is_guessed = self.stages.first().is_some_and(|prepared| {
            let stage = prepared.codec.stage();
            stage.wrappers().is_empty() && detect::settles(stage.format(), blob)
        });
        if self.is_guessed { Ok(()) } else { self.detect_stage(blob) }
    }

    /// Detects the stage of this blob, if it was only guessed.
    pub(crate) fn confirm_stage(&mut self, blob: &[u8]) -> Result<(), Error> {
        if std::mem::take(&mut self.is_guessed) { self.detect_stage(blob) } else { Ok(()) }
    }

    fn detect_stage(&mut self, blob: &[u8]) -> Result<(), Error> {
        // Damaged data has a more precise error than data of an unknown format.
        let stage = detect::stage_of(blob).or_else(|error| detect::begins_frozen(blob).ok_or(error))?;
        match self.stages.iter().position(|prepared| is_same_stage(prepared.codec.stage(), &stage)) {
            Some(0) => {}
            Some(index) => self.stages.swap(0, index),
            None => self.remember_stage(stage),
        }
        Ok(())
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the stage of the current blob.
    pub(crate) fn stage(&self) -> &Stage {
        self.stages[0].codec.stage()
    }

    /// Reads all of the current blob. Returns the bytes that contain the strings, if they are not the blob itself.
    #[inline]
    pub(crate) fn read_blob(&mut self, blob: &[u8], tape: &mut Tape) -> Result<Option<Vec<u8>>, Error> {
        let read = self.read_with_known_stage(blob, tape);
        // A scalar may be valid in several formats.
        let is_container =
            |tape: &Tape| tape.nodes().get(tape.root() as usize).is_some_and(|root| root.kind.is_container());
        if !self.is_guessed || read.is_ok() && is_container(tape) {
            return read;
        }
        self.confirm_stage(blob)?;
        self.read_with_known_stage(blob, tape)
    }

    #[inline]
    fn read_with_known_stage(&mut self, blob: &[u8], tape: &mut Tape) -> Result<Option<Vec<u8>>, Error> {
        let PreparedStage { codec, stencils, .. } = &mut self.stages[0];
        let filled = codec.read_alike(blob, tape, stencils);
        match filled.error {
            Some(error) => Err(error),
            None if filled.consumed < blob.len() => Err(Error::trailing(blob, filled.consumed)),
            None => Ok(filled.body),
        }
    }

    /// Writes the current blob as JSON.
    pub(crate) fn write_json(&mut self, blob: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let written = self.write_json_as_known(blob, out);
        if !self.is_guessed || written.is_ok() && matches!(out.first(), Some(b'[' | b'{')) {
            return written;
        }
        self.confirm_stage(blob)?;
        self.write_json_as_known(blob, out)
    }

    fn write_json_as_known(&mut self, blob: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        let PreparedStage { codec, converter, .. } = &mut self.stages[0];
        let converter = match converter {
            Some(converter) => converter,
            None => {
                let new_converter = Converter::new(codec.stage().clone(), Stage::parse("json")?).limited(&self.limits);
                converter.insert(new_converter)
            }
        };
        let result = converter.convert(blob, out);
        result.written?;
        if result.consumed < blob.len() { Err(Error::trailing(blob, result.consumed)) } else { Ok(()) }
    }
}

fn is_same_stage(stage: &Stage, other: &Stage) -> bool {
    std::ptr::eq(stage.format(), other.format()) && stage.to_string() == other.to_string()
}
