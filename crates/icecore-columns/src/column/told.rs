//! Virtual fields: what they show is computed from a value (its class, its JSON, its remaining entries).

use super::record::Left;
use super::text::Strings;
use crate::error::Error;
use crate::member::bare;
use crate::misfit::Misfit;
use crate::view::{Value, View};
use arrow_array::ArrayRef;
use arrow_array::types::Utf8Type;
use arrow_buffer::NullBuffer;
use icecore::{Builder, Codec, Document, Stage};
use std::collections::HashSet;

/// What a virtual field shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The name of the object's class.
    Class,
    /// The value, as JSON.
    Json,
    /// The entries without a field, as a JSON object.
    Rest,
}

#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) what: What,
    texts: Strings<i32>,
    json: Codec,
    /// The text that is being written.
    text: Vec<u8>,
}

impl What {
    pub(crate) fn parse(word: &str) -> Option<What> {
        match word {
            "class" => Some(What::Class),
            "json" => Some(What::Json),
            "rest" => Some(What::Rest),
            _ => None,
        }
    }
}

impl Told {
    pub(super) fn new(what: What) -> Result<Told, Error> {
        Ok(Told { what, texts: Strings::new(), json: Codec::new(Stage::parse("json")?), text: Vec::new() })
    }

    /// Adds the class of the value; `false` if it has none.
    pub(super) fn push_class(&mut self, view: &View<'_>, at: u32) -> Result<bool, Misfit> {
        let Some(class) = view.class(at) else { return Ok(false) };
        if std::str::from_utf8(class).is_err() {
            return Err(Misfit::new(at, "the name of a class in UTF-8", "other bytes"));
        }
        self.push(class, at)?;
        Ok(true)
    }

    /// Adds the value as JSON; `false` if it is null.
    pub(super) fn push_json(&mut self, view: &View<'_>, at: u32) -> Result<bool, Misfit> {
        self.text.clear();
        self.write(view, at)?;
        if self.text == b"null" {
            return Ok(false);
        }
        self.push_text(at)?;
        Ok(true)
    }

    /// Adds these entries as a JSON object.
    pub(super) fn push_entries(&mut self, view: &View<'_>, at: u32, entries: &[Left]) -> Result<(), Misfit> {
        self.text.clear();
        self.text.push(b'{');
        let mut written = HashSet::new();
        for entry in entries {
            if self.text.len() > 1 {
                self.text.push(b',');
            }
            self.write_key(view, entry, &mut written)?;
            self.text.push(b':');
            self.write(view, entry.value)?;
        }
        self.text.push(b'}');
        self.push_text(at)
    }

    fn write(&mut self, view: &View<'_>, at: u32) -> Result<(), Misfit> {
        let Some(document) = view.document else { return Ok(()) };
        let before = self.text.len();
        if self.write_leaf(view, at) {
            return view.spend(at, self.text.len() - before);
        }
        if at == view.tape.root() {
            self.write_document(at, document)?;
        } else {
            let part = document.part(at).map_err(|error| unsayable(at, &error))?;
            view.spend(at, size_of_val(part.nodes()))?;
            self.write_document(at, &part)?;
        }
        view.spend(at, self.text.len() - before)
    }

    fn write_document(&mut self, at: u32, document: &Document<'_>) -> Result<(), Misfit> {
        self.json.write(document, &mut self.text).map_err(|error| unsayable(at, &error))?;
        Ok(())
    }

    /// Writes values that are the same in every JSON output, without creating a document; returns `false` and writes
    /// nothing for other values.
    fn write_leaf(&mut self, view: &View<'_>, at: u32) -> bool {
        match view.value(at) {
            Value::Null => self.text.extend_from_slice(b"null"),
            Value::Bool(value) => self.text.extend_from_slice(if value { b"true" } else { b"false" }),
            Value::Int(value) => self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
            Value::Text(text) if is_plain(text) => self.quote(text),
            _ => return false,
        }
        true
    }

    fn quote(&mut self, text: &[u8]) {
        self.text.push(b'"');
        self.text.extend_from_slice(text);
        self.text.push(b'"');
    }

    /// Writes the bare name of a member, or its full name if another member has that bare name, as in other JSON
    /// output.
    fn write_key(&mut self, view: &View<'_>, entry: &Left, written: &mut HashSet<Vec<u8>>) -> Result<(), Misfit> {
        let mut digits = itoa::Buffer::new();
        let whole = view.key(entry.key, &mut digits).unwrap_or_default();
        let is_second = entry.is_second || whole.first() == Some(&0) && !written.insert(bare(whole).to_vec());
        let key = if is_second { whole } else { bare(whole) };
        if is_plain(key) {
            self.quote(key);
            return Ok(());
        }
        let mut b = Builder::new();
        b.bytes(key);
        let document = b.finish().map_err(|error| unsayable(entry.value, &error))?;
        self.write_document(entry.value, &document)
    }

    fn push_text(&mut self, at: u32) -> Result<(), Misfit> {
        let text = std::mem::take(&mut self.text);
        let pushed = self.push(&text, at);
        self.text = text;
        pushed
    }

    /// Adds a finished text.
    pub(super) fn push(&mut self, text: &[u8], at: u32) -> Result<(), Misfit> {
        if self.texts.push(text) { Ok(()) } else { Err(Misfit::new(at, "at most 2 GB of strings in a batch", "more")) }
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

/// Whether a text needs no escapes in JSON.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
}

#[cold]
fn unsayable(at: u32, error: &icecore::Error) -> Misfit {
    Misfit::new(at, "a value that JSON can say", error.to_string())
}
