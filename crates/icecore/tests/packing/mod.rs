//! Helpers that the tests of pack share: questions to perl, and our answers in the same notation.

#![allow(dead_code, reason = "not every test uses everything")]

pub mod hostile;

use icecore::{Builder, Kind, Limits, LossKind, format::pack, raw::Node};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// A question to perl and to us.
#[derive(Debug)]
pub enum Question {
    Unpack(String, Vec<u8>),
    /// Items: `n`, `i12`, `u12`, `f` with the bits of a float, `b` or `t` with
    /// the hex of bytes or of text in UTF-8.
    Pack(String, Vec<String>),
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|index| u8::from_str_radix(&text[index..index + 2], 16).expect("hex")).collect()
}

/// A perl process that answers questions.
pub struct Oracle {
    child: Child,
    stdin: Option<ChildStdin>,
}

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/perl/pack-oracle.pl");

impl Oracle {
    pub fn new() -> Option<Oracle> {
        let probe = Command::new("perl").args(["-e", "1"]).status();
        if !probe.is_ok_and(|status| status.success()) {
            println!("skipped: perl is not installed");
            return None;
        }
        // Limits the memory of perl, because some templates would take all of it.
        let program = format!("ulimit -v 400000; exec perl '{PROGRAM}'");
        let mut sh = Command::new("sh");
        sh.args(["-c", &program]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = sh.spawn().expect("a shell");
        let stdin = child.stdin.take();
        Some(Oracle { child, stdin })
    }

    pub fn ask(&mut self, questions: &[Question]) -> Vec<String> {
        let mut stdin = self.stdin.take().expect("the only call");
        let lines: String = questions.iter().map(line).collect();
        let stdout = BufReader::new(self.child.stdout.take().expect("its output"));
        let answers: Vec<String> = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(lines.as_bytes()).expect("perl reads"));
            stdout.lines().map(|line| line.expect("a line")).collect()
        });
        self.child.wait().expect("perl ends");
        assert_eq!(answers.len(), questions.len(), "perl did not answer all");
        answers
    }
}

fn line(question: &Question) -> String {
    match question {
        Question::Unpack(template, data) => format!("u {} {}\n", hex(template.as_bytes()), hex(data)),
        Question::Pack(template, items) => format!("p {} {}\n", hex(template.as_bytes()), items.join(",")),
    }
}

/// Returns our answer.
pub fn run(question: &Question) -> String {
    match question {
        Question::Unpack(template, data) => {
            let options = pack::Options::new(template);
            match pack::read(data, &options, &Limits::default()) {
                Ok(document) => {
                    let value = |node: &Node| value(node, document.bytes(node));
                    format!("V{}", document.nodes()[1..].iter().map(value).collect::<Vec<_>>().join(","))
                }
                Err(error) => format!("E{error}"),
            }
        }
        Question::Pack(template, items) => {
            let mut builder = Builder::new();
            builder.begin_array();
            for item in items {
                let rest = &item[1..];
                match &item[..1] {
                    "n" => builder.null(),
                    "i" => builder.int(rest.parse().expect("an integer")),
                    "u" => builder.uint(rest.parse().expect("an integer")),
                    "f" => builder.float(f64::from_bits(u64::from_str_radix(rest, 16).expect("bits"))),
                    "t" => builder.text(&String::from_utf8(unhex(rest)).expect("text")),
                    _ => builder.bytes(unhex(rest)),
                };
            }
            builder.end();
            let mut out = Vec::new();
            let document = builder.finish().expect("a document");
            match pack::write(&document, &pack::Options::new(template), &Limits::default(), &mut out) {
                Ok(losses) => {
                    let wide = losses.iter().any(|loss| loss.kind == LossKind::Wide);
                    format!("{}{}", if wide { "W" } else { "O" }, hex(&out))
                }
                Err(error) => format!("E{error}"),
            }
        }
    }
}

fn value(node: &Node, bytes: impl AsRef<[u8]>) -> String {
    match node.kind {
        Kind::Null => "n".to_owned(),
        Kind::Int => format!("i{}", node.payload as i64),
        Kind::Uint => format!("u{}", node.payload),
        Kind::Float => format!("f{:016x}", node.payload),
        Kind::Text => format!("t{}", hex(bytes.as_ref())),
        _ => format!("b{}", hex(bytes.as_ref())),
    }
}

/// Returns `true` if two answers are equal. Errors may have different messages, and all NaNs are equal.
pub fn is_same(ours: &str, theirs: &str) -> bool {
    if theirs == "D" {
        return true;
    }
    if ours.starts_with('E') || theirs.starts_with('E') {
        return ours.starts_with('E') && theirs.starts_with('E');
    }
    let is_nan = |value: &str| {
        let bits = value.strip_prefix('f').and_then(|bits| u64::from_str_radix(bits, 16).ok());
        bits.is_some_and(|bits| f64::from_bits(bits).is_nan())
    };
    ours == theirs
        || ours.starts_with('V') && theirs.starts_with('V') && {
            let (ours, theirs): (Vec<_>, Vec<_>) = (ours[1..].split(',').collect(), theirs[1..].split(',').collect());
            ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| a == b || is_nan(a) && is_nan(b))
        }
}

/// Returns `true` if perl 5.36 returns what was in its memory before: for numbers of several bytes that end
/// early in text, and for invalid characters.
pub fn is_unpredictable(question: &Question) -> bool {
    let Question::Unpack(template, data) = question else { return false };
    let is_text = template.trim_start().starts_with('U') || template.contains("U0");
    let has_numbers = template.contains(|c| "sSiIlLqQjJnNvVfdFD".contains(c));
    // Sums of long doubles are rounded at each step, and not as long doubles.
    let has_long_sum = template.contains('%') && template.contains('D');
    has_long_sum || is_text && has_numbers || template.contains('U') && !data.is_ascii()
}
