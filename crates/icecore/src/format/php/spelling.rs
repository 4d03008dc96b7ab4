//! Codes of notes: each records a choice between several byte forms. The value of a note
//! refers to kept bytes: the source text, if the writer would choose another by default.

/// A whole scalar or link.
pub(super) const SOURCE: u16 = 1;
/// The whole key before the value.
pub(super) const KEY: u16 = 2;
/// The text before the first entry of a container, or before the payload of an opaque
/// object, with its bracket.
pub(super) const HEAD: u16 = 3;
/// The whole number of objects in a storage.
pub(super) const COUNT: u16 = 4;
/// The text after the last piece of a payload. PHP ignores it.
pub(super) const TAIL: u16 = 5;
