//! What is stored.

use crate::id::Id;
use std::borrow::Cow;

/// What is to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewObject {
    /// The original bytes.
    pub bytes: Vec<u8>,
    /// What the engine says of them.
    pub said: Described,
    /// A name of the program's own, which no other object has.
    pub key: Option<String>,
    /// When it is to go, in milliseconds since 1970; `None`: it stays.
    pub expires_at: Option<i64>,
    /// Whether the bytes go into a column of text, as Base64.
    pub as_base64: bool,
    /// The id that it has in another database; `None`: it gets a new one.
    pub id: Option<Id>,
    /// When it was stored there; `None`: now.
    pub stored_at: Option<i64>,
}

/// What the engine says of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// What the bytes are, as `base64/marshal`; `None`, if they can't be decoded.
    pub format: Option<String>,
    /// The class of the whole, if it has one.
    pub class: Option<String>,
    /// All classes in it, each once.
    pub classes: Vec<String>,
    /// SHA-256 of the bytes, in hexadecimal digits.
    pub checksum: String,
    /// A readable copy; `None`, if the bytes are JSON themselves or can't be decoded.
    pub json: Option<String>,
    /// Why they can't be decoded.
    pub problem: Option<String>,
}

/// What was stored. Its texts and bytes are its own, or lent: [`LentObject`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object<T = String, B = Vec<u8>> {
    /// Its id.
    pub id: Id,
    /// Where it stands among all: what is stored later has a larger one.
    pub sequence: i64,
    /// The name that the program gave it.
    pub key: Option<T>,
    /// When it was stored, in milliseconds since 1970, by the clock of the database.
    pub stored_at: i64,
    /// When it goes; `None`: it stays.
    pub expires_at: Option<i64>,
    /// What the bytes are; `None`, if they could not be decoded.
    pub format: Option<T>,
    /// The class of the whole.
    pub class: Option<T>,
    /// SHA-256 of the bytes, in hexadecimal digits.
    pub checksum: T,
    /// The original bytes.
    pub bytes: B,
    /// A readable copy, if one was made.
    pub json: Option<T>,
    /// Why they can't be decoded: the object is in quarantine.
    pub problem: Option<T>,
}

/// An object as the database has it in its hands: it is gone when the call that lends it
/// goes on.
pub type LentObject<'o> = Object<Cow<'o, str>, Cow<'o, [u8]>>;

impl<T, B> Object<T, B> {
    /// The same, whose texts and bytes these functions make.
    fn map<'o, U, C>(&'o self, text: impl Fn(&'o T) -> U, bytes: impl Fn(&'o B) -> C) -> Object<U, C> {
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
    /// Lends it.
    pub fn lent(&self) -> LentObject<'_> {
        self.map(|text| Cow::Borrowed(&**text), |bytes| Cow::Borrowed(&**bytes))
    }
}

impl LentObject<'_> {
    /// A copy that stays.
    pub fn kept(&self) -> Object {
        self.map(|text| text.to_string(), |bytes| bytes.to_vec())
    }
}

/// Which objects are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectFilter {
    /// Of this class, or with one of this class in it.
    pub class: Option<String>,
    /// At this path has this value, as JSON: `$.user.id`, `7`.
    pub at: Option<(String, String)>,
    /// Only those that could not be decoded, or only others.
    pub quarantined: Option<bool>,
    /// Stored before this time, in milliseconds since 1970.
    pub before: Option<i64>,
}
