//! The tags: one table for code, errors and documentation.

/// The bit that says: something later refers to this item.
pub(super) const TRACK: u8 = 0x80;

/// A run of tags with one meaning.
#[derive(Debug)]
#[cfg_attr(not(test), allow(dead_code, reason = "a test compares the page with it"))]
pub(super) struct Row {
    pub(super) first: u8,
    pub(super) last: u8,
    pub(super) name: &'static str,
    /// What stands behind the tag, as `FORMAT.md` shows it.
    pub(super) follows: &'static str,
}

macro_rules! tags {
    ($($name:ident = $first:literal ..= $last:literal, $follows:literal;)*) => {
        $(
            #[allow(dead_code, reason = "tags that are always an error")]
            pub(super) const $name: u8 = $first;
        )*

        /// Every tag, in order.
        pub(super) static TABLE: &[Row] = &[
            $(Row { first: $first, last: $last, name: stringify!($name), follows: $follows }),*
        ];
    };
}

tags! {
    POS = 0 ..= 15, "nothing: the number 0 to 15";
    NEG = 16 ..= 31, "nothing: the number -16 to -1";
    VARINT = 32 ..= 32, "varint";
    ZIGZAG = 33 ..= 33, "zigzag varint";
    FLOAT = 34 ..= 34, "4 bytes, little-endian";
    DOUBLE = 35 ..= 35, "8 bytes, little-endian";
    LONG_DOUBLE = 36 ..= 36, "16 bytes: x87 extended, 6 bytes of padding";
    UNDEF = 37 ..= 37, "nothing";
    BINARY = 38 ..= 38, "length, bytes";
    STR_UTF8 = 39 ..= 39, "length, UTF-8";
    REFN = 40 ..= 40, "item: a reference to it";
    REFP = 41 ..= 41, "offset: a reference to the tracked item there";
    HASH = 42 ..= 42, "count, (key item, item) each";
    ARRAY = 43 ..= 43, "count, items";
    OBJECT = 44 ..= 44, "class name item, item";
    OBJECTV = 45 ..= 45, "offset of a class name, item";
    ALIAS = 46 ..= 46, "offset: the tracked variable there";
    COPY = 47 ..= 47, "offset: the item there again";
    WEAKEN = 48 ..= 48, "item, a reference, which is weak";
    REGEXP = 49 ..= 49, "pattern item, SHORT_BINARY modifiers";
    OBJECT_FREEZE = 50 ..= 50, "class name item, item: reference to an array";
    OBJECTV_FREEZE = 51 ..= 51, "offset of a class name, item: reference to an array";
    NO = 52 ..= 52, "nothing: false";
    YES = 53 ..= 53, "nothing: true";
    RESERVED = 54 ..= 55, "an error";
    FLOAT_128 = 56 ..= 56, "16 bytes: IEEE 754 binary128, little-endian";
    CANONICAL_UNDEF = 57 ..= 57, "nothing: perl's own undef";
    FALSE = 58 ..= 58, "nothing: perl's own false";
    TRUE = 59 ..= 59, "nothing: perl's own true";
    MANY = 60 ..= 60, "an error";
    PACKET_START = 61 ..= 61, "an error: the first byte of a document";
    EXTEND = 62 ..= 62, "an error";
    PAD = 63 ..= 63, "nothing: ignored before an item";
    ARRAYREF = 64 ..= 79, "as many items as the lower 4 bits say: REFN ARRAY in one";
    HASHREF = 80 ..= 95, "as many entries as the lower 4 bits say: REFN HASH in one";
    SHORT_BINARY = 96 ..= 127, "as many bytes as the lower 5 bits say";
}

/// The highest number of items of ARRAYREF and HASHREF.
pub(super) const MOST_IN_REF: usize = 15;
/// The longest SHORT_BINARY.
pub(super) const MOST_SHORT: usize = 31;

/// The name of a tag, whether tracked or not.
pub(super) fn name(tag: u8) -> &'static str {
    let tag = tag & !TRACK;
    TABLE.iter().find(|row| tag <= row.last).map_or("PAD", |row| row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_covers_all_tags_once() {
        let mut next = 0;
        for row in TABLE {
            assert_eq!(row.first, next, "{}", row.name);
            next = row.last + 1;
        }
        assert_eq!(next, 128);
    }

    #[test]
    fn the_page_shows_the_table() {
        let page = include_str!("FORMAT.md");
        for row in TABLE {
            let tags =
                if row.first == row.last { row.first.to_string() } else { format!("{}-{}", row.first, row.last) };
            let line = format!("| {tags} | {} | {} |", row.name, row.follows);
            assert!(page.contains(&line), "missing in FORMAT.md: {line}");
        }
    }
}
