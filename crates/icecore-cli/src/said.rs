//! One thing to say on stderr: an error, a loss, a note.

use crate::paint::{Ink, Paint};
use clap::ValueEnum;
use icecore::{Error, Loss};
use serde::Serialize;
use std::borrow::Cow;

/// How losses, notes and errors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    /// A line each, for people; errors show the input around them
    #[default]
    Text,
    /// An object a line
    Json,
}

/// What the engine advises, in the words of the command: other callers have no options.
fn name_options(text: String) -> String {
    const RAISE: &str = "raise the limit `";
    const TRUSTED: &str = "` if the input is trusted";
    const EACH: &str = "documents that stand one behind the other are read one by one, if that is asked for";
    let text = text.replace(EACH, "`--each` reads documents that stand one behind the other");
    let Some((before, (name, after))) =
        text.split_once(RAISE).and_then(|(before, rest)| Some((before, rest.split_once(TRUSTED)?)))
    else {
        return text;
    };
    format!("{before}{RAISE}{name}{TRUSTED}: `--limit {name}=N`{after}")
}

/// What is said. As text it is the input's name and the message; as JSON it has the fields
/// that are known. `docs/reports.md` describes them.
#[derive(Debug, Default, Serialize)]
pub struct Said<'s> {
    #[serde(rename = "type")]
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'s str>,
    /// Of `--each` and `rows`: which record or row, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    /// The exit code that it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// What the offset counts in, if not in the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Cow<'s, str>>,
    pub message: String,
}

impl<'s> Said<'s> {
    /// Something that leads to this exit code.
    pub fn error(code: u8, message: impl Into<String>) -> Said<'s> {
        Said { what: "error", code: Some(code), message: name_options(message.into()), ..Said::default() }
    }

    /// A change of meaning, in these words; `code`, if it is refused.
    pub fn loss(kind: &'s str, count: u64, path: &'s str, message: impl Into<String>) -> Said<'s> {
        let path = Some(path).filter(|path| !path.is_empty());
        Said { what: "loss", kind: Some(kind), count: Some(count), path, message: message.into(), ..Said::default() }
    }

    /// What is worth knowing, and wrong in no way.
    pub fn note(kind: &'s str, message: impl Into<String>) -> Said<'s> {
        Said { what: "note", kind: Some(kind), message: message.into(), ..Said::default() }
    }

    /// In this input.
    pub fn of(mut self, file: &'s str) -> Said<'s> {
        self.file = Some(file);
        self
    }

    pub fn in_record(mut self, record: u64, offset: Option<u64>) -> Said<'s> {
        self.record = Some(record);
        self.offset = self.offset.or(offset);
        self
    }

    pub fn with_kind(mut self, kind: &'s str) -> Said<'s> {
        self.kind = Some(kind);
        self
    }

    pub fn with_code(mut self, code: u8) -> Said<'s> {
        self.code = Some(code);
        self
    }

    pub fn counting(mut self, count: u64) -> Said<'s> {
        self.count = Some(count);
        self
    }

    pub fn at(mut self, path: &'s str) -> Said<'s> {
        self.path = Some(path);
        self
    }

    /// With the details of an error.
    pub fn because(mut self, error: &'s Error) -> Said<'s> {
        self.kind = Some(error.kind().as_str());
        (self.format, self.layer, self.offset) = (error.format(), error.layer(), error.offset());
        (self.path, self.expected, self.found) = (error.path(), error.expected(), error.found());
        self.help = error.help().map(|help| name_options(help.to_owned()).into());
        self
    }

    /// The line for people.
    pub fn text(&self, paint: Paint) -> String {
        let ink = if self.code.is_some() { Ink::Bad } else { Ink::Number };
        let who = paint.ink(ink, "icecore:");
        match self.file {
            Some(file) => format!("{who} {}\n", icecore::text::printable(&format!("{file}: {}", self.message))),
            None => format!("{who} {}\n", icecore::text::printable(&self.message)),
        }
    }
}

/// A loss of a document.
impl<'s> From<&'s Loss> for Said<'s> {
    fn from(loss: &'s Loss) -> Said<'s> {
        Said::loss(loss.kind.as_str(), loss.count, &loss.path, loss.to_string())
    }
}

/// The last line of `--report json`.
#[derive(Serialize)]
pub struct End {
    #[serde(rename = "type")]
    what: &'static str,
    /// The exit code.
    code: u8,
    inputs: u64,
    /// How many of them can't be decoded.
    undecodable: u64,
}

impl End {
    pub fn new(code: u8, inputs: u64, undecodable: u64) -> End {
        End { what: "end", code, inputs, undecodable }
    }
}
