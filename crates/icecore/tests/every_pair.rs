//! Converts every format to every other: unless the writer reported a loss, the value is still
//! there when the target is read again.

use crate::common;
use crate::fixtures;

use crate::common::{Palette, Random};
use crate::fixtures::Fixture;
use icecore::{Cursor, Document, Key, Kind, Limits, Losses, Request, Stage, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Fixtures of each format.
const SOURCES: &[(&str, &str)] = &[
    ("storable", "storable.jsonl"),
    ("sereal", "sereal.jsonl"),
    ("dumper", "dumper-read.jsonl"),
    ("php", "php.jsonl"),
    ("php-session", "php-session.jsonl"),
    ("var-export", "var-export.jsonl"),
    ("igbinary", "igbinary.jsonl"),
    ("marshal", "marshal.jsonl"),
];

const TARGETS: &[&str] = &[
    "storable",
    "sereal",
    "php",
    "php-session",
    "var-export",
    "igbinary",
    "marshal",
    "json",
    "json:typed",
    "dumper:purity,indent=1",
];

/// Number of blobs of a file that are tried.
const MAX_BLOBS: usize = 700;

/// Depth of the values that this test looks at.
const DEPTH: u32 = 200;

/// Text for the content of a document on which all languages would agree. Strings have no kind,
/// numbers are their digits, a list is a map with keys from 0, classes and members have no marks,
/// and the order of keys does not count. A value that occurs in several places is written in the
/// first place and named in the others.
struct CommonText<'d> {
    document: &'d Document<'d>,
    /// Targets of links and aliases.
    shared: HashSet<u32>,
    seen: HashMap<u32, usize>,
    depth: u32,
    is_too_deep: bool,
    /// Compares as Data::Dumper's text requires: floats are strings, and text whose characters are
    /// below 256 is bytes.
    is_loose: bool,
}

impl<'d> CommonText<'d> {
    fn of(document: &'d Document<'d>, is_loose: bool) -> Option<String> {
        let links = document.nodes().iter().filter(|node| matches!(node.kind, Kind::Link | Kind::Alias));
        // It makes no difference to a Ruby program whether two regexps are the same object.
        let is_shared = |offset: &u32| document.nodes()[*offset as usize].kind != Kind::Regexp;
        let shared = links.map(|node| resolve_links(document, node.payload as u32)).filter(is_shared).collect();
        let mut common = CommonText { document, shared, seen: HashMap::new(), depth: 0, is_too_deep: false, is_loose };
        let mut text = String::new();
        // In Perl, a scalar at the top is a reference to it.
        let root = document.root();
        common.value(if let Value::Ref(inner) = root.value() { inner } else { root }, &mut text);
        (!common.is_too_deep).then_some(text)
    }

    /// Writes a string that the text format may spell differently.
    fn string(&self, bytes: &[u8], is_text: bool, out: &mut String) {
        let text = std::str::from_utf8(bytes).ok();
        let is_integer = |text: &str| text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        let number = text.filter(|text| !is_integer(text)).map(str::parse::<f64>);
        match (text, number) {
            (_, Some(Ok(value))) if self.is_loose => float(value, out),
            (Some(text), _) if self.is_loose && is_text && text.chars().all(|c| u32::from(c) < 0x100) => {
                string(&text.chars().map(|c| c as u8).collect::<Vec<_>>(), out);
            }
            _ => string(bytes, out),
        }
    }

    fn value(&mut self, cursor: Cursor<'d>, out: &mut String) {
        self.depth += 1;
        self.is_too_deep |= self.depth > DEPTH;
        if !self.is_too_deep {
            self.describe_inner_value(cursor, out);
        }
        self.depth -= 1;
    }

