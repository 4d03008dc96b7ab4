//! Strings, and keys of objects.

use super::Bytes;
use super::origin::Source;
use icecore::Kind;
use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A string: characters in UTF-8, where it can be read as that. Bytes that can't are kept.
#[derive(Clone, Debug)]
pub struct Text {
    pub bytes: Bytes,
    /// Whether its document had bytes here, as Perl and PHP have, and no text.
    pub is_bytes: bool,
    /// Of how many parts it is a part.
    pub cuts: u32,
}

impl Text {
    pub fn new(bytes: &[u8]) -> Text {
        Text { bytes: bytes.into(), is_bytes: false, cuts: 0 }
    }

    /// A part or a combination of strings of this kind.
    pub fn like(&self, bytes: &[u8]) -> Text {
        Text { bytes: bytes.into(), is_bytes: self.is_bytes, cuts: 0 }
    }
}

/// How a key stands in a document.
#[derive(Clone, Debug)]
pub enum Spelled {
    Text,
    Bytes,
    Int(i64),
    Symbol,
    Marked(Rc<Marked>),
    /// A key that is a value of its own: the one at this node.
    Node(Rc<Source>, u32),
}

/// A name with marks of its language, as `@name` or `\0*\0name`, or in an encoding of its own.
#[derive(Debug)]
pub struct Marked {
    pub raw: Vec<u8>,
    pub kind: Kind,
    pub encoding: String,
    pub is_locked: bool,
}

/// A key: what filters see of it, a string; and how it is written.
#[derive(Clone, Debug)]
pub struct Key {
    pub shown: Bytes,
    pub spelled: Spelled,
}

impl Key {
    pub fn of(text: &Text) -> Key {
        let spelled = if text.is_bytes { Spelled::Bytes } else { Spelled::Text };
        Key { shown: text.bytes.clone(), spelled }
    }

    pub fn text(&self) -> Text {
        Text { bytes: self.shown.clone(), is_bytes: matches!(self.spelled, Spelled::Bytes), cuts: 0 }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.shown == other.shown
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shown.hash(state);
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.shown
    }
}
