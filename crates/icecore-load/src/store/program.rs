//! Programs that receive commands for a queue as lines.

use super::database::{ADDRESS_VARIABLE, Database};
use icecore_lab::runner::{AnswerTimeout, ParticipantError, Process};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Timeout for one answer. It is longer than any work takes, because it only stops endless waits.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(900);

/// An answer of a program. Which fields are set depends on the command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    error: Option<String>,
    name: Option<String>,
    version: Option<String>,
    jobs: Option<u32>,
    ns: Option<f64>,
}

/// A program that works with a database.
pub(super) struct QueueProgram<'s> {
    process: Process<'s>,
    pub name: String,
    pub version: String,
}

impl<'s> QueueProgram<'s> {
    /// Starts a program, with the payload of all jobs in a file, and lets it create its tables.
    pub(super) fn start(
        program: &Path,
        folder: &Path,
        database: &Database,
        payload: &Path,
        stop: &'s AtomicBool,
    ) -> Result<QueueProgram<'s>, ParticipantError> {
        let to_failure = |error: std::io::Error| ParticipantError::Failed(format!("{}: {error}", program.display()));
        let program = std::path::absolute(program).map_err(to_failure)?;
        let to_failure = |error: std::io::Error| ParticipantError::Failed(format!("{}: {error}", program.display()));
        std::fs::create_dir_all(folder).map_err(to_failure)?;
        let mut command = Command::new(&program);
        command.env(ADDRESS_VARIABLE, &database.address).env("ICECORE_LOAD_PAYLOAD", payload);
        let process = Process::start(command, folder, "", AnswerTimeout(ANSWER_TIMEOUT), stop).map_err(to_failure)?;
        let mut program = QueueProgram { process, name: String::new(), version: String::new() };
        let hello = program.send_command("hello")?;
        (program.name, program.version) = (hello.name.unwrap_or_default(), hello.version.unwrap_or_default());
        program.send_command("setup")?;
        Ok(program)
    }

    /// Lets the program do something with this many jobs. Returns the nanoseconds that it took.
    pub(super) fn time_command(&mut self, command: &str, jobs: u32, arguments: &str) -> Result<f64, ParticipantError> {
        let began = Instant::now();
        let answer = self.send_command(&format!("{command} {jobs} {arguments}"))?;
        let elapsed_ns = began.elapsed().as_nanos() as f64;
        // The program measures while this function waits, so a longer time is wrong.
        match (answer.jobs, answer.ns) {
            (Some(done), Some(ns)) if done == jobs && ns > 0.0 && ns <= elapsed_ns => Ok(ns),
            _ => Err(ParticipantError::Failed(format!(
                "it says that {:?} of {jobs} jobs took {:?} ns, of {elapsed_ns} that passed",
                answer.jobs, answer.ns
            ))),
        }
    }

    /// Lets the program work until the queue is empty, with `at_once` concurrent jobs that take `millis` milliseconds
    /// each. Returns the number of jobs, and when it started and ended.
    pub(super) fn drain(&mut self, at_once: u32, millis: u32) -> Result<(u32, Instant, Instant), ParticipantError> {
        let began = Instant::now();
        let answer = self.send_command(&format!("drain {at_once} {millis}"))?;
        let elapsed = began.elapsed();
        let duration = answer.ns.filter(|ns| ns.is_finite() && *ns >= 0.0).map(|ns| Duration::from_nanos(ns as u64));
        match (answer.jobs, duration) {
            (Some(jobs), Some(duration)) if duration <= elapsed => Ok((jobs, began, began + duration)),
            _ => Err(ParticipantError::Failed(format!(
                "it says that {:?} jobs took {:?} ns, of {} that passed",
                answer.jobs,
                answer.ns,
                elapsed.as_nanos()
            ))),
        }
    }

    fn send_command(&mut self, line: &str) -> Result<Answer, ParticipantError> {
        let line = self.process.send_line(line)?;
        let answer: Answer = serde_json::from_str(&line)
            .map_err(|_| ParticipantError::Failed(format!("its answer is not a line of the protocol: {line:?}")))?;
        match answer.error {
            Some(error) => Err(ParticipantError::Failed(error)),
            None => Ok(answer),
        }
    }
}

/// Returns the version of a command: the last word of `--version`.
pub(super) fn query_version(command: &Path) -> String {
    let output = Command::new(command).arg("--version").output();
    let stdout = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    stdout.split_whitespace().last().unwrap_or_default().to_owned()
}
