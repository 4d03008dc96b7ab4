//! Keys that are not leaves: Ruby's arrays, maps, times and the like.

use super::Writer;
use crate::document::{Cursor, Key, Kind, Value};
use crate::format::json::emitter::quote_key;
use crate::format::json::number::{canonical_text, push_canonical};
use crate::format::json::style::TextStyle;
use crate::known::Known;
use crate::num::{FloatText, bigint};

/// Maximum number of levels of such a key.
const MAX_DEPTH: u32 = 16;
/// Maximum length of the text of such a key; targets of links count each time.
const MAX_TEXT: usize = 1 << 12;

impl Writer<'_, '_, '_> {
    /// Returns the key at `index` as text: an array or a map as JSON, a value of one of
    /// Ruby's own classes by its meaning. `None` for anything else, and if it is too
    /// large.
    #[cold]
    pub(super) fn container_key_text(&self, index: u32) -> Option<Vec<u8>> {
        let key = Cursor::new(self.document_as_read, index).target();
        if let Some(text) = Known::of(key).and_then(|known| known.text(self.limits)) {
            return Some(text.into_bytes());
        }
        let mut text = Vec::new();
        self.write_compact(key, MAX_DEPTH, &mut text)?;
        Some(text)
    }

    fn write_compact(&self, value: Cursor<'_>, depth: u32, out: &mut Vec<u8>) -> Option<()> {
        if depth == 0 || out.len() > MAX_TEXT {
            return None;
        }
        let value = value.target();
        let node = value.node();
        match value.value() {
            Value::Null | Value::Hole => out.extend_from_slice(b"null"),
            Value::Bool(is) => out.extend_from_slice(if is { b"true" } else { b"false" }),
            Value::Float(float) if !float.is_finite() => out.extend_from_slice(b"null"),
            Value::BigInt(number) if bigint::exceeds(number.magnitude, self.limits.digits) => return None,
            Value::Int(_) | Value::Uint(_) | Value::BigInt(_) => {
                push_canonical(node, value.document().bytes(node), out);
            }
            Value::Float(float) => out.extend_from_slice(FloatText::new().print(float)),
            Value::Bytes(bytes) | Value::Text(bytes) | Value::Encoded(bytes, _) | Value::Symbol(bytes, _) => {
                self.write_compact_string(node.kind, bytes, out);
            }
            Value::Array => {
                out.push(b'[');
                for (position, item) in value.items().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    self.write_compact(item, depth - 1, out)?;
                }
                out.push(b']');
            }
            Value::Map => {
                out.push(b'{');
                for (position, (key, item)) in value.entries().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    self.write_compact_key(&key, depth - 1, out)?;
                    out.push(b':');
                    self.write_compact(item, depth - 1, out)?;
                }
                out.push(b'}');
            }
            Value::Attrs(inner) => self.write_compact(inner, depth - 1, out)?,
            _ => match Known::of(value) {
                Some(Known::Set(members)) => {
                    out.push(b'[');
                    for (position, member) in members.iter().enumerate() {
                        if position > 0 {
                            out.push(b',');
                        }
                        match member {
                            Key::Value(member) => self.write_compact(member, depth - 1, out)?,
                            Key::Name(name) if name.node.kind == Kind::Int => push_canonical(&name.node, &[], out),
                            Key::Name(name) => self.write_compact_string(Kind::Text, name.bytes, out),
                        }
                    }
                    out.push(b']');
                }
                Some(known) => self.write_compact_string(Kind::Text, known.text(self.limits)?.as_bytes(), out),
                None => match value.value() {
                    Value::Object(_, body) if body.kind() == Kind::Map => self.write_compact(body, depth - 1, out)?,
                    _ => return None,
                },
            },
        }
        Some(())
    }

    fn write_compact_key(&self, key: &Key<'_>, depth: u32, out: &mut Vec<u8>) -> Option<()> {
        let node = key.node();
        let text = match key {
            Key::Value(value) if !node.kind.is_string() => {
                let mut text = Vec::new();
                self.write_compact(*value, depth, &mut text)?;
                text
            }
            _ if node.kind.is_string() => key.bytes().to_vec(),
            _ => canonical_text(&node, key.bytes()),
        };
        self.write_compact_string(Kind::Text, &text, out);
        Some(())
    }

    fn write_compact_string(&self, kind: Kind, bytes: &[u8], out: &mut Vec<u8>) {
        let text = self.encode_text(kind, bytes);
        let quoted = quote_key(
            &String::from_utf8_lossy(&text.bytes).into_owned().into_bytes(),
            TextStyle { escapes: self.emitter.style().escapes, ..TextStyle::default() },
        );
        out.extend_from_slice(quoted.strip_suffix(b":").unwrap_or(&quoted));
    }
}
