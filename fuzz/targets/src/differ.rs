//! The differential targets: the real modules must accept and refuse what we
//! do, and read the same values.
//!
//! Where we differ on purpose, or where the comparison has no meaning, the
//! difference has a name here, and `fuzz/README.md` explains it.

use crate::perl::Answer;
use icecore::{Comparison, Cursor, Document, Error, ErrorKind, Key, Kind, Limits, Outcome, Request, Stage, Value};
use std::collections::HashSet;

/// What comes of a comparison.
pub enum Verdict {
    /// Both accept, and the values are equal.
    Equal,
    /// Both refuse.
    BothRefuse,
    /// They differ, as they may.
    Allowed(&'static str),
    /// They differ.
    Differs(String),
}

/// A format that perl reads too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// `Storable::thaw` and `retrieve`.
    Storable,
    /// `Sereal::Decoder`.
    Sereal,
}

impl Rival {
    /// The one with this name.
    pub fn named(name: &str) -> Option<Rival> {
        match name {
            "storable_diff" => Some(Rival::Storable),
            "sereal_diff" => Some(Rival::Sereal),
            _ => None,
        }
    }

    /// The format's name.
    pub fn format(self) -> &'static str {
        match self {
            Rival::Storable => "storable",
            Rival::Sereal => "sereal",
        }
    }

    /// The files whose blobs it starts from.
    pub fn seeds(self) -> &'static [&'static str] {
        match self {
            Rival::Storable => &["storable.jsonl"],
            Rival::Sereal => &["sereal.jsonl"],
        }
    }
}

/// Small, so that perl need not build what takes long.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 400;
    limits.nodes = 20_000;
    limits.decompressed = 1 << 20;
    limits
}

/// Why perl is not asked at all: it would run out of memory or crash.
pub fn spared(rival: Rival, data: &[u8]) -> Option<&'static str> {
    let limits = limits();
    let outcome = read(rival, data, &limits);
    match &outcome.error {
        Some(error) if error.kind() == ErrorKind::Limit => Some("a limit of ours"),
        Some(error) if error.kind() == ErrorKind::Truncated => {
            // It allocates first and looks then.
            Some("truncated: it makes room for what is said to come, or gives undef without an error")
        }
        _ => None,
    }
}

fn read<'a>(rival: Rival, data: &'a [u8], limits: &Limits) -> Outcome<'a> {
    let stage = Stage::parse(rival.format()).expect("a stage");
    (stage.format().read)(data, stage.settings(), Request::new(limits))
}

/// Compares what we make of a blob with what perl made of it.
pub fn compare(rival: Rival, data: &[u8], answer: &Answer) -> Verdict {
    let limits = limits();
    let ours = read(rival, data, &limits);
    match (&ours.error, answer) {
        (_, Answer::Died) => Verdict::Allowed("perl died"),
        (Some(_), Answer::Refused(_)) => Verdict::BothRefuse,
        (Some(error), Answer::Typed(typed)) => match refused_by_us(rival, error) {
            Some(name) => Verdict::Allowed(name),
            None => Verdict::Differs(format!("we refuse it: {error}\nperl reads {typed}")),
        },
        (None, Answer::Refused(reason)) => match refused_by_perl(rival, &ours.document, reason) {
            Some(name) => Verdict::Allowed(name),
            None => Verdict::Differs(format!("perl refuses it: {reason}\nwe read\n{:?}", ours.document)),
        },
        (None, Answer::Typed(typed)) => values(rival, &ours.document, typed),
    }
}

fn values(rival: Rival, document: &Document<'_>, typed: &str) -> Verdict {
    let stage = Stage::parse("json:typed").expect("a stage");
    let theirs = match icecore::read_as(typed.as_bytes(), &stage, &Limits::default()) {
        Ok(theirs) => theirs,
        Err(error) => match unreadable(&error, typed) {
            Some(name) => return Verdict::Allowed(name),
            None => return Verdict::Differs(format!("what perl says can't be read: {error}\n{typed}\n{document:?}")),
        },
    };
    let comparison = Comparison::new().any_order();
    if comparison.equal(document, &theirs) {
        return Verdict::Equal;
    }
    if comparison.any_ascii().equal(document, &theirs) {
        return Verdict::Allowed("ASCII that is flagged as UTF-8");
    }
    match other_value(rival, document, &theirs) {
        Some(name) => Verdict::Allowed(name),
        None => {
            let ours =
                icecore::write(document, "json:typed,sort_keys").map(|out| String::from_utf8_lossy(&out).into_owned());
            Verdict::Differs(format!(
                "other values\nours   {}\ntheirs {typed}\n{document:?}",
                ours.unwrap_or_else(|error| error.to_string())
            ))
        }
    }
}

/// What we refuse on purpose.
fn refused_by_us(_rival: Rival, error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::Limit => Some("a limit of ours"),
        ErrorKind::Truncated => Some("truncated"),
        ErrorKind::Trailing => Some("bytes behind the document"),
        _ => None,
    }
}

/// What perl refuses and we read.
fn refused_by_perl(rival: Rival, document: &Document<'_>, reason: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    if has(document, |kind| kind == Kind::Regexp) {
        return Some("it compiles regular expressions");
    }
    match rival {
        Rival::Storable => match () {
            () if says(&["Byte order", "Integer size", "Long integer size", "Pointer size", "Double size"]) => {
                Some("an image of another machine")
            }
            () if says(&["more recent than"]) => Some("a version of the future"),
            () if says(&["Cannot restore overloading"]) => Some("overloading needs the class"),
            () => None,
        },
        Rival::Sereal => None,
    }
}

/// Values that may differ.
fn other_value(_rival: Rival, ours: &Document<'_>, _theirs: &Document<'_>) -> Option<&'static str> {
    if has_duplicate_keys(ours) {
        return Some("a key twice: in perl the last one wins");
    }
    None
}

fn unreadable(_error: &Error, _typed: &str) -> Option<&'static str> {
    None
}

fn has(document: &Document<'_>, kind: impl Fn(Kind) -> bool) -> bool {
    document.nodes().iter().any(|node| kind(node.kind))
}

fn has_duplicate_keys(document: &Document<'_>) -> bool {
    (0..document.nodes().len() as u32).filter_map(|at| document.at(at)).any(|map| duplicates(map))
}

fn duplicates(map: Cursor<'_>) -> bool {
    let mut known = HashSet::new();
    map.entries().any(|(key, _)| match key {
        Key::Name(name) => !known.insert((name.bytes.to_vec(), !name.bytes.is_ascii() && name.node.kind == Kind::Text)),
        Key::Value(_) => false,
    })
}

/// Keeps the compiler's eye on what a document can hold.
#[allow(dead_code, reason = "for exceptions that look at values")]
fn any_value(document: &Document<'_>, is: impl Fn(Value<'_>) -> bool) -> bool {
    (0..document.nodes().len() as u32).filter_map(|at| document.at(at)).any(|cursor| is(cursor.value()))
}
