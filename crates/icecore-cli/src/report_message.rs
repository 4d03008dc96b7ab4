//! A report on stderr: an error, a loss or a note.

use crate::paint::{Ink, Paint};
use clap::ValueEnum;
use icecore::{Error, Loss};
use serde::Serialize;
use std::borrow::Cow;

/// How losses, notes and errors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    /// One line each, for people; errors show the input around them
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// Adds the names of command-line options to advice of the engine. The engine does not name them because its other
/// callers have no command line.
fn add_option_names(text: String) -> String {
    const LIMIT_ADVICE_START: &str = "raise the limit `";
    const LIMIT_ADVICE_END: &str = "` if the input is trusted";
    const ONE_BY_ONE_ADVICE: &str = "documents that follow one another can be read one by one";
    let text = text.replace(ONE_BY_ONE_ADVICE, "`--each` reads documents that follow one another");
    let Some((before, (name, after))) = text
        .split_once(LIMIT_ADVICE_START)
        .and_then(|(before, rest)| Some((before, rest.split_once(LIMIT_ADVICE_END)?)))
    else {
        return text;
    };
    format!("{before}{LIMIT_ADVICE_START}{name}{LIMIT_ADVICE_END}: `--limit {name}=N`{after}")
}

/// One report. As text it consists of the input's name and the message; as JSON it has all fields that are
/// known. `docs/reports.md` describes them.
#[derive(Debug, Default, Serialize)]
pub struct ReportMessage<'s> {
    #[serde(rename = "type")]
    message_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'s str>,
    /// Number of the record or row, from 1 on, for `--each` and `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    /// Exit code that this report causes.
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
    /// Layer in which the offset counts, if not in the input.
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

impl<'s> ReportMessage<'s> {
    /// Returns an error that causes this exit code.
    pub fn error(code: u8, message: impl Into<String>) -> ReportMessage<'s> {
        ReportMessage {
            message_type: "error",
            code: Some(code),
            message: add_option_names(message.into()),
            ..ReportMessage::default()
        }
    }

    /// Returns a change of meaning, described by `message`.
    pub fn loss(kind: &'s str, count: u64, path: &'s str, message: impl Into<String>) -> ReportMessage<'s> {
        let path = Some(path).filter(|path| !path.is_empty());
        ReportMessage {
            message_type: "loss",
            kind: Some(kind),
            count: Some(count),
            path,
            message: message.into(),
            ..ReportMessage::default()
        }
    }

    /// Returns a note: useful information that is not a problem.
    pub fn note(kind: &'s str, message: impl Into<String>) -> ReportMessage<'s> {
        ReportMessage { message_type: "note", kind: Some(kind), message: message.into(), ..ReportMessage::default() }
    }

    /// Sets the name of the input.
    pub fn for_input(mut self, file: &'s str) -> ReportMessage<'s> {
        self.file = Some(file);
        self
    }

    pub fn in_record(mut self, record: u64, offset: Option<u64>) -> ReportMessage<'s> {
        self.record = Some(record);
        self.offset = self.offset.or(offset);
        self
    }

    pub fn with_kind(mut self, kind: &'s str) -> ReportMessage<'s> {
        self.kind = Some(kind);
        self
    }

    pub fn with_code(mut self, code: u8) -> ReportMessage<'s> {
        self.code = Some(code);
        self
    }

    pub fn with_count(mut self, count: u64) -> ReportMessage<'s> {
        self.count = Some(count);
        self
    }

    pub fn at_path(mut self, path: &'s str) -> ReportMessage<'s> {
        self.path = Some(path);
        self
    }

    /// Adds the details of an error.
    pub fn with_error(mut self, error: &'s Error) -> ReportMessage<'s> {
        self.kind = Some(error.kind().as_str());
        (self.format, self.layer, self.offset) = (error.format(), error.layer(), error.offset());
        (self.path, self.expected, self.found) = (error.path(), error.expected(), error.found());
        self.help = error.help().map(|help| add_option_names(help.to_owned()).into());
        self
    }

    /// Returns the line for people.
    pub fn format_line(&self, paint: Paint) -> String {
        let ink = if self.code.is_some() { Ink::Bad } else { Ink::Number };
        let program = paint.ink(ink, "icecore:");
        match self.file {
            Some(file) => format!("{program} {}\n", icecore::text::printable(&format!("{file}: {}", self.message))),
            None => format!("{program} {}\n", icecore::text::printable(&self.message)),
        }
    }
}

/// Converts a loss of a document.
impl<'s> From<&'s Loss> for ReportMessage<'s> {
    fn from(loss: &'s Loss) -> ReportMessage<'s> {
        ReportMessage::loss(loss.kind.as_str(), loss.count, &loss.path, loss.to_string())
    }
}

/// The last line of `--report json`.
#[derive(Serialize)]
pub struct EndMessage {
    #[serde(rename = "type")]
    message_type: &'static str,
    /// Exit code of the command.
    code: u8,
    inputs: u64,
    /// Number of inputs that can't be decoded.
    undecodable: u64,
    /// Number of inputs that can't be read, or whose result can't be written.
    failed: u64,
}

impl EndMessage {
    pub fn new(code: u8, inputs: u64, undecodable: u64, failed: u64) -> EndMessage {
        EndMessage { message_type: "end", code, inputs, undecodable, failed }
    }
}