    fn describe_inner_value(&mut self, mut cursor: Cursor<'d>, out: &mut String) {
        let node = resolve_links(self.document, cursor.index());
        cursor = self.document.at(node).expect("a node");
        if self.shared.contains(&node) {
            let next = self.seen.len();
            match self.seen.get(&node) {
                Some(number) => return *out += &format!("#{number}"),
                None => {
                    self.seen.insert(node, next);
                    *out += &format!("&{next}=");
                }
            }
        }
        match cursor.value() {
            Value::Null | Value::Hole => *out += "null",
            Value::Bool(value) => *out += if value { "true" } else { "false" },
            Value::Int(value) => *out += &format!("{:?}", value.to_string()),
            Value::Uint(value) => *out += &format!("{:?}", value.to_string()),
            Value::BigInt(value) => {
                let mut text = Vec::new();
                icecore::num::bigint::push_decimal(value.negative, value.magnitude, &mut text);
                string(&text, out);
            }
            Value::Float(value) => float(value, out),
            Value::Text(bytes) => self.string(bytes, true, out),
            Value::Bytes(bytes) => self.string(bytes, false, out),
            Value::Encoded(bytes, encoding) => {
                let encoding = std::str::from_utf8(encoding).unwrap_or_default();
                // JSON contains the characters.
                string(icecore::encoding::decoded(encoding, bytes).as_ref().map_or(bytes, |text| text.as_bytes()), out);
            }
            Value::Symbol(bytes, _) => string(bytes, out),
            Value::EnumCase(bytes) | Value::Module(bytes, _) => string(bytes, out),
            Value::Array => {
                let items = cursor.items().enumerate().map(|(node, item)| (format!("\"{node}\""), item));
                self.map(items.collect(), out);
            }
            Value::Map => {
                let mut entries = Vec::new();
                for (key, value) in cursor.entries() {
                    let mut text = String::new();
                    self.key(&key, false, &mut text);
                    entries.push((text, value));
                }
                self.map(entries, out);
            }
            Value::Object(class, body) => {
                *out += &format!("<{}>", String::from_utf8_lossy(class).replace('\\', "::"));
                if body.kind() != Kind::Map {
                    return self.value(body, out);
                }
                let mut entries = Vec::new();
                for (key, value) in body.entries() {
                    let mut text = String::new();
                    self.key(&key, true, &mut text);
                    entries.push((text, value));
                }
                self.map(entries, out);
            }
            // Each language has its own spelling; `regexps.rs` compares what they match.
            Value::Regexp(..) => *out += "regexp",
            _ => {
                *out += &format!("{:?}(", cursor.kind());
                let children: Vec<_> = cursor.children().collect();
                for child in children {
                    self.value(child, out);
                    *out += ",";
                }
                *out += ")";
            }
        }
    }

