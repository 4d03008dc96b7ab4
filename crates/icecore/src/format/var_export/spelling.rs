//! Codes of notes: each records a choice between several byte forms. The value of a note
//! refers to kept bytes: the source text, if the writer would choose another by default.

/// For the whole document: the text before the value.
pub(super) const BEFORE: u16 = 1;
/// For the whole document: the text after the value.
pub(super) const AFTER: u16 = 2;

/// A whole scalar.
pub(super) const SOURCE: u16 = 1;
/// The whole key before the value.
pub(super) const KEY: u16 = 2;
/// The class of an object before `::__set_state`.
pub(super) const CLASS: u16 = 3;
