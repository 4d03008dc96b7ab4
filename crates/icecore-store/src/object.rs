//! Objects and their descriptions.

use crate::id::Id;
use std::borrow::Cow;

/// An object that is to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewObject {
    /// Original bytes.
    pub bytes: Vec<u8>,
    /// The engine's description of the bytes.
    pub description: BlobDescription,
    /// Name given by the program. It is unique among all objects.
    pub key: Option<String>,
    /// When the object expires, in milliseconds since 1970. `None` means never.
    pub expires_at: Option<i64>,
    /// Whether the bytes are stored in a text column, as Base64.
    pub as_base64: bool,
    /// Id of the object in another database. `None` means a new id.
    pub id: Option<Id>,
    /// When the object was stored in that database. `None` means now.
    pub stored_at: Option<i64>,
}

/// The engine's description of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobDescription {
    /// Format of the bytes, such as `base64/marshal`. It is `None` if they can't be decoded.
    pub format: Option<String>,
    /// Class of the root value, if it has one.
    pub class: Option<String>,
    /// All classes in the bytes, each once.
    pub classes: Vec<String>,
    /// SHA-256 of the bytes, in hexadecimal digits.
    pub checksum: String,
    /// Readable copy. It is `None` if the bytes are JSON already or can't be decoded.
    pub json: Option<String>,
    /// Why the bytes can't be decoded.
    pub problem: Option<String>,
}

/// A stored object. It owns its texts and bytes, or borrows them (see [`LentObject`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object<T = String, B = Vec<u8>> {
    /// Id of the object.
    pub id: Id,
    /// Position among all objects. Later objects have a larger one.
    pub sequence: i64,
    /// Name given by the program.
    pub key: Option<T>,
    /// When the object was stored, in milliseconds since 1970, by the clock of the database.
    pub stored_at: i64,
    /// When the object expires. `None` means never.
    pub expires_at: Option<i64>,
    /// Format of the bytes. It is `None` if they could not be decoded.
    pub format: Option<T>,
    /// Class of the root value.
    pub class: Option<T>,
    /// SHA-256 of the bytes, in hexadecimal digits.
    pub checksum: T,
    /// Original bytes.
    pub bytes: B,
    /// Readable copy, if one was made.
    pub json: Option<T>,
    /// Why the bytes can't be decoded. An object with such a problem is in quarantine.
    pub problem: Option<T>,
}

/// An object borrowed from the database driver. It is valid only during the call that lends it.
pub type LentObject<'o> = Object<Cow<'o, str>, Cow<'o, [u8]>>;

impl<T, B> Object<T, B> {
    /// Returns the same object, with its texts and bytes converted by these functions.
    fn map_fields<'o, U, C>(&'o self, text: impl Fn(&'o T) -> U, bytes: impl Fn(&'o B) -> C) -> Object<U, C> {
        Object {
            id: self.id,
            sequence: self.sequence,
            key: self.key.as_ref().map(&text),
            stored_at: self.stored_at,
            expires_at: self.expires_at,
            format: self.format.as_ref().map(&text),
            class: self.class.as_ref().map(&text),
            checksum: text(&self.checksum),
            bytes: bytes(&self.bytes),
            json: self.json.as_ref().map(&text),
            problem: self.problem.as_ref().map(&text),
        }
    }
}

impl Object {
    /// Borrows the object.
    pub fn to_lent(&self) -> LentObject<'_> {
        self.map_fields(|text| Cow::Borrowed(&**text), |bytes| Cow::Borrowed(&**bytes))
    }
}

impl LentObject<'_> {
    /// Returns an owned copy.
    pub fn to_owned_object(&self) -> Object {
        self.map_fields(|text| text.to_string(), |bytes| bytes.to_vec())
    }
}

/// Filter for objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectFilter {
    /// Only objects that are of this class or contain it.
    pub class: Option<String>,
    /// Only objects that have this value, as JSON, at this path: `$.user.id`, `7`.
    pub path_value: Option<(String, String)>,
    /// Only objects that could not be decoded (`true`), or only those that could (`false`).
    pub quarantined: Option<bool>,
    /// Only objects stored before this time, in milliseconds since 1970.
    pub before: Option<i64>,
}
