//! The command as a participant: converts a file to JSON, in a process from start to end.

use super::{Answer, Checked, Load, Seat, Trouble};
use crate::model::{MemoryStep, Operation};
use icecore::{Limits, Stage};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) struct Converting {
    program: PathBuf,
    /// Format of the file that is converted to JSON.
    format: String,
    reference: Stage,
    file: PathBuf,
    json: PathBuf,
}

impl Converting {
    pub(super) fn new(program: &Path, format: &str, reference: &Stage) -> Converting {
        Converting {
            program: program.to_owned(),
            format: format.to_owned(),
            reference: reference.clone(),
            file: PathBuf::new(),
            json: PathBuf::new(),
        }
    }

    fn convert(&self) -> Result<(), Trouble> {
        let mut command = Command::new(&self.program);
        command.args(["--quiet", "convert", "-f", &self.format, "-t", "json", "-o"]).args([&self.json, &self.file]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        crate::secrets::hide_from(&mut command);
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Trouble::Failed(status.to_string())),
            Err(error) => Err(failed(&error)),
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> Trouble {
    Trouble::Failed(error.to_string())
}

impl Seat for Converting {
    fn load(&mut self, load: &Load<'_>) -> Result<(), Trouble> {
        let limits = Limits::new();
        let bytes = std::fs::read(load.file).map_err(|error| failed(&error))?;
        let document = icecore::read_as(&bytes, &self.reference, &limits).map_err(|error| failed(&error))?;
        let bytes = icecore::write(&document, &self.format).map_err(|error| Trouble::Cannot(error.to_string()))?;
        self.file = load.folder.join("data");
        self.json = load.folder.join("json");
        std::fs::write(&self.file, bytes).map_err(|error| failed(&error))
    }

    fn check(&mut self, _: &Path) -> Result<Checked, Trouble> {
        self.convert()?;
        Ok(Checked { size: None, answer: Answer::File(self.json.clone(), "json".to_owned()) })
    }

    fn time(&mut self, operation: Operation, times: u64) -> Result<f64, Trouble> {
        if operation != Operation::ToJson {
            return Err(Trouble::Failed(format!("the command has no operation {operation}")));
        }
        let before = Instant::now();
        for _ in 0..times {
            self.convert()?;
        }
        Ok(before.elapsed().as_nanos() as f64)
    }

    fn memory(&mut self) -> Result<Vec<MemoryStep>, Trouble> {
        Ok(Vec::new())
    }
}
