//! Jobs that are done by a shell command.

use crate::job::Job;
use crate::runner::{Outcome, Runner, Stop};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Input of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// The readable copy of the payload, or the payload itself if there is no copy.
    #[default]
    Json,
    /// The payload as it was queued.
    Raw,
}

/// A shell command that does jobs. It reads the payload from its standard input. Its output is the result, and its
/// exit code says whether the job is done.
///
/// The command runs in its own process group, and processes that it leaves running in the group are killed when it
/// ends. Its environment contains `ICECORE_JOB_ID`, `ICECORE_JOB_ATTEMPT` and `ICECORE_JOB_QUEUE`. If the job comes
/// after another job, `ICECORE_JOB_AFTER` contains the id of that job.
#[derive(Clone, Debug)]
pub struct Command {
    /// The command line, as typed.
    pub line: String,
    /// The input of the command.
    pub stdin: Stdin,
    /// The time limit after which the command is killed. `None` means no limit.
    pub timeout: Option<Duration>,
    /// Maximum size of the result in bytes. Further output is dropped.
    pub max_result_len: usize,
    /// Environment variables that the command does not get, such as credentials.
    pub hidden: Vec<String>,
    /// Kills the command when the worker aborts.
    pub stop: Stop,
}

/// Interpreter of the command line.
const SHELL: &str = "/bin/sh";
/// How much of the standard error output is kept, counted from its end.
const MAX_ERROR_LEN: usize = 4 << 10;
/// How often to check whether a command has to be killed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long to wait for output after the command ended. The wait is limited, because a process that left the group
/// may still have the pipe open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

impl Command {
    /// Creates a command that reads JSON, has no time limit, and may return a megabyte.
    pub fn new(line: impl Into<String>) -> Command {
        Command {
            line: line.into(),
            stdin: Stdin::Json,
            timeout: None,
            max_result_len: 1 << 20,
            hidden: Vec::new(),
            stop: Stop::new(),
        }
    }

    /// Checks whether the command exists. The command is the first word of the line; a line whose first word has
    /// special characters of the shell is not checked.
    ///
    /// ```
    /// use icecore_store::Command;
    /// assert!(Command::new("cat > /dev/null").check().is_ok());
    /// assert!(Command::new("no-such-command --now").check().unwrap_err().contains("`no-such-command`"));
    /// ```
    ///
    /// # Errors
    /// A message for people, if the command does not exist.
    pub fn check(&self) -> Result<(), String> {
        let line = self.line.trim_start();
        let word = line.split(|byte: char| byte.is_ascii_whitespace() || ";&|<>()".contains(byte)).next();
        let word = word.unwrap_or_default();
        if word.is_empty() || word.contains(|byte: char| "\"'`$\\=*?[{~#!".contains(byte)) {
            return Ok(());
        }
        let mut shell = std::process::Command::new(SHELL);
        shell.args(["-c", "command -v -- \"$1\"", SHELL, word]);
        let found = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match found {
            Ok(status) if !status.success() => Err(format!("the command `{word}` does not exist or is not executable")),
            _ => Ok(()),
        }
    }

    /// Returns whether an attempt failed because the shell found no command to run.
    pub fn is_missing(outcome: &Outcome) -> bool {
        let Outcome::Failed { error, .. } = outcome else { return false };
        let message = ["exit code 127: ", "exit code 126: "].iter().find_map(|code| error.strip_prefix(code));
        message.is_some_and(|message| message.starts_with(SHELL))
    }

