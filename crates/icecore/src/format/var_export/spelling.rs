//! Codes of notes: each is a choice between several byte forms. The value of a note names
//! kept bytes: the source text, where the writer chooses another by default.

/// Of the whole: what stands before the value.
pub(super) const BEFORE: u16 = 1;
/// Of the whole: what stands behind the value.
pub(super) const BEHIND: u16 = 2;

/// A scalar, whole.
pub(super) const SOURCE: u16 = 1;
/// The key before the value, whole.
pub(super) const KEY: u16 = 2;
/// The class of an object before `::__set_state`.
pub(super) const CLASS: u16 = 3;
