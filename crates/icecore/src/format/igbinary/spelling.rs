//! Codes of notes: each is a choice between several byte forms.

/// Of the whole: the version in the header.
pub(super) const VERSION: u16 = 1;

/// The tag, where another one would do: a number that is wider than it must be,
/// a negative zero, an object again as an array again.
pub(super) const TAG: u16 = 1;
/// A reference stands before the value.
pub(super) const REFERENCE: u16 = 2;
/// Which string of the table it is, plus one, where that is not the first with
/// these bytes; 0: it was written out although it was known, or empty.
pub(super) const STRING: u16 = 3;
/// As `TAG` and `STRING`, of the key of this value.
pub(super) const KEY_TAG: u16 = 4;
pub(super) const KEY_STRING: u16 = 5;
/// As `TAG` and `STRING`, of the class of this object.
pub(super) const CLASS_TAG: u16 = 6;
pub(super) const CLASS_STRING: u16 = 7;
/// An entry that is only a null for a key, which PHP writes for a property that
/// has no value yet: how many entries stand before it.
pub(super) const OMITTED: u16 = 8;
