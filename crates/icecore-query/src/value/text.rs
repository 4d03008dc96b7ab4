//! Strings, and keys of objects.

use super::Bytes;
use super::origin::Source;
use icecore::Kind;
use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A string. It should be UTF-8, but invalid bytes are kept.
#[derive(Clone, Debug)]
pub struct Text {
    pub bytes: Bytes,
    /// Whether the document had a byte string here, as in Perl and PHP, and not text.
    pub is_bytes: bool,
    /// Number of consecutive slices that made it.
    pub slice_depth: u32,
}

impl Text {
    pub fn new(bytes: &[u8]) -> Text {
        Text { bytes: bytes.into(), is_bytes: false, slice_depth: 0 }
    }

    /// Returns a part or a combination of strings of this kind.
    pub fn same_kind(&self, bytes: &[u8]) -> Text {
        Text { bytes: bytes.into(), is_bytes: self.is_bytes, slice_depth: 0 }
    }
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
    pub name: Bytes,
    pub spelling: KeySpelling,
}

impl Key {
    pub fn from_text(text: &Text) -> Key {
        let spelled = if text.is_bytes { KeySpelling::Bytes } else { KeySpelling::Text };
        Key { name: text.bytes.clone(), spelling: spelled }
    }

    pub fn to_text(&self) -> Text {
        Text { bytes: self.name.clone(), is_bytes: matches!(self.spelling, KeySpelling::Bytes), slice_depth: 0 }
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
