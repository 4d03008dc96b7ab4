//! The Rust engine as a participant. It reads bytes to a Document and writes them back, without values of any
//! language.

use super::{Answer, Load, ParticipantError, RoundTrip, RunningParticipant};
use crate::model::{MemoryStep, Operation};
use icecore::{Codec, Document, Stage, raw::Tape};
use std::path::Path;
use std::time::Instant;

/// The engine, with its data.
pub(super) struct Engine {
    codec: Codec,
    /// Stage in which the data arrives.
    reference: Stage,
    document: Document<'static>,
    bytes: Vec<u8>,
    /// The result of reading, whose memory is reused.
    tape: Tape,
    /// The result of writing, whose memory is reused.
    written: Vec<u8>,
}

impl Engine {
    pub(super) fn new(stage: &Stage, reference: &Stage) -> Engine {
        Engine {
            codec: Codec::new(stage.clone()),
            reference: reference.clone(),
            document: Document::default(),
            bytes: Vec::new(),
            tape: Tape::new(),
            written: Vec::new(),
        }
    }

    fn write(&mut self) -> Result<(), ParticipantError> {
        self.written.clear();
        self.codec.write(&self.document, &mut self.written).map(drop).map_err(to_failure)
    }

    fn read(&mut self) -> Result<(), ParticipantError> {
        match self.codec.read(&self.bytes, &mut self.tape).error {
            None => Ok(()),
            Some(error) => Err(to_failure(error)),
        }
    }
}

fn to_failure(error: icecore::Error) -> ParticipantError {
    ParticipantError::Failed(error.to_string())
}

impl RunningParticipant for Engine {
    fn load(&mut self, load: &Load<'_>) -> Result<(), ParticipantError> {
        let bytes = std::fs::read(load.file).map_err(|error| ParticipantError::Failed(error.to_string()))?;
        let document = icecore::read_as(&bytes, &self.reference, &self.codec.limits).map_err(to_failure)?;
        self.document = document.into_owned();
        let losses = self
            .codec
            .write(&self.document, &mut self.bytes)
            .map_err(|error| ParticipantError::Cannot(error.to_string()))?;
        match losses.iter().next() {
            None => Ok(()),
            Some(loss) => Err(ParticipantError::Cannot(format!("{} {}", loss.count, loss.kind.describe(loss.count)))),
        }
    }

    fn check_round_trip(&mut self, _: &Path) -> Result<RoundTrip, ParticipantError> {
        self.write()?;
        let document = icecore::read_as(&self.written, self.codec.stage(), &self.codec.limits).map_err(to_failure)?;
        let answer = Answer::Document(Box::new(document.into_owned()));
        Ok(RoundTrip { size: Some(self.written.len() as u64), answer })
    }

    fn time_operation(&mut self, operation: Operation, times: u64) -> Result<f64, ParticipantError> {
        let before = Instant::now();
        for _ in 0..times {
            if operation != Operation::Read {
                self.write()?;
            }
            if operation != Operation::Write {
                self.read()?;
            }
        }
        Ok(before.elapsed().as_nanos() as f64)
    }

    fn measure_memory(&mut self) -> Result<Vec<MemoryStep>, ParticipantError> {
        // The engine runs in the lab's own process. Most memory of that process belongs to the lab, so it is not
        // measured.
        Ok(Vec::new())
    }
}
