//! The tags of Storable, as its source names them (`SX_*` in Storable.xs).

use crate::format::tags::{Count, Part, tags};

tags! {
    OBJECT = 0, "tag OBJECT", ["OBJECT", "an object that was stored before: its number"], [Part::Link];
    LSCALAR = 1, "tag LSCALAR", ["LSCALAR", "a byte string: 32-bit length"], [Part::Number, Part::Text(Count::Usual)];
    ARRAY = 2, "tag ARRAY", ["ARRAY", "an array: count, items"], [Part::Number, Part::Items(Count::Usual)];
    HASH = 3, "tag HASH", ["HASH", "a hash: count, then value and key of each entry"], [Part::Number, Part::Entries(Count::Usual)];
    REF = 4, "tag REF", ["REF", "a reference: what it refers to"], [Part::Number, Part::Value];
    UNDEF = 5, "tag UNDEF", ["UNDEF", "an undefined value"], [Part::Number];
    INTEGER = 6, "tag INTEGER", ["INTEGER", "a native integer"], [Part::Number, Part::Integer];
    DOUBLE = 7, "tag DOUBLE", ["DOUBLE", "a native float"], [Part::Number, Part::Float];
    BYTE = 8, "tag BYTE", ["BYTE", "an integer from -128 to 127: that plus 128"], [Part::Number, Part::Bytes(1)];
    NETINT = 9, "tag NETINT", ["NETINT", "a 32-bit integer, big-endian"], [Part::Number, Part::Bytes(4)];
    SCALAR = 10, "tag SCALAR", ["SCALAR", "a byte string: 8-bit length"], [Part::Number, Part::Text(Count::Byte)];
    TIED_ARRAY = 11, "tag TIED_ARRAY", ["TIED_ARRAY", "a tied array: its object"], [Part::Other];
    TIED_HASH = 12, "tag TIED_HASH", ["TIED_HASH", "a tied hash: its object"], [Part::Other];
    TIED_SCALAR = 13, "tag TIED_SCALAR", ["TIED_SCALAR", "a tied scalar: its object"], [Part::Other];
    SV_UNDEF = 14, "tag SV_UNDEF", ["SV_UNDEF", "perl's own undef; in an array, an element that does not exist"], [Part::Number];
    SV_YES = 15, "tag SV_YES", ["SV_YES", "perl's own true"], [Part::Number];
    SV_NO = 16, "tag SV_NO", ["SV_NO", "perl's own false"], [Part::Number];
    BLESS = 17, "tag BLESS", ["BLESS", "a blessed value: class name, value"], [Part::Name, Part::Value];
    IX_BLESS = 18, "tag IX_BLESS", ["IX_BLESS", "a blessed value: number of the class, value"], [Part::Again, Part::Value];
    HOOK = 19, "tag HOOK", ["HOOK", "an object frozen by its class"], [Part::Other];
    OVERLOAD = 20, "tag OVERLOAD", ["OVERLOAD", "a reference to an object whose class overloads operators"], [Part::Number, Part::Value];
    TIED_KEY = 21, "tag TIED_KEY", ["TIED_KEY", "an element of a tied hash: its object and key"], [Part::Other];
    TIED_IDX = 22, "tag TIED_IDX", ["TIED_IDX", "an element of a tied array: its object and index"], [Part::Other];
    UTF8STR = 23, "tag UTF8STR", ["UTF8STR", "a UTF-8 string: 8-bit length"], [Part::Number, Part::Text(Count::Byte)];
    LUTF8STR = 24, "tag LUTF8STR", ["LUTF8STR", "a UTF-8 string: 32-bit length"], [Part::Number, Part::Text(Count::Usual)];
    FLAG_HASH = 25, "tag FLAG_HASH", ["FLAG_HASH", "a hash with flags for itself and for each key"], [Part::Number, Part::Bytes(1), Part::Entries(Count::Usual)];
    CODE = 26, "tag CODE", ["CODE", "code: its source text"], [Part::Other];
    WEAKREF = 27, "tag WEAKREF", ["WEAKREF", "a weak reference"], [Part::Number, Part::Value];
    WEAKOVERLOAD = 28, "tag WEAKOVERLOAD", ["WEAKOVERLOAD", "a weak reference to an object with overloading"], [Part::Number, Part::Value];
    VSTRING = 29, "tag VSTRING", ["VSTRING", "a v-string: 8-bit length, source text, value"], [Part::Other];
    LVSTRING = 30, "tag LVSTRING", ["LVSTRING", "a v-string: 32-bit length, source text, value"], [Part::Other];
    SVUNDEF_ELEM = 31, "tag SVUNDEF_ELEM", ["SVUNDEF_ELEM", "an array element that is perl's own undef"], [Part::Number];
    REGEXP = 32, "tag REGEXP", ["REGEXP", "a regular expression: pattern and flags"], [Part::Other];
    LOBJECT = 33, "tag LOBJECT", ["LOBJECT", "a value whose length needs 64 bits"], [Part::Other];
    BOOLEAN_TRUE = 34, "tag BOOLEAN_TRUE", ["BOOLEAN_TRUE", "true"], [Part::Number];
    BOOLEAN_FALSE = 35, "tag BOOLEAN_FALSE", ["BOOLEAN_FALSE", "false"], [Part::Number];
}

