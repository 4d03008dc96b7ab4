//! Jobs that are done by a command.

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

/// What a command reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// The readable copy of the payload; the payload itself, where there is none.
    #[default]
    Json,
    /// The payload, as it came.
    Raw,
}

/// A command of the shell that does jobs: it reads the payload, what it writes is the
/// result, and its exit code says whether the job is done.
///
/// It is in a group of processes of its own, and what it leaves running there ends with it.
/// Its environment has `ICECORE_JOB_ID`, `ICECORE_JOB_ATTEMPT`, `ICECORE_JOB_QUEUE`, and `ICECORE_JOB_AFTER` with the
/// id of the job behind which this one comes, if there is one.
#[derive(Clone, Debug)]
pub struct Command {
    /// As it is typed.
    pub line: String,
    /// What it reads.
    pub stdin: Stdin,
    /// When it is ended; `None`: it takes as long as it takes.
    pub timeout: Option<Duration>,
    /// How much of what it writes is kept as the result; the rest is dropped.
    pub longest_result: usize,
    /// Variables of the environment that it does not get: credentials.
    pub hidden: Vec<String>,
    /// Ends it when an end at once is wanted.
    pub stop: Stop,
}

/// What reads the line.
const SHELL: &str = "/bin/sh";
/// How much of the standard error output is kept: its end.
const LONGEST_ERROR: usize = 4 << 10;
/// How often a command is asked for that has to end.
const NAP: Duration = Duration::from_millis(50);
/// How long output is waited for that comes from processes that left the group.
const PATIENCE: Duration = Duration::from_secs(1);

impl Command {
    /// A command that reads JSON, may take as long as it likes, and return a megabyte.
    pub fn new(line: impl Into<String>) -> Command {
        Command {
            line: line.into(),
            stdin: Stdin::Json,
            timeout: None,
            longest_result: 1 << 20,
            hidden: Vec::new(),
            stop: Stop::new(),
        }
    }

