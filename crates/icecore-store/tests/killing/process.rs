//! A process that prints lines and is killed.

use crate::common::until;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A process and the lines that it printed.
pub struct Running {
    pub kind: &'static str,
    process: Child,
    lines: Receiver<String>,
    reader: JoinHandle<()>,
    printed: Vec<String>,
}

/// Prints one line in one piece, immediately.
pub fn print_event(line: &str) {
    // On its own line: the test harness prints too.
    let line = format!("\n@{line}\n");
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).expect("the parent reads");
}

impl Running {
    pub fn start(kind: &'static str, command: &mut Command) -> Running {
        let mut process = command.stdout(Stdio::piped()).spawn().expect("spawn");
        let stdout = process.stdout.take().expect("its output");
        let (sender, lines) = channel();
        let reader = std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = String::new();
            // A line without an end was cut off.
            while reader.read_line(&mut line).is_ok_and(|read| read > 0 && line.ends_with('\n')) {
                if let Some(printed) = line.trim_end().strip_prefix('@') {
                    let _ = sender.send(printed.to_owned());
                }
                line.clear();
            }
        });
        Running { kind, process, lines, reader, printed: Vec::new() }
    }

    /// Waits until the process printed this many lines, or for 20 seconds: then it is killed
    /// anyway.
    pub fn wait_for_lines(&mut self, count: usize) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.printed.len() < count {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.printed.push(line),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("a child ended by itself: {:?}", self.process.wait()),
            }
        }
    }

    /// Waits until these processes together printed this many more lines.
    pub fn wait_for_lines_of_all(all: &mut [Running], count: usize) {
        let count_lines = |all: &mut [Running]| -> usize {
            all.iter_mut().for_each(|child| child.printed.extend(child.lines.try_iter()));
            all.iter().map(|child| child.printed.len()).sum()
        };
        let before = count_lines(all);
        until("programs go on with their work", || {
            for child in &mut *all {
                let ended = child.process.try_wait().expect("try_wait");
                assert!(ended.is_none(), "a {} ended by itself: {ended:?}", child.kind);
            }
            (count_lines(all) >= before + count).then_some(())
        });
    }

    /// Kills the process and returns all lines that it printed.
    pub fn kill(mut self) -> Vec<String> {
        let ended = self.process.try_wait().expect("try_wait");
        assert!(ended.is_none(), "a {} ended by itself: {ended:?}", self.kind);
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
        self.reader.join().expect("join");
        self.printed.extend(self.lines.try_iter());
        self.printed
    }
}
