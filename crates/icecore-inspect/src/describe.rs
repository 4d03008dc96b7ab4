//! Describes a value in a few words.

use icecore::num::{bigint, float128};
use icecore::{Cursor, Document, Kind, Known, Limits, Value, raw::flag, value::Form};

/// The kind of the text that describes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A number or a boolean.
    Number,
    /// The bytes of a string.
    String,
    /// The number of children.
    Count,
}

/// The kind and the content of a value.
pub struct ValueDescription {
    /// Its type: `text`, `array`, `object`.
    pub kind: &'static str,
    /// Its class, if it has one.
    pub class: Option<String>,
    /// Its content: the kind of text, and the text.
    pub value: Option<(Tone, String)>,
    /// Other properties: `weak`, `restricted`.
    pub marks: Vec<&'static str>,
}

/// Describes the value; strings are cut after `max_chars` characters.
pub fn describe_value(document: &Document<'_>, node: u32, max_chars: usize) -> ValueDescription {
    let Some(cursor) = document.at(node) else {
        return ValueDescription { kind: "nothing", class: None, value: None, marks: Vec::new() };
    };
    let class = cursor.node().kind.has_class().then(|| shorten_class(cursor.class(), max_chars));
    let class = class.filter(|class| !class.is_empty());
    ValueDescription {
        kind: kind_name(cursor),
        class,
        value: describe_content(cursor, max_chars),
        marks: list_marks(cursor),
    }
}

/// Returns a class name, shortened for people.
fn shorten_class(name: &[u8], max_chars: usize) -> String {
    const MAX_CLASS_LENGTH: usize = 160;
    if max_chars == 0 || name.len() <= MAX_CLASS_LENGTH {
        return to_printable(name);
    }
    let [front, back] = [&name[..MAX_CLASS_LENGTH / 2], &name[name.len() - MAX_CLASS_LENGTH / 2..]].map(to_printable);
    format!("{front}…({} bytes)…{back}", name.len() - MAX_CLASS_LENGTH)
}

/// Returns the kind and the value of a value's key, if the key has an id.
pub fn describe_key(document: &Document<'_>, value: u32, max_chars: usize) -> Option<(&'static str, Tone, String)> {
    let id = document.nodes().get(value as usize)?.key;
    let name = document.tape().keys().get(u32::from(id))?;
    Some(match name.node.kind {
        Kind::Int => ("int", Tone::Number, (name.node.payload as i64).to_string()),
        Kind::Symbol => ("symbol", Tone::String, quote_bytes(name.bytes, max_chars)),
        Kind::Text => ("text", Tone::String, quote_bytes(name.bytes, max_chars)),
        Kind::Encoded => ("string", Tone::String, quote_bytes(name.bytes, max_chars)),
        _ => ("bytes", Tone::String, quote_bytes(name.bytes, max_chars)),
    })
}

/// Summary of a value of one of Ruby's own classes.
pub struct KnownSummary {
    /// Its kind: `time`, `set`.
    pub known: &'static str,
    /// Its class.
    pub class: String,
    /// Its text, or its number of children.
    pub text: String,
    /// Whether the text says everything about the value.
    pub is_complete: bool,
}

/// Describes a value with a known layout; strings are cut after `max_chars` characters.
pub fn summarize_known(document: &Document<'_>, node: u32, max_chars: usize) -> Option<KnownSummary> {
    let cursor = document.at(node)?;
    let known = Known::of(cursor)?;
    let (text, is_whole) = match &known {
        Known::Time(moment) | Known::DateTime(moment) => (moment.readable(), true),
        Known::Set(members) => (counted(members.len() as u64, "item", "items"), false),
        Known::Map(map) => (counted(map.len() as u64, "entry", "entries"), false),
        Known::Exception(exception) => {
            let message = exception.message().target();
            let message = if let Value::Opaque(_, payload) = message.value() { payload } else { message };
            (
                message.as_bytes().map_or_else(|| "without message".to_owned(), |bytes| quote_bytes(bytes, max_chars)),
                false,
            )
        }
        text => (escape_text(&text.text(&Limits::default())?, max_chars), true),
    };
    Some(KnownSummary {
        known: known.name(),
        class: shorten_class(cursor.class(), max_chars),
        text,
        is_complete: is_whole,
    })
}

