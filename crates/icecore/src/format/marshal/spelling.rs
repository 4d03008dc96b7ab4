//! Codes of notes: each is a choice between several byte forms.

/// Of the whole: the minor version.
pub(super) const MINOR: u16 = 1;

/// Of a value.
pub(super) mod value {
    /// The text of a float, where it is not Ruby's own for this value.
    pub(in super::super) const FLOAT: u16 = 1;
    /// Written as a link to this number, where the rules would not, or would
    /// choose another.
    pub(in super::super) const LINK: u16 = 2;
    /// A float written in full though an equal one has a number.
    pub(in super::super) const FRESH: u16 = 3;
    /// The key of this value is a link to this number.
    pub(in super::super) const KEY_LINK: u16 = 4;
    /// The key of this value is written in full though an equal one has a
    /// number.
    pub(in super::super) const KEY_FRESH: u16 = 5;
    /// The option byte of a regexp.
    pub(in super::super) const OPTIONS: u16 = 6;
    /// An encoding that says nothing: `E` on a name (1: true, 0: false).
    pub(in super::super) const NAME_ENCODING: u16 = 7;
}
