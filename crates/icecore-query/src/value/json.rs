//! Values as JSON text: complete, for `tojson`, and shortened, for messages.

use super::{Latin1As, Number, Value};
use crate::memory;
use crate::query_thread::{self, Stop};
use icecore::{Limits, Stage};
use std::fmt::{self, Display, Formatter, Write};

/// An upper bound of what a writer outputs at a time.
const MAX_WRITTEN_AT_ONCE: u64 = 1 << 20;

impl Value {
    /// Returns the value as JSON. Stops the filter if that would be too large.
    pub fn to_json(&self) -> Vec<u8> {
        let mut limits = Limits::default();
        limits.output = memory::remaining_bytes();
        let mut out = Vec::new();
        let written = Stage::parse("json").and_then(|stage| {
            let document = self.to_document(Latin1As::Characters, &limits)?.document;
            icecore::write_to(&document, &stage, &limits, &mut out)
        });
        if written.is_err() {
            let is_full = out.len() as u64 + MAX_WRITTEN_AT_ONCE > limits.output;
            query_thread::stop_filter(if is_full { Stop::Memory } else { Stop::Size });
        }
        query_thread::count_steps(out.len() as u64 / 64);
        out
    }
}

impl Value {
    /// Returns the message of an error with this value.
    pub fn to_message(&self) -> String {
        match self.visible_value() {
            Value::Text(text) => String::from_utf8_lossy(&text.bytes).into_owned(),
            other => other.to_string(),
        }
    }
}

/// Maximum length of a value in a message.
const MAX_SHOWN: usize = 200;

/// Text that stops when it is long enough.
struct ShortText {
    text: String,
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        if self.text.len() > MAX_SHOWN { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Writes a quoted string. It examines only as much of a long string as can be shown.
fn write_quoted(bytes: &[u8], out: &mut ShortText) -> fmt::Result {
    let head = bytes.get(..MAX_SHOWN).unwrap_or(bytes);
    out.write_char('"')?;
    for letter in String::from_utf8_lossy(head).chars() {
        match letter {
            '"' | '\\' => write!(out, "\\{letter}")?,
            '\n' => out.write_str("\\n")?,
            letter if letter.is_control() => write!(out, "\\u{:04x}", letter as u32)?,
            letter => out.write_char(letter)?,
        }
    }
    if head.len() < bytes.len() {
        return Err(fmt::Error);
    }
    out.write_char('"')
}

/// Writes a value, with at most this number of levels.
fn write_short(value: &Value, depth: usize, out: &mut ShortText) -> fmt::Result {
    match value.visible_value() {
        Value::Null | Value::Absent(_) | Value::Preserved(_) => out.write_str("null"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Number(Number::Int(int)) => write!(out, "{int}"),
        // Converting a large integer to digits takes long, so only integers of this size are shown.
        Value::Number(Number::Big(big)) if big.bits() < 512 => write!(out, "{}", ***big),
        Value::Number(Number::Big(_)) => out.write_str("a large integer"),
        Value::Number(Number::Float(float)) => write!(out, "{float:?}"),
        Value::Text(text) => write_quoted(&text.bytes, out),
        Value::List(_) | Value::Map(_) if depth == 0 => out.write_str("…"),
        Value::List(list) => {
            out.write_char('[')?;
            for (index, item) in list.get().iter().enumerate() {
                out.write_str(if index > 0 { "," } else { "" })?;
                write_short(item, depth - 1, out)?;
            }
            out.write_char(']')
        }
        Value::Map(map) => {
            out.write_char('{')?;
            for (index, (key, item)) in map.get().iter().enumerate() {
                out.write_str(if index > 0 { "," } else { "" })?;
                write_quoted(&key.name, out)?;
                out.write_char(':')?;
                write_short(item, depth - 1, out)?;
            }
            out.write_char('}')
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut out = ShortText { text: String::new() };
        match write_short(self, 16, &mut out) {
            Ok(()) => f.write_str(&out.text),
            Err(_) => {
                let end = (0..=MAX_SHOWN).rev().find(|end| out.text.is_char_boundary(*end)).unwrap_or(0);
                write!(f, "{}…", out.text.get(..end).unwrap_or(""))
            }
        }
    }
}
