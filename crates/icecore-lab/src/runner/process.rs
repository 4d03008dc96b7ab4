//! A runner's script as a process that answers line by line.

use super::account::{Account, worked};
use super::protocol::{Load, Reply, Request};
use super::{Answer, Checked, Seat, Trouble};
use crate::model::{MemoryStep, Operation};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Maximum length of an answer line.
const LONGEST_LINE: u64 = 1 << 20;

/// How often to check whether the run was stopped.
const GLANCE: Duration = Duration::from_millis(100);

/// Timeout for one answer.
#[derive(Clone, Copy, Debug)]
pub struct Patience(pub Duration);

/// A script that answers line by line. Dropping this ends the process.
pub struct Process<'s> {
    child: Child,
    /// `None` after the process was told to end.
    input: Option<ChildStdin>,
    lines: Receiver<Result<String, String>>,
    errors: PathBuf,
    reference: String,
    patience: Duration,
    stop: &'s AtomicBool,
    /// Time that its operations took.
    account: Account,
    /// Processor time before its first operation.
    before: Option<f64>,
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
        patience: Patience,
        stop: &'s AtomicBool,
    ) -> Result<Process<'s>, std::io::Error> {
        let errors = folder.join("stderr");
        crate::secrets::hide_from(&mut command);
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&errors)?);
        // Ctrl-C goes only to the lab, which then ends its processes itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let (sender, lines) = sync_channel(16);
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                loop {
                    let mut line = String::new();
                    let read = (&mut output).take(LONGEST_LINE).read_line(&mut line);
                    let line = match read {
                        Ok(0) => return,
                        Ok(_) if line.ends_with('\n') => Ok(line),
                        Ok(_) => Err(format!("it answered half a line: {}", shortened(&line))),
                        Err(error) => Err(format!("what it answered can't be read: {error}")),
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
            patience: patience.0,
            stop,
            account: Account::default(),
            before: None,
            notes: Vec::new(),
        })
    }

    /// Sends a request, and waits for the answer.
    pub(super) fn ask(&mut self, request: &Request<'_>) -> Result<Reply, Trouble> {
        let line = serde_json::to_string(request).map_err(|error| Trouble::Failed(error.to_string()))?;
        let reply = self.say(&line)?;
        let reply: Reply = serde_json::from_str(&reply)
            .map_err(|_| Trouble::Failed(format!("it answered no line of the protocol: {}", shortened(&reply))))?;
        if let Some(error) = reply.error {
            return Err(Trouble::Failed(error));
        }
        if let Some(why) = reply.cannot {
            return Err(Trouble::Cannot(why));
        }
        if let Some(note) = &reply.note
            && !self.notes.contains(note)
        {
            self.notes.push(note.clone());
        }
        Ok(reply)
    }

    /// Sends a line, and waits for the answer line.
    pub fn say(&mut self, line: &str) -> Result<String, Trouble> {
        let line = format!("{line}\n");
        let sent = self.input.as_mut().map(|input| input.write_all(line.as_bytes()).and_then(|()| input.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.ended());
        }
        self.answer()
    }

    fn answer(&mut self) -> Result<String, Trouble> {
        let end = Instant::now() + self.patience;
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => return line.map_err(Trouble::Failed),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => return Err(Trouble::Stopped),
                Err(RecvTimeoutError::Timeout) if Instant::now() > end => {
                    let seconds = self.patience.as_secs_f64();
                    return Err(Trouble::Failed(format!("it did not answer for {seconds} seconds")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns why the process has ended.
    fn ended(&mut self) -> Trouble {
        if self.stop.load(Ordering::Relaxed) {
            return Trouble::Stopped;
        }
        self.input = None;
        let how = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let said = std::fs::read(&self.errors).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        Trouble::Failed(format!("it ended ({how}): {}", shortened(last)))
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // It would end when its input is closed, but freeing large values takes long.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Seat for Process<'_> {
    fn load(&mut self, load: &Load<'_>) -> Result<(), Trouble> {
        match self.ask(&Request::Load(*load))?.ok {
            Some(true) => Ok(()),
            _ => Err(Trouble::Failed("it did not say that it loaded the data".to_owned())),
        }
    }

    fn check(&mut self, folder: &Path) -> Result<Checked, Trouble> {
        let (answer, bytes) = (folder.join("answer"), folder.join("bytes"));
        let reply = self.ask(&Request::Check { answer: &answer, bytes: &bytes })?;
        let size = reply.size.ok_or_else(|| Trouble::Failed("it did not say how many bytes it wrote".to_owned()))?;
        if std::fs::metadata(&bytes).is_ok_and(|file| file.len() != size) {
            return Err(Trouble::Failed(format!("it says that it wrote {size} bytes, which is not so")));
        }
        Ok(Checked { size: Some(size), answer: Answer::File(answer, self.reference.clone()) })
    }

    fn time(&mut self, operation: Operation, times: u64) -> Result<f64, Trouble> {
        if self.before.is_none() {
            self.before = worked(self.child.id());
        }
        let began = Instant::now();
        let reply = self.ask(&Request::Time { operation, times })?;
        let passed = began.elapsed();
        let Some(ns) = reply.ns else {
            return Err(Trouble::Failed("it did not say how long it took".to_owned()));
        };
        let most = passed.as_nanos() as f64;
        if !(ns > 0.0 && ns <= most) {
            return Err(Trouble::Failed(format!("it says that {ns} ns passed, of {most} that did")));
        }
        self.account.add(ns, passed);
        if !self.account.is_suspicious() {
            return Ok(ns);
        }
        let worked = worked(self.child.id()).zip(self.before).map(|(now, before)| now - before);
        match worked.filter(|worked| self.account.is_refuted(*worked)) {
            None => Ok(ns),
            Some(worked) => {
                let (claimed, worked) = (self.account.claimed * 1e3, worked * 1e3);
                Err(Trouble::Failed(format!(
                    "it says that all it did took {claimed:.3} ms, where processors worked {worked:.0} ms for it"
                )))
            }
        }
    }

    fn memory(&mut self) -> Result<Vec<MemoryStep>, Trouble> {
        Ok(self.ask(&Request::Memory)?.steps)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Returns the first words of a runner's answer.
fn shortened(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
