//! The tags of Storable, as its source names them (`SX_*` in Storable.xs).

macro_rules! tags {
    ($($name:ident = $value:expr, $text:literal;)*) => {
        $(#[doc = concat!("`SX_", stringify!($name), "`: ", $text)] pub(super) const $name: u8 = $value;)*

        /// Tag, name and what it is.
        #[cfg(test)]
        const TABLE: &[(u8, &str, &str)] = &[$(($value, stringify!($name), $text)),*];

        /// The tag's name.
        pub(super) fn name(tag: u8) -> &'static str {
            match tag {
                $($name => concat!("tag ", stringify!($name)),)*
                _ => "unknown tag",
            }
        }
    };
}

tags! {
    OBJECT = 0, "an object that was stored before: its number";
    LSCALAR = 1, "a byte string: 32-bit length";
    ARRAY = 2, "an array: count, items";
    HASH = 3, "a hash: count, then value and key of each entry";
    REF = 4, "a reference: what it refers to";
    UNDEF = 5, "an undefined value";
    INTEGER = 6, "a native integer";
    DOUBLE = 7, "a native float";
    BYTE = 8, "an integer from -128 to 127: that plus 128";
    NETINT = 9, "a 32-bit integer, big-endian";
    SCALAR = 10, "a byte string: 8-bit length";
    TIED_ARRAY = 11, "a tied array: its object";
    TIED_HASH = 12, "a tied hash: its object";
    TIED_SCALAR = 13, "a tied scalar: its object";
    SV_UNDEF = 14, "perl's own undef; in an array, an element that does not exist";
    SV_YES = 15, "perl's own true";
    SV_NO = 16, "perl's own false";
    BLESS = 17, "a blessed value: class name, value";
    IX_BLESS = 18, "a blessed value: number of the class, value";
    HOOK = 19, "an object frozen by its class";
    OVERLOAD = 20, "a reference to an object whose class overloads operators";
    TIED_KEY = 21, "an element of a tied hash: its object and key";
    TIED_IDX = 22, "an element of a tied array: its object and index";
    UTF8STR = 23, "a UTF-8 string: 8-bit length";
    LUTF8STR = 24, "a UTF-8 string: 32-bit length";
    FLAG_HASH = 25, "a hash with flags for itself and for each key";
    CODE = 26, "code: its source text";
    WEAKREF = 27, "a weak reference";
    WEAKOVERLOAD = 28, "a weak reference to an object with overloading";
    VSTRING = 29, "a v-string: 8-bit length, source text, value";
    LVSTRING = 30, "a v-string: 32-bit length, source text, value";
    SVUNDEF_ELEM = 31, "an array element that is perl's own undef";
    REGEXP = 32, "a regular expression: pattern and flags";
    LOBJECT = 33, "a value whose length needs 64 bits";
    BOOLEAN_TRUE = 34, "true";
    BOOLEAN_FALSE = 35, "false";
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
    /// The class of what was just stored: 8-bit length.
    pub(in super::super) const CLASS: u8 = b'b';
    /// The class of what was just stored: 32-bit length.
    pub(in super::super) const LONG_CLASS: u8 = b'B';
    /// The end of what was stored.
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

/// Flag of a `REGEXP`: the length of the pattern takes 32 bits.
pub(super) const REGEXP_LONG: u8 = 1;

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_has_each_tag() {
        let page = include_str!("FORMAT.md");
        for (number, (tag, name, text)) in super::TABLE.iter().enumerate() {
            assert_eq!(number, usize::from(*tag));
            let row = format!("| {tag} | {name} | {text} |");
            assert!(page.lines().any(|line| line == row), "{row}");
        }
    }
}
