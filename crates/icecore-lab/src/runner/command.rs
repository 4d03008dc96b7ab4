//! The command as a participant. It converts a file to JSON, and the time of its process is measured from start to
//! end.

use super::{Answer, Load, ParticipantError, RoundTrip, RunningParticipant};
use crate::model::{MemoryStep, Operation};
use icecore::{Limits, Stage};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The command, with its files.
pub(super) struct CommandConversion {
    program: PathBuf,
    /// Format of the file that is converted to JSON.
    format: String,
    reference: Stage,
    file: PathBuf,
    json: PathBuf,
}

impl CommandConversion {
    pub(super) fn new(program: &Path, format: &str, reference: &Stage) -> CommandConversion {
        CommandConversion {
            program: program.to_owned(),
            format: format.to_owned(),
            reference: reference.clone(),
            file: PathBuf::new(),
            json: PathBuf::new(),
        }
    }

    fn convert(&self) -> Result<(), ParticipantError> {
        let mut command = Command::new(&self.program);
        command.args(["--quiet", "convert", "-f", &self.format, "-t", "json", "-o"]).args([&self.json, &self.file]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        crate::secrets::hide_secrets_from(&mut command);
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(ParticipantError::Failed(status.to_string())),
            Err(error) => Err(to_failure(&error)),
        }
    }
}

fn to_failure(error: &dyn std::fmt::Display) -> ParticipantError {
    ParticipantError::Failed(error.to_string())
}

impl RunningParticipant for CommandConversion {
    fn load(&mut self, load: &Load<'_>) -> Result<(), ParticipantError> {
        let limits = Limits::new();
        let bytes = std::fs::read(load.file).map_err(|error| to_failure(&error))?;
        let document = icecore::read_as(&bytes, &self.reference, &limits).map_err(|error| to_failure(&error))?;
        let bytes =
            icecore::write(&document, &self.format).map_err(|error| ParticipantError::Cannot(error.to_string()))?;
        self.file = load.folder.join("data");
        self.json = load.folder.join("json");
        std::fs::write(&self.file, bytes).map_err(|error| to_failure(&error))
    }

    fn check_round_trip(&mut self, _: &Path) -> Result<RoundTrip, ParticipantError> {
        self.convert()?;
        Ok(RoundTrip { size: None, answer: Answer::File(self.json.clone(), "json".to_owned()) })
    }

    fn time_operation(&mut self, operation: Operation, times: u64) -> Result<f64, ParticipantError> {
        if operation != Operation::ToJson {
            return Err(ParticipantError::Failed(format!("the command has no operation {operation}")));
        }
        let before = Instant::now();
        for _ in 0..times {
            self.convert()?;
        }
        Ok(before.elapsed().as_nanos() as f64)
    }

    fn measure_memory(&mut self) -> Result<Vec<MemoryStep>, ParticipantError> {
        Ok(Vec::new())
    }
}