    fn map(&mut self, entries: Vec<(String, Cursor<'d>)>, out: &mut String) {
        // A key that is repeated has its last value.
        let entries: BTreeMap<_, _> = entries.into_iter().collect();
        *out += "{";
        for (key, value) in entries {
            *out += &key;
            *out += ":";
            self.value(value, out);
            *out += ",";
        }
        *out += "}";
    }

    fn key(&mut self, key: &Key<'d>, is_member: bool, out: &mut String) {
        let node = key.node();
        match (key, node.kind) {
            (_, Kind::Int) => *out += &format!("{:?}", (node.payload as i64).to_string()),
            (Key::Value(key), kind) if !kind.is_string() => self.value(*key, out),
            _ => {
                let mut name = key.bytes();
                if is_member && node.kind == Kind::Symbol {
                    name = name.strip_prefix(b"@").unwrap_or(name);
                }
                self.string(name, node.kind == Kind::Text, out);
            }
        }
    }
}

/// Returns the final target of a link.
fn resolve_links(document: &Document<'_>, mut offset: u32) -> u32 {
    for _ in 0..64 {
        let node = &document.nodes()[offset as usize];
        match node.kind {
            Kind::Link | Kind::Alias | Kind::Copy => offset = node.payload as u32,
            // The map that is the body of an object stands for the object.
            Kind::Map if offset > 0 && document.nodes()[offset as usize - 1].kind == Kind::Object => return offset - 1,
            _ => break,
        }
    }
    offset
}

fn float(value: f64, out: &mut String) {
    *out += &if value == value.trunc() && value.abs() < 9_007_199_254_740_992.0 {
        format!("{:?}", (value as i64).to_string())
    } else if value.is_nan() {
        "\"nan\"".to_owned()
    } else {
        format!("\"{value:?}\"")
    };
}

fn string(bytes: &[u8], out: &mut String) {
    *out += &format!("\"{}\"", bytes.escape_ascii());
}

/// Results of converting the blobs of one format to another.
#[derive(Default)]
struct Tally {
    exact: usize,
    lossy: usize,
    refused: usize,
}

/// Converts, reads again and compares.
fn try_one(document: &Document<'_>, to: &Stage, tally: &mut Tally) -> Result<(), String> {
    let limits = Limits::default();
    let mut bytes = Vec::new();
    let losses: Losses = match icecore::write_to(document, to, &limits, &mut bytes) {
        Ok(losses) => losses,
        Err(error) if error.kind() == icecore::ErrorKind::Unrepresentable => {
            if error.path().is_none() {
                return Err(format!("an error without a path: {error}"));
            }
            tally.refused += 1;
            return Ok(());
        }
        Err(error) => return Err(format!("can't be written: {error}")),
    };
    let after =
        icecore::read_as(&bytes, to, &limits).map_err(|error| format!("what was written can't be read: {error}"))?;
    if losses.is_empty() {
        let is_loose = to.format().name == "dumper";
        let (Some(before), Some(now)) = (CommonText::of(document, is_loose), CommonText::of(&after, is_loose)) else {
            return Ok(());
        };
        if before != now {
            return Err(format!("nothing reported, but {}", difference(&before, &now)));
        }
        tally.exact += 1;
    } else {
        // A loss does not happen a second time.
        let mut rewritten = Vec::new();
        icecore::write_to(&after, to, &limits, &mut rewritten)
            .map_err(|error| format!("not a second time: {error}"))?;
        let twice = icecore::read_as(&rewritten, to, &limits).map_err(|error| format!("second time: {error}"))?;
        if twice != after {
            return Err(format!("changes again\n  {after:?}\nbecame\n  {twice:?}"));
        }
        tally.lossy += 1;
    }
    Ok(())
}

/// Shows where two texts begin to differ.
fn difference(before: &str, now: &str) -> String {
    let same = before.bytes().zip(now.bytes()).take_while(|(one, other)| one == other).count();
    let part =
        |text: &str| text.as_bytes()[same.saturating_sub(40)..text.len().min(same + 60)].escape_ascii().to_string();
    format!("at {same}\n  {}\nbecame\n  {}", part(before), part(now))
}

fn take_sample(mut all: Vec<Fixture>) -> Vec<Fixture> {
    let step = all.len().div_ceil(MAX_BLOBS);
    let mut offset = 0;
    all.retain(|_| {
        offset += 1;
        (offset - 1) % step == 0
    });
    all
}

#[test]
fn conversions_keep_all_values_not_reported_as_lost() {
    let limits = Limits::default();
    let (mut failures, mut total) = (Vec::new(), 0);
    for (from, file) in SOURCES {
        let stage = Stage::parse(from).unwrap();
        let all = take_sample(fixtures::load(file));
        for target in TARGETS {
            let to = Stage::parse(target).unwrap();
            let mut tally = Tally::default();
            for fixture in &all {
                // Some fixtures are damaged.
                let Ok(document) = icecore::read_with(&fixture.blob, &stage, Request::new(&limits)) else { continue };
                total += 1;
                if let Err(why) = try_one(&document, &to, &mut tally) {
                    failures.push(format!("{from} to {target}: {} ({}): {why}", fixture.name, fixture.mode));
                }
            }
            println!(
                "{from} to {target}: {} exact, {} with losses, {} refused",
                tally.exact, tally.lossy, tally.refused
            );
            // Only maps can be written as sessions, and sessions are read as maps.
            let min_count = if *target == "php-session" { 5 } else { 30 };
            assert!(tally.exact > min_count, "{from} to {target}: hardly anything is compared");
        }
    }
    fixtures::report("pairs", total, &failures);
}

#[test]
fn random_documents_are_written_or_losses_are_reported() {
    let (mut failures, mut total) = (Vec::new(), 0);
    let mut random = Random::new(7);
    // Perl's formats write some references and their referents alike; `storable_property.rs` lists them.
    for target in TARGETS.iter().filter(|target| !matches!(**target, "storable" | "sereal" | "dumper:purity,indent=1"))
    {
        let to = Stage::parse(target).unwrap();
        let mut tally = Tally::default();
        for _ in 0..1500 {
            let seed = random.bits();
            let document = common::document(seed, *random.pick(&[Palette::Json, Palette::Perl]));
            total += 1;
            if let Err(why) = try_one(&document, &to, &mut tally) {
                failures.push(format!("seed {seed} to {target}: {why}"));
            }
        }
        println!("{target}: {} exact, {} with losses, {} refused", tally.exact, tally.lossy, tally.refused);
    }
    fixtures::report("random documents", total, &failures);
}
