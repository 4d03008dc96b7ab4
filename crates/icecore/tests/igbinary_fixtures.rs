//! igbinary compared with what the real extension wrote and read.

use crate::fixtures::{Fixture, base64, checker, folder, report};
use icecore::raw::Reader as _;
use icecore::{Cursor, Document, Key, Kind, Limits, Request, Stage, Value, format::igbinary};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::Command;

fn load() -> Vec<Fixture> {
    let text = std::fs::read_to_string(folder().join("igbinary.jsonl")).expect("the fixtures");
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line of JSON"));
    lines
        .map(|line| Fixture {
            name: line["name"].as_str().expect("a name").to_owned(),
            mode: line["mode"].as_str().expect("a mode").to_owned(),
            blob: base64(line["blob"].as_str().expect("a blob")),
            expected: line["value"].as_str().map(str::to_owned),
            line,
        })
        .collect()
}

fn is_undamaged(fixture: &Fixture) -> bool {
    fixture.mode != "damaged"
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Describes a document as `fixtures/php/igbinary-describe.php` describes a live value.
#[derive(Default)]
struct Describer {
    objects: HashMap<u32, usize>,
    variables: HashMap<u32, usize>,
    aliased: Vec<u32>,
    text: String,
}

fn describe(document: &Document<'_>) -> String {
    let aliases = document.nodes().iter().filter(|node| node.kind == Kind::Alias);
    let mut it = Describer { aliased: aliases.map(|node| node.payload as u32).collect(), ..Describer::default() };
    it.value(document.root());
    it.text.trim_end().to_owned()
}

impl Describer {
    fn note_object(&mut self, node: u32) -> bool {
        if let Some(number) = self.objects.get(&node) {
            let _ = write!(self.text, "={number} ");
            return false;
        }
        self.objects.insert(node, self.objects.len());
        true
    }

    fn value(&mut self, value: Cursor<'_>) {
        let node = value.index();
        match value.value() {
            Value::Alias(target) => {
                let target = target.index();
                // An alias of a variable whose value was already described.
                let _ = match self.variables.get(&target) {
                    Some(number) => write!(self.text, "&{number} "),
                    None => write!(self.text, "&?{target} "),
                };
                return;
            }
            _ if self.aliased.contains(&node) => {
                self.variables.insert(node, self.variables.len());
                self.text.push_str("&+ ");
            }
            _ => {}
        }
        self.describe_plain_value(value);
    }

    fn describe_plain_value(&mut self, value: Cursor<'_>) {
        let node = value.index();
        let _ = match value.value() {
            Value::Null => write!(self.text, "n "),
            Value::Bool(value) => write!(self.text, "{} ", if value { "t" } else { "f" }),
            Value::Int(value) => write!(self.text, "i{value} "),
            Value::Float(value) => write!(self.text, "d{:016x} ", value.to_bits()),
            Value::Bytes(value) => write!(self.text, "s{} ", hex(value)),
            Value::EnumCase(value) => {
                if self.note_object(node) {
                    let colon = value.iter().position(|byte| *byte == b':').expect("a colon");
                    let _ = write!(self.text, "e{}:{} ", hex(&value[..colon]), hex(&value[colon + 1..]));
                }
                return;
            }
            Value::Link(target) | Value::Copy(target) => return self.describe_plain_value(target),
            Value::Array | Value::Map => {
                let _ = write!(self.text, "a{}( ", value.len());
                return self.entries(value, false);
            }
            Value::Object(class, body) => {
                if self.note_object(node) {
                    let _ = write!(self.text, "o{}( ", hex(class));
                    self.entries(body, class != b"Frozen");
                }
                return;
            }
            Value::Opaque(class, payload) => {
                if self.note_object(node) {
                    let payload = payload.as_bytes().expect("a payload");
                    let _ = write!(self.text, "c{}:{} ", hex(class), hex(payload));
                }
                return;
            }
            _ => panic!("PHP has no {:?}", value.kind()),
        };
    }

    fn entries(&mut self, value: Cursor<'_>, names: bool) {
        if value.kind() == Kind::Array {
            for (number, item) in value.items().enumerate() {
                let _ = write!(self.text, "i{number} ");
                self.value(item);
            }
        }
        for (key, item) in value.entries() {
            let _ = match (key.node().kind, &key) {
                (Kind::Int, Key::Name(name)) if names => {
                    write!(self.text, "s{} ", hex((name.node.payload as i64).to_string().as_bytes()))
                }
                (Kind::Int, _) => write!(self.text, "i{} ", key.node().payload as i64),
                _ => write!(self.text, "s{} ", hex(key.bytes())),
            };
            self.value(item);
        }
        self.text.push_str(") ");
    }
}

/// Reason why PHP's value differs from its bytes, or has another variable than ours.
fn explain_difference(fixture: &Fixture) -> Option<&'static str> {
    match fixture.name.as_str() {
        "objects/sleep" => Some("a property that was left out has its default value again"),
        "references/object first by value, then twice"
        | "references/enum by value first"
        | "random/40"
        | "random/59"
        | "random/88" => Some("an object by value, and later by reference, is one variable here"),
        _ => None,
    }
}

#[test]
fn blobs_are_read_as_php_reads_them() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in load().iter().filter(|fixture| is_undamaged(fixture)) {
        let Some(expected) = &fixture.expected else { continue };
        if explain_difference(fixture).is_some() {
            continue;
        }
        total += 1;
        match igbinary::read(&fixture.blob, &Limits::default()) {
            Ok(document) if describe(&document) == *expected => {}
            Ok(document) => failures.push(format!("{}: {}\n   not {expected}", fixture.name, describe(&document))),
            Err(error) => failures.push(format!("{}: {error}", fixture.name)),
        }
    }
    report("reading", total, &failures);
}

