//! Codes of notes: each records a choice between several byte forms.

/// Notes on the image.
pub(super) mod header {
    /// Where the image was: 0 for memory, 1 for a file, 2 for a file with the magic from before 0.6.
    pub(in super::super) const FILE: u16 = 1;
    /// The major version.
    pub(in super::super) const MAJOR: u16 = 2;
    /// The minor version.
    pub(in super::super) const MINOR: u16 = 3;
    pub(in super::super) const NETORDER: u16 = 4;
    /// The digits of the byte order, as a number.
    pub(in super::super) const BYTEORDER: u16 = 5;
    /// The sizes of int, long, pointer, NV and IV, a byte each.
    pub(in super::super) const SIZES: u16 = 6;
}

/// Notes on a value.
pub(super) mod value {
    /// The tag, if it is not the writer's default.
    pub(in super::super) const TAG: u16 = 1;
    /// The bytes of a float, if they are not the default ones.
    pub(in super::super) const FLOAT: u16 = 2;
    /// The flags of a FLAG_HASH.
    pub(in super::super) const HASH_FLAGS: u16 = 3;
    /// The flags of the key of this value.
    pub(in super::super) const KEY_FLAGS: u16 = 4;
    /// A container without a REF before it.
    pub(in super::super) const BARE: u16 = 5;
    /// The class was given by name though it had a number (1), or with a longer length
    /// than needed (2). From bit 2 on: the lower bits of the byte that announces a long
    /// length, which have no meaning. From bit 16 on: its number plus one, if that is
    /// not the first with this name.
    pub(in super::super) const CLASS: u16 = 6;
    /// The flag bytes of a HOOK record.
    pub(in super::super) const HOOK: u16 = 7;
    /// The first byte of a REGEXP.
    pub(in super::super) const REGEXP: u16 = 8;
    /// The tag within a v-string or code record.
    pub(in super::super) const INNER_TAG: u16 = 9;
    /// The value was wrapped in LOBJECT.
    pub(in super::super) const LARGE: u16 = 10;
    /// The tag of a key that was stored as a value.
    pub(in super::super) const KEY_TAG: u16 = 11;
}