/// Returns the tag's name.
pub(super) fn name_of(tag: u8) -> &'static str {
    TAGS.name_of_tag(tag).unwrap_or("unknown tag")
}

/// Marks of formats before 0.6.
pub(super) mod old {
    /// An item of an array follows.
    pub(in super::super) const ITEM: u8 = b'i';
    /// An undefined item of an array.
    pub(in super::super) const ITEM_UNDEF: u8 = b'I';
    /// A key follows.
    pub(in super::super) const KEY: u8 = b'k';
    /// A value of a hash follows.
    pub(in super::super) const VALUE: u8 = b'v';
    /// An undefined value of a hash.
    pub(in super::super) const VALUE_UNDEF: u8 = b'V';
    /// The class of the value just stored: 8-bit length.
    pub(in super::super) const CLASS: u8 = b'b';
    /// The class of the value just stored: 32-bit length.
    pub(in super::super) const LONG_CLASS: u8 = b'B';
    /// The end of a stored value.
    pub(in super::super) const STORED: u8 = b'X';
}

/// Flags of a `HOOK` record (`SHF_*`).
pub(super) mod hook {
    pub(in super::super) const TYPE: u8 = 0x03;
    pub(in super::super) const LARGE_CLASS: u8 = 0x04;
    pub(in super::super) const LARGE_STRING: u8 = 0x08;
    pub(in super::super) const LARGE_LIST: u8 = 0x10;
    pub(in super::super) const CLASS_INDEX: u8 = 0x20;
    pub(in super::super) const RECURSE: u8 = 0x40;
    pub(in super::super) const HAS_LIST: u8 = 0x80;

    pub(in super::super) const SCALAR: u8 = 0;
    pub(in super::super) const ARRAY: u8 = 1;
    pub(in super::super) const HASH: u8 = 2;
    pub(in super::super) const EXTRA: u8 = 3;

    pub(in super::super) const TIED_SCALAR: u8 = 4;
    pub(in super::super) const TIED_ARRAY: u8 = 5;
    pub(in super::super) const TIED_HASH: u8 = 6;
}

/// Flags of a `FLAG_HASH` and of its keys (`SHV_*`).
pub(super) mod hash {
    pub(in super::super) const RESTRICTED: u8 = 0x01;

    pub(in super::super) const KEY_UTF8: u8 = 0x01;
    pub(in super::super) const KEY_WAS_UTF8: u8 = 0x02;
    pub(in super::super) const KEY_LOCKED: u8 = 0x04;
    pub(in super::super) const KEY_IS_SV: u8 = 0x08;
    pub(in super::super) const KEY_PLACEHOLDER: u8 = 0x10;
}

/// Flag of a `REGEXP`: the length of the pattern needs 32 bits.
pub(super) const REGEXP_LONG: u8 = 1;

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_shows_the_table() {
        super::TAGS.is_on_page(include_str!("FORMAT.md"), |tags| tags[0].to_string());
    }
}