    fn spawn_shell(&self, job: &Job) -> std::io::Result<Child> {
        let mut command = std::process::Command::new(SHELL);
        command.arg("-c").arg(&self.line);
        for name in &self.hidden {
            command.env_remove(name);
        }
        command.env("ICECORE_JOB_ID", job.id.to_string());
        command.env("ICECORE_JOB_ATTEMPT", job.attempts.to_string());
        command.env("ICECORE_JOB_QUEUE", &job.queue);
        command.env_remove("ICECORE_JOB_AFTER");
        command.envs(job.after.map(|id| ("ICECORE_JOB_AFTER", id.to_string())));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).spawn()
    }

    fn select_input(&self, job: &Job) -> Vec<u8> {
        match (self.stdin, &job.json) {
            (Stdin::Json, Some(json)) => json.clone().into_bytes(),
            _ => job.bytes.clone(),
        }
    }

    /// Waits until the command ends, or kills it at its time limit or on an abort. Returns its exit status, and an
    /// outcome if it was killed.
    fn wait_or_kill(&self, child: &mut Child) -> std::io::Result<(ExitStatus, Option<Outcome>)> {
        // The child's id is also the id of its group. The system can't reuse this id until the child is reaped below.
        let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return Ok((child.wait()?, None));
        };
        let (sender, receiver) = channel::<()>();
        std::thread::Builder::new().name("wait".to_owned()).spawn(move || {
            while let Err(rustix::io::Errno::INTR) =
                waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
            drop(sender);
        })?;
        let time_limit = self.timeout.map(|timeout| (timeout, Instant::now() + timeout));
        let mut kill_outcome = None;
        loop {
            let remaining =
                time_limit.map_or(POLL_INTERVAL, |(_, deadline)| deadline.saturating_duration_since(Instant::now()));
            match receiver.recv_timeout(remaining.min(POLL_INTERVAL)) {
                Err(RecvTimeoutError::Timeout) if self.stop.is_aborting() => {
                    let error = "the worker was stopped while the command ran".to_owned();
                    kill_outcome = Some(Outcome::Failed { error, delay: Some(Duration::ZERO) });
                    break;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some((timeout, deadline)) = time_limit
                        && deadline <= Instant::now()
                    {
                        kill_outcome =
                            Some(Outcome::failed(format!("the command took longer than {timeout:?} and was ended")));
                        break;
                    }
                }
                _ => break,
            }
        }
        let _ = kill_process_group(group, Signal::KILL);
        Ok((child.wait()?, kill_outcome))
    }

    /// Runs the command for a job, and returns its outcome.
    fn run_child(&self, job: &Job) -> std::io::Result<Outcome> {
        let mut child = self.spawn_shell(job)?;
        let (pipes, waited) = (self.start_pipes(job, &mut child), self.wait_or_kill(&mut child));
        let (pipes, (status, kill_outcome)) = match (pipes, waited) {
            (Ok(pipes), Ok(ended)) => (pipes, ended),
            (Err(error), _) | (_, Err(error)) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let (result, message) = pipes.wait_for_output();
        if let Some(Outcome::Failed { error, delay }) = kill_outcome {
            return Ok(Outcome::Failed { error: append_error_output(error, &message), delay });
        }
        if status.success() {
            return Ok(Outcome::Done(Some(result)));
        }
        let reason = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        };
        Ok(Outcome::failed(append_error_output(reason, &message)))
    }

    /// Starts threads that write the input of the command and read its output.
    fn start_pipes(&self, job: &Job, child: &mut Child) -> std::io::Result<CommandOutput> {
        let (sender, receiver) = channel();
        let (result, error) = (BoundedBuffer::new(self.max_result_len), BoundedBuffer::new(MAX_ERROR_LEN));
        if let Some(mut stdin) = child.stdin.take() {
            let input = self.select_input(job);
            // A command may stop reading before the end of its input.
            let write = move || drop(stdin.write_all(&input));
            std::thread::Builder::new().name("stdin".to_owned()).spawn(write)?;
        }
        if let Some(stdout) = child.stdout.take() {
            spawn_reader("stdout", stdout, result.clone(), BoundedBuffer::keep_first_bytes, sender.clone())?;
        }
        if let Some(stderr) = child.stderr.take() {
            spawn_reader("stderr", stderr, error.clone(), BoundedBuffer::keep_last_bytes, sender)?;
        }
        Ok(CommandOutput { result, error, receiver })
    }
}

impl Runner for Command {
    fn run(&self, job: &Job) -> Outcome {
        self.run_child(job)
            .unwrap_or_else(|error| Outcome::failed(format!("the command could not be started: {error}")))
    }
}

fn append_error_output(reason: String, message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    match message.trim() {
        "" => reason,
        // Some databases do not accept U+0000 in a text, so it is replaced.
        message => format!("{reason}: {}", message.replace('\0', "\u{fffd}")),
    }
}

/// The output of a running command.
struct CommandOutput {
    result: BoundedBuffer,
    error: BoundedBuffer,
    receiver: std::sync::mpsc::Receiver<()>,
}

impl CommandOutput {
    /// Waits for the end of the output. Returns the kept bytes of the result and of the error output.
    fn wait_for_output(self) -> (Vec<u8>, Vec<u8>) {
        let deadline = Instant::now() + OUTPUT_TIMEOUT;
        // Each thread drops its sender when it is done.
        while let Ok(()) = self.receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {}
        (self.result.take_bytes(), self.error.take_bytes())
    }
}

/// A buffer that keeps at most `max_bytes` bytes.
#[derive(Clone)]
struct BoundedBuffer {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    max_bytes: usize,
}

impl BoundedBuffer {
    fn new(max_bytes: usize) -> BoundedBuffer {
        BoundedBuffer { bytes: Arc::default(), max_bytes }
    }

    fn lock_bytes(&self) -> std::sync::MutexGuard<'_, VecDeque<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_first_bytes(&self, bytes: &[u8]) {
        let mut kept = self.lock_bytes();
        let available = self.max_bytes - kept.len();
        kept.extend(&bytes[..bytes.len().min(available)]);
    }

    fn keep_last_bytes(&self, bytes: &[u8]) {
        let mut kept = self.lock_bytes();
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(self.max_bytes);
        kept.drain(..excess);
    }

    fn take_bytes(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock_bytes()).into()
    }
}

/// Starts a thread that reads `source` to its end and passes the bytes to `keep`. It drops `end_signal` when it is
/// done.
fn spawn_reader(
    name: &str,
    mut source: impl Read + Send + 'static,
    output: BoundedBuffer,
    keep: fn(&BoundedBuffer, &[u8]),
    end_signal: Sender<()>,
) -> std::io::Result<()> {
    let read = move || {
        let mut buffer = [0; 8 << 10];
        loop {
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => keep(&output, &buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(end_signal);
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(read).map(drop)
}
