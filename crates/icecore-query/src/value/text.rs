//! Strings, and keys of objects.

use super::Bytes;
use super::origin::Source;
use icecore::Kind;
use std::borrow::{Borrow, Cow};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A string. Filters see characters: those of UTF-8, or, if the bytes of the document are not UTF-8, a character of
/// Latin-1 for each byte, as JSON shows them. So all functions agree about a string. Where it is written, and in
/// `@base64`, it has its bytes again.
#[derive(Clone, Debug)]
pub struct Text {
    /// The characters that filters see, in UTF-8.
    pub bytes: Bytes,
    /// Whether the string, or a part of it, was not UTF-8: then its characters are written as Latin-1.
    pub is_latin1: bool,
    /// Whether the document had a byte string here, as in Perl and PHP, and not text.
    pub is_bytes: bool,
    /// Number of consecutive slices that made it.
    pub slice_depth: u32,
}

/// Returns the characters of bytes as they are shown: if they are not UTF-8, each byte is a character of Latin-1.
pub fn shown_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// Returns characters as bytes of Latin-1, if all of them have one.
pub fn latin1_bytes(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect()
}

impl Text {
    /// Creates a string from bytes, which should be UTF-8.
    pub fn new(bytes: &[u8]) -> Text {
        let is_bytes = false;
        Text::from_stored_bytes(bytes, is_bytes)
    }

    /// Creates a string from its bytes in a document.
    pub fn from_stored_bytes(bytes: &[u8], is_bytes: bool) -> Text {
        let shown = shown_text(bytes);
        let is_latin1 = matches!(shown, Cow::Owned(_));
        Text { bytes: shown.as_bytes().into(), is_latin1, is_bytes, slice_depth: 0 }
    }

    /// Returns the bytes with which the string is written.
    pub fn stored_bytes(&self) -> Cow<'_, [u8]> {
        let latin1 = if self.is_latin1 { latin1_bytes(&self.bytes) } else { None };
        latin1.map_or(Cow::Borrowed(&*self.bytes), Cow::Owned)
    }

    /// Returns a string of this kind with other characters, such as a part of it.
    pub fn same_kind(&self, characters: &[u8]) -> Text {
        Text { bytes: characters.into(), is_latin1: self.is_latin1, is_bytes: self.is_bytes, slice_depth: 0 }
    }

    /// Returns the string with another one appended. Of two byte strings the bytes are joined, as Perl and PHP do it,
    /// and of other strings the characters.
    pub fn append(self, other: &Text) -> Text {
        let is_bytes = self.is_bytes && other.is_bytes;
        let is_latin1 = self.is_latin1 || other.is_latin1;
        let has_bytes_of_utf8 = |text: &Text| is_bytes && is_latin1 && !text.is_latin1 && !text.bytes.is_ascii();
        let start = match has_bytes_of_utf8(&self) {
            true => bytes_as_characters(&self.bytes).into(),
            false => self.bytes,
        };
        let bytes = match has_bytes_of_utf8(other) {
            true => start.append(&bytes_as_characters(&other.bytes)),
            false => start.append(&other.bytes),
        };
        Text { bytes, is_latin1, is_bytes, slice_depth: 0 }
    }
}

/// Returns a character of Latin-1 for each byte, in UTF-8.
fn bytes_as_characters(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()
}

/// The form of a key in a document.
#[derive(Clone, Debug)]
pub enum KeySpelling {
    Text,
    Bytes,
    Int(i64),
    Symbol,
    Marked(Rc<MarkedName>),
    /// A key that is itself a value. The value is at this node.
    Node(Rc<Source>, u32),
}

/// A name with marks of its language, such as `@name` or `\0*\0name`, or with an encoding.
#[derive(Debug)]
pub struct MarkedName {
    pub raw: Vec<u8>,
    pub kind: Kind,
    pub encoding: String,
    pub is_locked: bool,
}

/// A key. It has the string that filters see, and the form in which it is written.
#[derive(Clone, Debug)]
pub struct Key {
    /// The bytes of the name. Different bytes are different keys, even if they are shown alike.
    pub name: Bytes,
    pub spelling: KeySpelling,
}

impl Key {
    pub fn from_text(text: &Text) -> Key {
        let spelled = if text.is_bytes { KeySpelling::Bytes } else { KeySpelling::Text };
        let name = match text.stored_bytes() {
            Cow::Owned(name) => name.into(),
            Cow::Borrowed(_) => text.bytes.clone(),
        };
        Key { name, spelling: spelled }
    }

    pub fn to_text(&self) -> Text {
        let is_bytes = matches!(self.spelling, KeySpelling::Bytes);
        match std::str::from_utf8(&self.name) {
            Ok(_) => Text { bytes: self.name.clone(), is_latin1: false, is_bytes, slice_depth: 0 },
            Err(_) => Text::from_stored_bytes(&self.name, is_bytes),
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.name
    }
}
