//! The tags: one table for code, errors and documentation.

use crate::format::tags::{Count, Part, tags};

/// The tracking bit: something later refers to this item.
pub(super) const TRACK: u8 = 0x80;

tags! {
    POS = 0 ..= 15, "POS", ["POS", "nothing: the number 0 to 15"], [];
    NEG = 16 ..= 31, "NEG", ["NEG", "nothing: the number -16 to -1"], [];
    VARINT = 32, "VARINT", ["VARINT", "varint"], [Part::Integer];
    ZIGZAG = 33, "ZIGZAG", ["ZIGZAG", "zigzag varint"], [Part::Integer];
    FLOAT = 34, "FLOAT", ["FLOAT", "4 bytes, little-endian"], [Part::Bytes(4)];
    DOUBLE = 35, "DOUBLE", ["DOUBLE", "8 bytes, little-endian"], [Part::Bytes(8)];
    LONG_DOUBLE = 36, "LONG_DOUBLE", ["LONG_DOUBLE", "16 bytes: x87 extended, 6 bytes of padding"], [Part::Bytes(16)];
    UNDEF = 37, "UNDEF", ["UNDEF", "nothing"], [];
    BINARY = 38, "BINARY", ["BINARY", "length, bytes"], [Part::Text(Count::Usual)];
    STR_UTF8 = 39, "STR_UTF8", ["STR_UTF8", "length, UTF-8"], [Part::Text(Count::Usual)];
    REFN = 40, "REFN", ["REFN", "item: a reference to it"], [Part::Value];
    REFP = 41, "REFP", ["REFP", "offset: a reference to the tracked item there"], [Part::Link];
    HASH = 42, "HASH", ["HASH", "count, (key item, item) each"], [Part::Entries(Count::Usual)];
    ARRAY = 43, "ARRAY", ["ARRAY", "count, items"], [Part::Items(Count::Usual)];
    OBJECT = 44, "OBJECT", ["OBJECT", "class name item, item"], [Part::Value, Part::Value];
    OBJECTV = 45, "OBJECTV", ["OBJECTV", "offset of a class name, item"], [Part::Again, Part::Value];
    ALIAS = 46, "ALIAS", ["ALIAS", "offset: the tracked variable there"], [Part::Link];
    COPY = 47, "COPY", ["COPY", "offset: the item there again"], [Part::Again];
    WEAKEN = 48, "WEAKEN", ["WEAKEN", "item, a reference, which is weak"], [Part::Value];
    REGEXP = 49, "REGEXP", ["REGEXP", "pattern item, SHORT_BINARY modifiers"], [Part::Value, Part::Value];
    OBJECT_FREEZE = 50, "OBJECT_FREEZE", ["OBJECT_FREEZE", "class name item, item: reference to an array"], [Part::Value, Part::Value];
    OBJECTV_FREEZE = 51, "OBJECTV_FREEZE", ["OBJECTV_FREEZE", "offset of a class name, item: reference to an array"], [Part::Again, Part::Value];
    NO = 52, "NO", ["NO", "nothing: false"], [];
    YES = 53, "YES", ["YES", "nothing: true"], [];
    RESERVED = 54 ..= 55, "RESERVED", ["RESERVED", "an error"], [Part::Other];
    FLOAT_128 = 56, "FLOAT_128", ["FLOAT_128", "16 bytes: IEEE 754 binary128, little-endian"], [Part::Bytes(16)];
    CANONICAL_UNDEF = 57, "CANONICAL_UNDEF", ["CANONICAL_UNDEF", "nothing: perl's own undef"], [];
    FALSE = 58, "FALSE", ["FALSE", "nothing: perl's own false"], [];
    TRUE = 59, "TRUE", ["TRUE", "nothing: perl's own true"], [];
    MANY = 60, "MANY", ["MANY", "an error"], [Part::Other];
    PACKET_START = 61, "PACKET_START", ["PACKET_START", "an error: the first byte of a document"], [Part::Other];
    EXTEND = 62, "EXTEND", ["EXTEND", "an error"], [Part::Other];
    PAD = 63, "PAD", ["PAD", "nothing: ignored before an item"], [Part::Value];
    ARRAYREF = 64 ..= 79, "ARRAYREF", ["ARRAYREF", "as many items as the lower 4 bits say: REFN ARRAY in one"], [Part::Items(Count::Low(15))];
    HASHREF = 80 ..= 95, "HASHREF", ["HASHREF", "as many entries as the lower 4 bits say: REFN HASH in one"], [Part::Entries(Count::Low(15))];
    SHORT_BINARY = 96 ..= 127, "SHORT_BINARY", ["SHORT_BINARY", "as many bytes as the lower 5 bits say"], [Part::Text(Count::Low(31))];
}

/// Maximum number of items of ARRAYREF and HASHREF.
pub(super) const MAX_IN_REF: usize = 15;
/// The longest SHORT_BINARY.
pub(super) const MAX_SHORT_LEN: usize = 31;

/// Returns the name of a tag, whether tracked or not.
pub(super) fn name_of(tag: u8) -> &'static str {
    TAGS.name_of_tag(tag & !TRACK).unwrap_or("PAD")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_shows_the_table() {
        super::TAGS.is_on_page(include_str!("FORMAT.md"), |tags| match tags {
            [tag] => tag.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        });
        assert!((0..128).all(|tag| super::TAGS.row_of_tag(tag).is_some()));
    }
}