/// Returns a text without quotes, cut after `max_chars` characters, and escaped.
fn escape_text(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    let is_complete = push_escaped(text.as_bytes(), max_chars, &mut out);
    if !is_complete {
        out.push('…');
    }
    out
}

/// Returns bytes as text that can be shown.
pub fn to_printable(bytes: &[u8]) -> String {
    icecore::text::printable(&String::from_utf8_lossy(bytes)).into_owned()
}

/// Returns the name of a value's kind, as people know it in its language.
fn kind_name(cursor: Cursor<'_>) -> &'static str {
    match (cursor.kind(), cursor.node().form()) {
        (Kind::Null, _) => "null",
        (Kind::Bool, _) => "bool",
        (Kind::Int | Kind::Uint, _) => "int",
        (Kind::BigInt, _) => "bigint",
        (Kind::Float, _) => "float",
        (Kind::Float32, _) => "float32",
        (Kind::Float128, _) => "float128",
        (Kind::Bytes, _) => "bytes",
        (Kind::Text, _) => "text",
        (Kind::Encoded, _) => "string",
        (Kind::Symbol, _) => "symbol",
        (Kind::Module, Form::Module) => "module",
        (Kind::Module, _) => "class",
        (Kind::EnumCase, _) => "enum",
        (Kind::Hole, _) => "hole",
        (Kind::Link, _) => "link",
        (Kind::Alias, _) => "alias",
        (Kind::Copy, _) => "copy",
        (Kind::Array, _) => "array",
        (Kind::Map, _) => "map",
        (Kind::Ref, _) => "reference",
        (Kind::Object, Form::Struct) => "struct",
        (Kind::Object, _) => "object",
        (Kind::Opaque, Form::Hook) => "opaque (hook)",
        (Kind::Opaque, Form::Freeze) => "opaque (freeze)",
        (Kind::Opaque, Form::Serializable) => "opaque (C)",
        (Kind::Opaque, Form::UserDump) => "opaque (u)",
        (Kind::Opaque, Form::UserMarshal) => "opaque (U)",
        (Kind::Opaque, _) => "opaque",
        (Kind::Attrs, Form::Subclass) => "subclass",
        (Kind::Attrs, Form::Module) => "extended",
        (Kind::Attrs, _) => "attributes",
        (Kind::Regexp, _) => "regexp",
        (Kind::Code, _) => "code",
        (Kind::VString, _) => "v-string",
        (Kind::Tied, Form::TiedScalar) => "tied scalar",
        (Kind::Tied, Form::TiedArray) => "tied array",
        (Kind::Tied, Form::TiedHash) => "tied hash",
        (Kind::Tied, _) => "tied element",
        _ => "value",
    }
}

/// Maximum number of bytes of an integer that is shown in decimal digits. The time of the conversion is quadratic in
/// the number of bytes.
const MAX_DECIMAL_BYTES: usize = 256;

/// Returns the text of a leaf, or the size of a list or map, with its tone.
fn describe_content(cursor: Cursor<'_>, max_chars: usize) -> Option<(Tone, String)> {
    let number = |text: String| Some((Tone::Number, text));
    let string = |bytes: &[u8]| Some((Tone::String, quote_bytes(bytes, max_chars)));
    match cursor.value() {
        Value::Null | Value::Hole => None,
        Value::Bool(value) => number(value.to_string()),
        Value::Int(value) => number(value.to_string()),
        Value::Uint(value) => number(value.to_string()),
        Value::BigInt(value) => {
            let mut digits = Vec::new();
            if value.magnitude.len() > MAX_DECIMAL_BYTES {
                return number(format!("{} bits", value.magnitude.len() * 8));
            }
            bigint::push_decimal(value.negative, value.magnitude, &mut digits);
            number(String::from_utf8_lossy(&digits).into_owned())
        }
        Value::Float(value) => number(format!("{value:?}")),
        Value::Float128(bytes) => {
            let mut digits = Vec::new();
            float128::push_decimal(&bytes, &mut digits);
            match digits.is_empty() {
                true => number(format!("{:?}", float128::to_f64(&bytes))),
                false => number(String::from_utf8_lossy(&digits).into_owned()),
            }
        }
        Value::Bytes(bytes) | Value::Text(bytes) | Value::Module(bytes, _) | Value::EnumCase(bytes) => string(bytes),
        Value::Encoded(bytes, encoding) | Value::Symbol(bytes, encoding) => {
            let text = quote_bytes(bytes, max_chars);
            let encoding =
                if encoding.is_empty() { String::new() } else { format!(" ({})", shorten_class(encoding, max_chars)) };
            Some((Tone::String, format!("{text}{encoding}")))
        }
        Value::Array => Some((Tone::Count, count_children(cursor, "item", "items"))),
        Value::Map => Some((Tone::Count, count_children(cursor, "entry", "entries"))),
        _ => None,
    }
}

/// Returns a text with the number of children of a container. For a container that breaks off, the text has the
/// number that was read, and the declared number.
fn count_children(cursor: Cursor<'_>, singular: &str, plural: &str) -> String {
    let break_off = cursor.document().trace().and_then(|trace| trace.cut_at(cursor.index()));
    let Some(break_off) = break_off else { return counted(cursor.len() as u64, singular, plural) };
    let child_count = cursor.children().count() as u64;
    match break_off.of {
        Some(declared) => format!("{child_count} of {}", counted(u64::from(declared), singular, plural)),
        None => format!("{}, then cut", counted(child_count, singular, plural)),
    }
}

/// Returns a count with its noun.
pub fn counted(count: u64, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

/// Returns the string in quotes, cut if it is long. Invalid UTF-8 and characters that a terminal would interpret are
/// escaped.
pub fn quote_bytes(bytes: &[u8], max_chars: usize) -> String {
    let mut out = String::from("\"");
    let is_complete = push_escaped(bytes, max_chars, &mut out);
    out.push('"');
    if !is_complete {
        out.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    out
}

/// Appends up to `max_chars` characters. Returns true if these are all.
fn push_escaped(bytes: &[u8], max_chars: usize, out: &mut String) -> bool {
    let mut count = 0;
    let mut consumed = 0;
    // A character has at most four bytes, so `max_chars` characters are within these bytes. The rest is not examined.
    // The four bytes more show whether another character follows.
    let head = &bytes[..bytes.len().min(max_chars.saturating_mul(4).saturating_add(4))];
    for chunk in head.utf8_chunks() {
        for c in chunk.valid().chars() {
            if count >= max_chars {
                break;
            }
            count += 1;
            consumed += c.len_utf8();
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                c if !icecore::text::is_printable(c) => {
                    out.push_str(&format!("\\x{{{:x}}}", u32::from(c)));
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            if count >= max_chars {
                break;
            }
            count += 1;
            consumed += 1;
            out.push_str(&format!("\\x{byte:02x}"));
        }
        if count >= max_chars {
            break;
        }
    }
    consumed >= bytes.len()
}

fn list_marks(cursor: Cursor<'_>) -> Vec<&'static str> {
    let node = cursor.node();
    let is_map = node.kind == Kind::Map;
    let is_regexp = node.kind == Kind::Regexp;
    let marks = [
        (node.has(flag::WEAK), "weak"),
        (node.has(flag::OVERLOAD), "overloaded"),
        (is_map && node.has(flag::RESTRICTED), "restricted"),
        (is_map && node.has(flag::IDENTITY), "by identity"),
        (is_map && node.has(flag::DEFAULT), "with default"),
        (is_regexp && node.has(flag::BARE), "not blessed"),
    ];
    marks.into_iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_cut_and_escaped() {
        assert_eq!(quote_bytes(b"a\"b\\\n\x1b[31m\xff", 60), "\"a\\\"b\\\\\\n\\x{1b}[31m\\xff\"");
        assert_eq!(quote_bytes("ééé".as_bytes(), 2), "\"éé\"… (6 bytes)");
        assert_eq!(quote_bytes(b"", 0), "\"\"");
    }
}
