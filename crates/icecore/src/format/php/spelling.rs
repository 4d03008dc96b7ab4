//! Codes of notes: each is a choice between several byte forms. The value of a note names
//! kept bytes: the source text, where the writer chooses another by default.

/// A scalar or a link, whole.
pub(super) const SOURCE: u16 = 1;
/// The key before the value, whole.
pub(super) const KEY: u16 = 2;
/// What stands before the first entry of a container or before the payload of
/// an opaque object, its bracket included.
pub(super) const HEAD: u16 = 3;
/// The number of objects in a storage, whole.
pub(super) const COUNT: u16 = 4;
/// What stands behind the last piece of a payload, which PHP does not look at.
pub(super) const TAIL: u16 = 5;