#[test]
fn blobs_are_rewritten_byte_for_byte() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in load().iter().filter(|fixture| is_undamaged(fixture)) {
        total += 1;
        let limits = Limits::default();
        let read = igbinary::ReadOptions::default().read(&fixture.blob, Request::new(&limits).detailed());
        let mut out = Vec::new();
        let written = igbinary::write(&read.document, &igbinary::WriteOptions::default(), &limits, &mut out);
        let typed = icecore::write(&read.document, "json:typed,spelling").expect("typed JSON");
        let stage = Stage::parse("json:typed").expect("a stage");
        let spelled = icecore::read_as(&typed, &stage, &limits).expect("it is read");
        let rewritten = icecore::write(&spelled, "igbinary").expect("igbinary");
        if read.error.is_some() || written.is_err() || out != fixture.blob {
            let offset = out.iter().zip(&fixture.blob).take_while(|(a, b)| a == b).count() as u64;
            let windows = [&fixture.blob, &out].map(|bytes| icecore::text::window(bytes, offset)).concat();
            failures.push(format!("{}: {:?} {:?}\n{windows}", fixture.name, read.error, written.err()));
        } else if rewritten != fixture.blob {
            failures.push(format!("{} {}: not by way of typed JSON", fixture.name, fixture.mode));
        }
    }
    report("writing again", total, &failures);
}

#[test]
fn spans_tile_the_input() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in load().iter().filter(|fixture| is_undamaged(fixture)) {
        total += 1;
        let limits = Limits::default();
        let read = igbinary::ReadOptions::default().read(&fixture.blob, Request::new(&limits).detailed());
        let spans = &read.document.trace().expect("a trace").spans;
        let end = spans.iter().try_fold(0, |offset, span| (span.start == offset).then_some(span.end));
        if end != Some(fixture.blob.len() as u64) {
            failures.push(format!("{}: {end:?} of {}", fixture.name, fixture.blob.len()));
        }
    }
    report("tiling", total, &failures);
}

#[test]
fn every_truncation_is_an_error() {
    for fixture in load().iter().filter(|fixture| is_undamaged(fixture) && fixture.blob.len() < 3000) {
        for len in 0..fixture.blob.len() {
            assert!(igbinary::read(&fixture.blob[..len], &Limits::default()).is_err(), "{} cut to {len}", fixture.name);
        }
    }
}

/// Returns what the extension reads from each blob.
fn ask(blobs: &[Vec<u8>]) -> Option<Vec<String>> {
    let mut probe = Command::new("php");
    if !checker::has("php with igbinary", probe.args(["-r", "exit(extension_loaded('igbinary') ? 0 : 1);"])) {
        return None;
    }
    let script = folder().join("php/igbinary.php");
    Some(checker::ask(Command::new("php").arg(script).arg("--check"), &checker::in_base64(blobs)))
}

#[test]
fn the_extension_reads_our_output() {
    let blobs: Vec<_> = load()
        .into_iter()
        .filter(|fixture| is_undamaged(fixture) && fixture.expected.is_some() && explain_difference(fixture).is_none())
        .collect();
    for compact in [true, false] {
        let mut options = igbinary::WriteOptions::default();
        options.compact_strings = compact;
        let limits = Limits::default();
        let written: Vec<_> = blobs
            .iter()
            .map(|fixture| {
                let mut out = Vec::new();
                let document = igbinary::read(&fixture.blob, &limits).expect("it is read");
                let losses = igbinary::write(&document, &options, &limits, &mut out).expect("it is written");
                assert!(losses.is_empty(), "{}: {losses:?}", fixture.name);
                out
            })
            .collect();
        let Some(answers) = ask(&written) else { return };
        let mut failures = Vec::new();
        for (fixture, answer) in blobs.iter().zip(answers) {
            let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
            if answer["value"].as_str() != fixture.expected.as_deref() {
                failures.push(format!("{}: {answer}\n   not {:?}", fixture.name, fixture.expected));
            }
        }
        report("asking PHP", blobs.len(), &failures);
    }
}

/// Returns `true` if this is a case in which we are stricter than the extension on damaged bytes.
fn is_stricter(error: &icecore::Error) -> bool {
    let message = error.to_string();
    ["an integer of 64 bits with its sign", "a value after the reference", "a variable that holds a scalar"]
        .iter()
        .any(|part| message.contains(part))
}

/// Returns `true` if the extension refuses the bytes because of the classes in its program; the bytes
/// do not describe these.
fn is_about_the_program(complaint: &str) -> bool {
    ["class", "Class", "constant", "property", "Error:", "Exception:", "enum"]
        .iter()
        .any(|word| complaint.contains(word))
}

#[test]
fn damaged_blobs_are_refused_like_the_extension_does() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in load().iter().filter(|fixture| !is_undamaged(fixture)) {
        total += 1;
        let read = igbinary::read(&fixture.blob, &Limits::default());
        match (read, fixture.line["error"].as_str(), &fixture.expected) {
            (Ok(_), None, _) => {}
            (Err(_), Some(_), _) => {}
            (Err(error), None, _) if is_stricter(&error) => {}
            (Ok(_), Some(complaint), _) if is_about_the_program(complaint) => {}
            (read, complaint, _) => failures.push(format!(
                "{}: {:?}, PHP: {complaint:?}\n   {}",
                fixture.name,
                read.map(|_| ()),
                hex(&fixture.blob)
            )),
        }
    }
    report("damaged", total, &failures);
}
