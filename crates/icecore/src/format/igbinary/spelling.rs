//! Codes of notes: each records a choice between several byte forms.

/// The version in the header, for the whole document.
pub(super) const VERSION: u16 = 1;

/// The tag, if it is not the default: a number that is wider than necessary, a negative
/// zero, an object again as an array again.
pub(super) const TAG: u16 = 1;
/// A reference precedes the value.
pub(super) const REFERENCE: u16 = 2;
/// The index of the string in the table, plus one, if it is not the first with these
/// bytes. 0 means that it was written in full although it was known, or empty.
pub(super) const STRING: u16 = 3;
/// Like `TAG` and `STRING`, for the key of this value.
pub(super) const KEY_TAG: u16 = 4;
pub(super) const KEY_STRING: u16 = 5;
/// Like `TAG` and `STRING`, for the class of this object.
pub(super) const CLASS_TAG: u16 = 6;
pub(super) const CLASS_STRING: u16 = 7;
/// An entry with only a null as its key, which PHP writes for a property without a
/// value. The value of the note is the number of entries that precede it.
pub(super) const OMITTED: u16 = 8;
