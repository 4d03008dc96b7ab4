//! A runner's script as a process that answers line by line.

use super::protocol::{Load, Reply, Request};
use super::time_check::{TimeAccount, read_processor_seconds};
use super::{Answer, ParticipantError, RoundTrip, RunningParticipant};
use crate::model::{MemoryStep, Operation};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Maximum length of an answer line.
const MAX_LINE_LEN: u64 = 1 << 20;

/// The time between two checks whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Timeout for one answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerTimeout(pub Duration);

/// A script that answers line by line. Dropping this ends the process.
pub struct Process<'s> {
    child: Child,
    /// `None` after the process was asked to end.
    input: Option<ChildStdin>,
    lines: Receiver<Result<String, String>>,
    errors: PathBuf,
    reference: String,
    answer_timeout: Duration,
    stop: &'s AtomicBool,
    /// The time that its operations took.
    account: TimeAccount,
    /// The processor time in seconds before its first operation.
    processor_seconds_before: Option<f64>,
    /// Remarks of the runner.
    notes: Vec<String>,
}

impl<'s> Process<'s> {
    /// Starts a script. Its standard error goes to a file in `folder`.
    ///
    /// # Errors
    ///
    /// If the system can't start it.
    pub fn start(
        mut command: Command,
        folder: &Path,
        reference: &str,
        answer_timeout: AnswerTimeout,
        stop: &'s AtomicBool,
    ) -> Result<Process<'s>, std::io::Error> {
        let errors = folder.join("stderr");
        crate::secrets::hide_secrets_from(&mut command);
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&errors)?);
        // A group of its own does not get Ctrl-C from the terminal. So only the lab gets it, and ends its processes.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        // The thread ends when the output is closed, or when `lines` is dropped with the process.
        let (sender, lines) = sync_channel(16);
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                loop {
                    let mut line = String::new();
                    let read = (&mut output).take(MAX_LINE_LEN).read_line(&mut line);
                    let line = match read {
                        Ok(0) => return,
                        Ok(_) if line.ends_with('\n') => Ok(line),
                        Ok(_) => Err(format!("its answer is only half a line: {}", shorten_line(&line))),
                        Err(error) => Err(format!("its answer can't be read: {error}")),
                    };
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Process {
            child,
            input,
            lines,
            errors,
            reference: reference.to_owned(),
            answer_timeout: answer_timeout.0,
            stop,
            account: TimeAccount::default(),
            processor_seconds_before: None,
            notes: Vec::new(),
        })
    }

    /// Sends a request, and waits for the answer.
    pub(super) fn send_request(&mut self, request: &Request<'_>) -> Result<Reply, ParticipantError> {
        let line = serde_json::to_string(request).map_err(|error| ParticipantError::Failed(error.to_string()))?;
        let reply = self.send_line(&line)?;
        let reply: Reply = serde_json::from_str(&reply).map_err(|_| {
            ParticipantError::Failed(format!("its answer is not a line of the protocol: {}", shorten_line(&reply)))
        })?;
        if let Some(error) = reply.error {
            return Err(ParticipantError::Failed(error));
        }
        if let Some(reason) = reply.cannot {
            return Err(ParticipantError::Cannot(reason));
        }
        if let Some(note) = &reply.note
            && !self.notes.contains(note)
        {
            self.notes.push(note.clone());
        }
        Ok(reply)
    }

    /// Sends a line, and waits for the answer line.
    pub fn send_line(&mut self, line: &str) -> Result<String, ParticipantError> {
        let line = format!("{line}\n");
        let sent = self.input.as_mut().map(|input| input.write_all(line.as_bytes()).and_then(|()| input.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.explain_exit());
        }
        self.receive_line()
    }

    fn receive_line(&mut self) -> Result<String, ParticipantError> {
        let end = Instant::now() + self.answer_timeout;
        loop {
            match self.lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => return line.map_err(ParticipantError::Failed),
                Err(RecvTimeoutError::Disconnected) => return Err(self.explain_exit()),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    return Err(ParticipantError::Stopped);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() > end => {
                    let seconds = self.answer_timeout.as_secs_f64();
                    return Err(ParticipantError::Failed(format!("it did not answer for {seconds} seconds")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns why the process has ended.
    fn explain_exit(&mut self) -> ParticipantError {
        if self.stop.load(Ordering::Relaxed) {
            return ParticipantError::Stopped;
        }
        self.input = None;
        let exit_status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let stderr_bytes = std::fs::read(&self.errors).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr_bytes);
        let last_line = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it wrote nothing");
        ParticipantError::Failed(format!("it ended ({exit_status}): {}", shorten_line(last_line)))
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // The process would also end when its input is closed. But it would free large values first, and that may
        // take long.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl RunningParticipant for Process<'_> {
    fn load(&mut self, load: &Load<'_>) -> Result<(), ParticipantError> {
        match self.send_request(&Request::Load(*load))?.ok {
            Some(true) => Ok(()),
            _ => Err(ParticipantError::Failed("it did not say that it loaded the data".to_owned())),
        }
    }

    fn check_round_trip(&mut self, folder: &Path) -> Result<RoundTrip, ParticipantError> {
        let (answer, bytes) = (folder.join("answer"), folder.join("bytes"));
        let reply = self.send_request(&Request::Check { answer: &answer, bytes: &bytes })?;
        let size =
            reply.size.ok_or_else(|| ParticipantError::Failed("it did not say how many bytes it wrote".to_owned()))?;
        if std::fs::metadata(&bytes).is_ok_and(|file| file.len() != size) {
            return Err(ParticipantError::Failed(format!("it reports that it wrote {size} bytes, which is wrong")));
        }
        Ok(RoundTrip { size: Some(size), answer: Answer::File(answer, self.reference.clone()) })
    }

    fn time_operation(&mut self, operation: Operation, times: u64) -> Result<f64, ParticipantError> {
        if self.processor_seconds_before.is_none() {
            self.processor_seconds_before = read_processor_seconds(self.child.id());
        }
        let began = Instant::now();
        let reply = self.send_request(&Request::Time { operation, times })?;
        let elapsed = began.elapsed();
        // The process measures inside of the request, so it can't have taken longer than the lab waited.
        let Some(ns) = reply.ns else {
            return Err(ParticipantError::Failed("it did not say how long it took".to_owned()));
        };
        let elapsed_ns = elapsed.as_nanos() as f64;
        if !(ns > 0.0 && ns <= elapsed_ns) {
            return Err(ParticipantError::Failed(format!("it reports {ns} ns, but only {elapsed_ns} passed")));
        }
        self.account.add(ns, elapsed);
        if !self.account.is_suspicious() {
            return Ok(ns);
        }
        let now = read_processor_seconds(self.child.id());
        let used_seconds = now.zip(self.processor_seconds_before).map(|(now, before)| now - before);
        match used_seconds.filter(|seconds| self.account.is_refuted(*seconds)) {
            None => Ok(ns),
            Some(used_seconds) => {
                let (claimed, used) = (self.account.claimed * 1e3, used_seconds * 1e3);
                Err(ParticipantError::Failed(format!(
                    "it reports {claimed:.3} ms for everything, but used {used:.0} ms of processor time"
                )))
            }
        }
    }

    fn measure_memory(&mut self) -> Result<Vec<MemoryStep>, ParticipantError> {
        Ok(self.send_request(&Request::Memory)?.steps)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Returns the beginning of a line of a runner.
fn shorten_line(line: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 200;
    let line = line.trim();
    match line.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
