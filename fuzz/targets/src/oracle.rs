//! The real ruby or php, which reads blobs and writes them again.

use crate::perl::encode_base64;
use crate::seeds;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The result of the program for a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OracleAnswer {
    /// The blob was read, and written again as these bytes. The text contains the warnings.
    Wrote(Vec<u8>, String),
    /// The blob was read, and can't be written; with the message.
    Kept(String),
    /// The blob was refused; with the message.
    Refused(String),
    /// The process ended: a crash, a loop, too much memory. This is not a finding of ours.
    Died,
}

/// The program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// `Marshal.load` and `Marshal.dump`.
    Ruby,
    /// `unserialize()` and `serialize()`.
    Php,
    /// `igbinary_unserialize()` and `igbinary_serialize()`.
    Igbinary,
}

impl Runtime {
    /// Returns what is missing, if it can't be run.
    pub fn missing_reason(self) -> Option<&'static str> {
        let (program, check, missing) = match self {
            Runtime::Ruby => ("ruby", "exit RUBY_VERSION >= '3.1'", "ruby 3.1 is not installed"),
            Runtime::Php => ("php", "exit(PHP_VERSION_ID < 80200 ? 1 : 0);", "php 8.2 is not installed"),
            Runtime::Igbinary => {
                ("php", "exit(function_exists('igbinary_serialize') ? 0 : 1);", "php with igbinary is not installed")
            }
        };
        let option = if self == Runtime::Ruby { "-e" } else { "-r" };
        let status = Command::new(program).args([option, check]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        (!status.is_ok_and(|status| status.success())).then_some(missing)
    }

    /// Returns the limit of the address space in kilobytes, the command, and the script. Ruby needs a large address
    /// space before it reads anything.
    fn shell_command(self) -> (u64, &'static str, &'static str) {
        match self {
            Runtime::Ruby => (1_000_000, "exec ruby -W0 -E UTF-8 --disable-gems \"$0\"", "ruby/oracle.rb"),
            Runtime::Php => (500_000, "exec php -n \"$0\"", "php/oracle.php"),
            Runtime::Igbinary => (500_000, "exec php \"$0\" igbinary", "php/oracle.php"),
        }
    }
}

/// Timeout for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Number of blobs after which a process is replaced, because the names that it has seen stay in its memory.
const MAX_BLOBS: u64 = 100_000;

/// A running process.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    /// Number of blobs that the process got.
    processed: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process, which is started when it is needed.
pub struct Oracle {
    runtime: Runtime,
    running: Option<Running>,
    /// Number of starts.
    pub starts: u64,
}

impl Oracle {
    /// Creates an oracle whose process is not started yet.
    pub fn new(runtime: Runtime) -> Oracle {
        Oracle { runtime, running: None, starts: 0 }
    }

    fn start(&mut self) {
        let (memory, command, script) = self.runtime.shell_command();
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -v {memory}; ulimit -c 0; {command} 2>/dev/null"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(script))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("sh: {error}"));
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        // The thread ends with the process, or with the receiver.
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match output.read_until(b'\n', &mut line) {
                    Ok(_) if line.ends_with(b"\n") && sender.send(line).is_ok() => {}
                    _ => break,
                }
            }
        });
        self.running = Some(Running { child, input, lines, processed: 0 });
        self.starts += 1;
    }

    /// Processes all of the blobs.
    pub fn process_blobs(&mut self, blobs: &[Vec<u8>]) -> Vec<OracleAnswer> {
        let mut answers = Vec::new();
        while answers.len() < blobs.len() {
            if self.running.as_ref().is_none_or(|running| running.processed > MAX_BLOBS) {
                self.running = None;
                self.start();
            }
            let answered = answers.len();
            self.process_some(&blobs[answered..], &mut answers);
            if answers.len() < blobs.len() {
                answers.push(OracleAnswer::Died);
                self.running = None;
            }
        }
        answers
    }

    /// Processes blobs until all are answered, or the process does not answer one.
    fn process_some(&mut self, blobs: &[Vec<u8>], answers: &mut Vec<OracleAnswer>) {
        let Some(running) = &mut self.running else { return };
        let Some(mut input) = running.input.take() else { return };
        let mut text = String::new();
        for blob in blobs {
            text.extend([&encode_base64(blob), "\n"]);
        }
        let input = std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                let _ = input.write_all(text.as_bytes());
                input
            });
            for answered in 1.. {
                match running.lines.recv_timeout(ANSWER_TIMEOUT) {
                    Ok(line) => answers.push(parse_answer(&line)),
                    Err(_) => {
                        let _ = running.child.kill();
                        break;
                    }
                }
                if answered == blobs.len() {
                    break;
                }
            }
            writer.join().expect("the writer")
        });
        running.input = Some(input);
        running.processed += blobs.len() as u64;
    }
}

/// Parses the line that the process prints for a blob.
fn parse_answer(line: &[u8]) -> OracleAnswer {
    let line = String::from_utf8_lossy(line);
    let (verdict, rest) = line.trim_end_matches('\n').split_once(' ').unwrap_or((&line, ""));
    match verdict {
        "ok" => {
            let (blob, warning) = rest.split_once(' ').unwrap_or((rest, ""));
            OracleAnswer::Wrote(seeds::decode_base64(blob), warning.to_owned())
        }
        "kept" => OracleAnswer::Kept(rest.to_owned()),
        "refused" => OracleAnswer::Refused(rest.to_owned()),
        _ => OracleAnswer::Died,
    }
}

/// Returns the built-in classes of PHP, in lower case: igbinary creates real objects of them.
pub fn list_php_classes() -> HashSet<Vec<u8>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../php/oracle.php");
    let output =
        Command::new("php").arg(script).arg("classes").output().map(|output| output.stdout).unwrap_or_default();
    output.split(|byte| *byte == b'\n').map(<[u8]>::to_ascii_lowercase).filter(|name| !name.is_empty()).collect()
}
