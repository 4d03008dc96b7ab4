//! Codes of notes: each records a choice between several byte forms.

/// The minor version, for the whole document.
pub(super) const MINOR: u16 = 1;

/// Notes on a value.
pub(super) mod value {
    /// The text of a float, if Ruby would write another one for this value.
    pub(in super::super) const FLOAT: u16 = 1;
    /// Written as a link to this number, though the rules require none, or another one.
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
    /// The encoding of the name of a class or module. Since Ruby 4.0 such names have one. The value is one of those
    /// below, or, from `NAME_IN_FIRST` on, the id of the encoding's name.
    pub(in super::super) const NAME_ENCODING: u16 = 7;
    pub(in super::super) const NAME_IN_ASCII: u64 = 0;
    pub(in super::super) const NAME_IN_UTF8: u64 = 1;
    pub(in super::super) const NAME_IN_FIRST: u64 = 2;
}