    /// Looks whether there is a command to run: the first word of the line, unless the shell makes something else of it.
    ///
    /// ```
    /// use icecore_store::Command;
    /// assert!(Command::new("cat > /dev/null").check().is_ok());
    /// assert!(Command::new("no-such-command --now").check().unwrap_err().contains("`no-such-command`"));
    /// ```
    ///
    /// # Errors
    /// That it is not there, in words for people.
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
            Ok(status) if !status.success() => Err(format!("there is no command `{word}` that can be run")),
            _ => Ok(()),
        }
    }

    /// Whether an attempt failed since the shell found no command to run.
    pub fn is_missing(outcome: &Outcome) -> bool {
        let Outcome::Failed { error, .. } = outcome else { return false };
        let said = ["exit code 127: ", "exit code 126: "].iter().find_map(|code| error.strip_prefix(code));
        said.is_some_and(|said| said.starts_with(SHELL))
    }

    fn spawn(&self, job: &Job) -> std::io::Result<Child> {
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

    fn input(&self, job: &Job) -> Vec<u8> {
        match (self.stdin, &job.json) {
            (Stdin::Json, Some(json)) => json.clone().into_bytes(),
            _ => job.bytes.clone(),
        }
    }

    /// Waits for the end, or brings it about; why it was ended before.
    fn wait(&self, child: &mut Child) -> std::io::Result<(ExitStatus, Option<Outcome>)> {
        // The number of the group is this child's until the child is taken away below.
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
        let until = self.timeout.map(|timeout| (timeout, Instant::now() + timeout));
        let mut ended_by = None;
        loop {
            let left = until.map_or(NAP, |(_, until)| until.saturating_duration_since(Instant::now()));
            match receiver.recv_timeout(left.min(NAP)) {
                Err(RecvTimeoutError::Timeout) if self.stop.is_aborting() => {
                    let error = "the worker was stopped while the command ran".to_owned();
                    ended_by = Some(Outcome::Failed { error, delay: Some(Duration::ZERO) });
                    break;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some((timeout, until)) = until
                        && until <= Instant::now()
                    {
                        ended_by = Some(Outcome::failed(format!("it took longer than {timeout:?} and was ended")));
                        break;
                    }
                }
                _ => break,
            }
        }
        let _ = kill_process_group(group, Signal::KILL);
        Ok((child.wait()?, ended_by))
    }

    fn run_child(&self, job: &Job) -> std::io::Result<Outcome> {
        let mut child = self.spawn(job)?;
        let (pipes, stopped) = (self.pipes(job, &mut child), self.wait(&mut child));
        let (pipes, (status, ended_by)) = match (pipes, stopped) {
            (Ok(pipes), Ok(ended)) => (pipes, ended),
            (Err(error), _) | (_, Err(error)) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let (result, message) = pipes.ends();
        if let Some(Outcome::Failed { error, delay }) = ended_by {
            return Ok(Outcome::Failed { error: with_tail(error, &message), delay });
        }
        if status.success() {
            return Ok(Outcome::Done(Some(result)));
        }
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        };
        Ok(Outcome::failed(with_tail(how, &message)))
    }

    /// Threads that give the command its input and take its output.
    fn pipes(&self, job: &Job, child: &mut Child) -> std::io::Result<Pipes> {
        let (sender, receiver) = channel();
        let (result, error) = (Kept::new(self.longest_result), Kept::new(LONGEST_ERROR));
        if let Some(mut stdin) = child.stdin.take() {
            let input = self.input(job);
            // A command need not read all of it, or anything.
            let write = move || drop(stdin.write_all(&input));
            std::thread::Builder::new().name("stdin".to_owned()).spawn(write)?;
        }
        if let Some(stdout) = child.stdout.take() {
            pump("stdout", stdout, result.clone(), Kept::first, sender.clone())?;
        }
        if let Some(stderr) = child.stderr.take() {
            pump("stderr", stderr, error.clone(), Kept::last, sender)?;
        }
        Ok(Pipes { result, error, receiver })
    }
}

impl Runner for Command {
    fn run(&self, job: &Job) -> Outcome {
        self.run_child(job).unwrap_or_else(|error| Outcome::failed(format!("the command could not be run: {error}")))
    }
}

fn with_tail(how: String, message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    match message.trim() {
        "" => how,
        // A database's text may refuse it.
        message => format!("{how}: {}", message.replace('\0', "\u{fffd}")),
    }
}

/// The output of a command that runs.
struct Pipes {
    result: Kept,
    error: Kept,
    receiver: std::sync::mpsc::Receiver<()>,
}

impl Pipes {
    /// What was kept, when all was read.
    fn ends(self) -> (Vec<u8>, Vec<u8>) {
        let until = Instant::now() + PATIENCE;
        // Both threads drop their end when they are ready.
        while let Ok(()) = self.receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {}
        (self.result.take(), self.error.take())
    }
}

/// Bytes of which so many are kept.
#[derive(Clone)]
struct Kept {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    most: usize,
}

impl Kept {
    fn new(most: usize) -> Kept {
        Kept { bytes: Arc::default(), most }
    }

    fn bytes(&self) -> std::sync::MutexGuard<'_, VecDeque<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn first(&self, bytes: &[u8]) {
        let mut kept = self.bytes();
        let room = self.most - kept.len();
        kept.extend(&bytes[..bytes.len().min(room)]);
    }

    fn last(&self, bytes: &[u8]) {
        let mut kept = self.bytes();
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(self.most);
        kept.drain(..excess);
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes()).into()
    }
}

fn pump(
    name: &str,
    mut from: impl Read + Send + 'static,
    kept: Kept,
    keep: fn(&Kept, &[u8]),
    ready: Sender<()>,
) -> std::io::Result<()> {
    let read = move || {
        let mut buffer = [0; 8 << 10];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => keep(&kept, &buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(ready);
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(read).map(drop)
}
