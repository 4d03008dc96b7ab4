//! A perl process that reads blobs with the real modules.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The result of perl for a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerlAnswer {
    /// The value, as `json:typed`.
    Typed(String),
    /// A value with text that is not UTF-8, which can't be compared.
    NotUtf8,
    /// The blob was refused; with the message.
    Refused(String),
    /// The process ended: a crash, a loop, too much memory. This is not a finding of ours.
    Died,
}

/// Maximum memory of the process, in kilobytes.
const MAX_MEMORY_KB: &str = "300000";

/// The process, which is started when it is needed.
pub struct Perl {
    running: Option<(Child, BufReader<ChildStdout>)>,
    /// Number of starts.
    pub starts: u64,
}

impl Default for Perl {
    fn default() -> Perl {
        Perl::new()
    }
}

impl Perl {
    /// Creates an instance whose process is not started yet.
    pub fn new() -> Perl {
        Perl { running: None, starts: 0 }
    }

    fn start(&mut self) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perl/oracle.pl");
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -v {MAX_MEMORY_KB}; ulimit -c 0; [ -w /dev/shm ] && export TMPDIR=/dev/shm; cd /tmp; exec perl \"$0\" 2>/dev/null"))
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("sh: {error}"));
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        self.running = Some((child, answers));
        self.starts += 1;
    }

    fn stop(&mut self) {
        if let Some((mut child, _)) = self.running.take() {
            // The process ends by itself and removes its files.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    /// Processes all of the blobs.
    pub fn process_blobs(&mut self, format: &str, blobs: &[Vec<u8>]) -> Vec<PerlAnswer> {
        let mut answers = Vec::new();
        while answers.len() < blobs.len() {
            if self.running.is_none() {
                self.start();
            }
            let answered = answers.len();
            self.process_some(format, &blobs[answered..], &mut answers);
            if answers.len() < blobs.len() {
                answers.push(PerlAnswer::Died);
                self.stop();
            }
        }
        answers
    }

    /// Processes blobs until all are answered or the process ends.
    fn process_some(&mut self, format: &str, blobs: &[Vec<u8>], answers: &mut Vec<PerlAnswer>) {
        let Some((child, output)) = &mut self.running else { return };
        let Some(mut input) = child.stdin.take() else { return };
        let mut lines = format!("{}\n", blobs.len());
        for blob in blobs {
            lines.extend([format, " ", &encode_base64(blob), "\n"]);
        }
        let input = std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                let _ = input.write_all(lines.as_bytes());
                input
            });
            for _ in blobs {
                let mut line = Vec::new();
                match output.read_until(b'\n', &mut line) {
                    Ok(_) if line.ends_with(b"\n") => answers.push(parse_answer(&line)),
                    _ => break,
                }
            }
            if answers.len() < blobs.len() {
                let _ = child.kill();
            }
            writer.join().expect("the writer")
        });
        child.stdin = Some(input);
    }
}

impl Drop for Perl {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Parses the line that the process prints for a blob.
fn parse_answer(line: &[u8]) -> PerlAnswer {
    let text = String::from_utf8_lossy(line);
    let line = text.trim_end();
    if line == "died" {
        return PerlAnswer::Died;
    }
    if matches!(text, Cow::Owned(_)) && line.starts_with("{\"typed\":") {
        return PerlAnswer::NotUtf8;
    }
    match line.strip_prefix("{\"typed\":").and_then(|rest| rest.strip_suffix('}')) {
        Some(typed) => PerlAnswer::Typed(typed.to_owned()),
        None => {
            let error = line.strip_prefix("{\"error\":").and_then(|rest| rest.strip_suffix('}')).unwrap_or(line);
            PerlAnswer::Refused(error.to_owned())
        }
    }
}

pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0u32, |sum, (index, byte)| sum | u32::from(*byte) << (16 - 8 * index));
        for index in 0..4 {
            out.push(if index <= chunk.len() {
                char::from(DIGITS[(bits >> (18 - 6 * index)) as usize & 63])
            } else {
                '='
            });
        }
    }
    out
}
