//! The Rust engine as a participant: bytes to a Document and back, without values of any language.

use super::{Answer, Checked, Load, Seat, Trouble};
use crate::model::{MemoryStep, Operation};
use icecore::{Codec, Document, Stage, raw::Tape};
use std::path::Path;
use std::time::Instant;

pub(super) struct Engine {
    codec: Codec,
    /// Stage in which the data arrives.
    reference: Stage,
    document: Document<'static>,
    bytes: Vec<u8>,
    /// Reused for every read.
    tape: Tape,
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

    fn write(&mut self) -> Result<(), Trouble> {
        self.written.clear();
        self.codec.write(&self.document, &mut self.written).map(drop).map_err(failed)
    }

    fn read(&mut self) -> Result<(), Trouble> {
        match self.codec.read(&self.bytes, &mut self.tape).error {
            None => Ok(()),
            Some(error) => Err(failed(error)),
        }
    }
}

fn failed(error: icecore::Error) -> Trouble {
    Trouble::Failed(error.to_string())
}

impl Seat for Engine {
    fn load(&mut self, load: &Load<'_>) -> Result<(), Trouble> {
        let bytes = std::fs::read(load.file).map_err(|error| Trouble::Failed(error.to_string()))?;
        let document = icecore::read_as(&bytes, &self.reference, &self.codec.limits).map_err(failed)?;
        self.document = document.into_owned();
        let losses =
            self.codec.write(&self.document, &mut self.bytes).map_err(|error| Trouble::Cannot(error.to_string()))?;
        match losses.iter().next() {
            None => Ok(()),
            Some(loss) => Err(Trouble::Cannot(format!("{} {}", loss.count, loss.kind.describe(loss.count)))),
        }
    }

    fn check(&mut self, _: &Path) -> Result<Checked, Trouble> {
        self.write()?;
        let document = icecore::read_as(&self.written, self.codec.stage(), &self.codec.limits).map_err(failed)?;
        let answer = Answer::Document(Box::new(document.into_owned()));
        Ok(Checked { size: Some(self.written.len() as u64), answer })
    }

    fn time(&mut self, operation: Operation, times: u64) -> Result<f64, Trouble> {
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

    fn memory(&mut self) -> Result<Vec<MemoryStep>, Trouble> {
        // The engine runs in the lab's own process, whose memory is not meaningful.
        Ok(Vec::new())
    }
}
