//! Virtual fields. They show the class of a value, its JSON, or its entries without a field.

use super::record::ExtraEntry;
use super::text::Strings;
use crate::error::Error;
use crate::member::strip_php_marks;
use crate::mismatch::TypeMismatch;
use crate::view::{TapeView, Value};
use arrow_array::ArrayRef;
use arrow_array::types::Utf8Type;
use arrow_buffer::NullBuffer;
use icecore::{Builder, Codec, Document, Stage};
use std::collections::HashSet;

/// What a virtual field shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VirtualKind {
    /// The name of the object's class.
    Class,
    /// The value, as JSON.
    Json,
    /// The entries without a field, as a JSON object.
    Rest,
}

/// The texts of a virtual field.
#[derive(Debug)]
pub(crate) struct VirtualField {
    pub(crate) kind: VirtualKind,
    texts: Strings<i32>,
    json: Codec,
    /// The text that is being written.
    text: Vec<u8>,
}

impl VirtualKind {
    pub(crate) fn parse(word: &str) -> Option<VirtualKind> {
        match word {
            "class" => Some(VirtualKind::Class),
            "json" => Some(VirtualKind::Json),
            "rest" => Some(VirtualKind::Rest),
            _ => None,
        }
    }
}

impl VirtualField {
    pub(super) fn new(kind: VirtualKind) -> Result<VirtualField, Error> {
        Ok(VirtualField { kind, texts: Strings::new(), json: Codec::new(Stage::parse("json")?), text: Vec::new() })
    }

    /// Adds the class of the value. Returns `false` if it has none.
    pub(super) fn push_class(&mut self, view: &TapeView<'_>, node: u32) -> Result<bool, TypeMismatch> {
        let Some(class) = view.find_class(node) else { return Ok(false) };
        if std::str::from_utf8(class).is_err() {
            return Err(TypeMismatch::new(node, "the name of a class in UTF-8", "other bytes"));
        }
        self.push(class, node)?;
        Ok(true)
    }

    /// Adds the value as JSON. Returns `false` if it is null.
    pub(super) fn push_json(&mut self, view: &TapeView<'_>, node: u32) -> Result<bool, TypeMismatch> {
        self.text.clear();
        self.write_value(view, node)?;
        if self.text == b"null" {
            return Ok(false);
        }
        self.push_text(node)?;
        Ok(true)
    }

    /// Adds these entries as a JSON object.
    pub(super) fn push_entries(
        &mut self,
        view: &TapeView<'_>,
        node: u32,
        entries: &[ExtraEntry],
    ) -> Result<(), TypeMismatch> {
        self.text.clear();
        self.text.push(b'{');
        let mut written_names = HashSet::new();
        for entry in entries {
            if self.text.len() > 1 {
                self.text.push(b',');
            }
            self.write_key(view, entry, &mut written_names)?;
            self.text.push(b':');
            self.write_value(view, entry.value)?;
        }
        self.text.push(b'}');
        self.push_text(node)
    }

    fn write_value(&mut self, view: &TapeView<'_>, node: u32) -> Result<(), TypeMismatch> {
        let Some(document) = view.document else { return Ok(()) };
        let start = self.text.len();
        if self.write_leaf(view, node) {
            return view.spend_budget(node, self.text.len() - start);
        }
        if node == view.tape.root() {
            self.write_document(node, document)?;
        } else {
            let part = document.part(node).map_err(|error| unrepresentable_error(node, &error))?;
            view.spend_budget(node, size_of_val(part.nodes()))?;
            self.write_document(node, &part)?;
        }
        view.spend_budget(node, self.text.len() - start)
    }

    fn write_document(&mut self, node: u32, document: &Document<'_>) -> Result<(), TypeMismatch> {
        self.json.write(document, &mut self.text).map_err(|error| unrepresentable_error(node, &error))?;
        Ok(())
    }

    /// Writes null, a boolean, an integer or a text without escapes. Returns `false` and writes nothing for other
    /// values, which require a document.
    fn write_leaf(&mut self, view: &TapeView<'_>, node: u32) -> bool {
        match view.read_value(node) {
            Value::Null => self.text.extend_from_slice(b"null"),
            Value::Bool(value) => self.text.extend_from_slice(if value { b"true" } else { b"false" }),
            Value::Int(value) => self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
            Value::Text(text) if needs_no_escape(text) => self.write_quoted(text),
            _ => return false,
        }
        true
    }

    fn write_quoted(&mut self, text: &[u8]) {
        self.text.push(b'"');
        self.text.extend_from_slice(text);
        self.text.push(b'"');
    }

    /// Writes the bare name of a member, or its full name if another member has that bare name, like other JSON
    /// output.
    fn write_key(
        &mut self,
        view: &TapeView<'_>,
        entry: &ExtraEntry,
        written_names: &mut HashSet<Vec<u8>>,
    ) -> Result<(), TypeMismatch> {
        let mut digits = itoa::Buffer::new();
        let full_key = view.key_text(entry.key, &mut digits).unwrap_or_default();
        let has_taken_name = entry.has_taken_name
            || full_key.first() == Some(&0) && !written_names.insert(strip_php_marks(full_key).to_vec());
        let key = if has_taken_name { full_key } else { strip_php_marks(full_key) };
        if needs_no_escape(key) {
            self.write_quoted(key);
            return Ok(());
        }
        let mut builder = Builder::new();
        builder.bytes(key);
        let document = builder.finish().map_err(|error| unrepresentable_error(entry.value, &error))?;
        self.write_document(entry.value, &document)
    }

    fn push_text(&mut self, node: u32) -> Result<(), TypeMismatch> {
        let text = std::mem::take(&mut self.text);
        let pushed = self.push(&text, node);
        self.text = text;
        pushed
    }

    /// Adds a finished text.
    pub(super) fn push(&mut self, text: &[u8], node: u32) -> Result<(), TypeMismatch> {
        if self.texts.push(text) {
            Ok(())
        } else {
            Err(TypeMismatch::new(node, "at most 2 GB of strings in a batch", "more"))
        }
    }

    pub(super) fn push_empty(&mut self) {
        self.texts.push(b"");
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.texts.truncate(len);
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Error> {
        Ok(self.texts.finish::<Utf8Type>(nulls)?)
    }
}

/// Returns true if a text needs no escapes in JSON.
fn needs_no_escape(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
}

#[cold]
fn unrepresentable_error(node: u32, error: &icecore::Error) -> TypeMismatch {
    TypeMismatch::new(node, "a value that JSON can represent", error.to_string())
}
