//! The tags. If a row has several tags, they are in the order of their widths.

use crate::format::tags::{Count, Part, tags};

tags! {
    NULL = 0x00, "null", ["null; as a key: an entry without key and value", ""], [];
    ARRAY_REF = 0x01 | 0x02 | 0x03, "array again", ["an array, or a variable, again", "its number"], [Part::Link];
    FALSE = 0x04, "false", ["false", ""], [];
    TRUE = 0x05, "true", ["true", ""], [];
    INT = 0x06 | 0x08 | 0x0a | 0x20, "integer", ["an integer", "its magnitude, 1, 2, 4 or 8 bytes"], [Part::Integer];
    NEGATIVE = 0x07 | 0x09 | 0x0b | 0x21, "negative integer", ["a negative integer", "its magnitude"], [Part::Integer];
    FLOAT = 0x0c, "float", ["a float", "8 bytes"], [Part::Bytes(8)];
    EMPTY = 0x0d, "empty string", ["the empty string", ""], [];
    STRING_ID = 0x0e | 0x0f | 0x10, "string again", ["a string again", "its number"], [Part::Again];
    STRING = 0x11 | 0x12 | 0x13 | 0x26, "string", ["a string", "its length in 1, 2, 4 or 8 bytes; the bytes"], [Part::Name];
    ARRAY = 0x14 | 0x15 | 0x16, "array", ["an array", "how many entries; key and value of each"], [Part::Number, Part::Entries(Count::Usual)];
    OBJECT = 0x17 | 0x18 | 0x19, "object", ["an object", "the length of its class name; the name; its body"], [Part::Name, Part::Number, Part::Body];
    OBJECT_ID = 0x1a | 0x1b | 0x1c, "object of a known class", ["an object of a known class", "the number of the name; its body"], [Part::Again, Part::Number, Part::Body];
    PAYLOAD = 0x1d | 0x1e | 0x1f, "payload", ["as a body: what `Serializable::serialize` returned", "its length; the bytes"], [Part::InBody, Part::Text(Count::Usual)];
    OBJECT_REF = 0x22 | 0x23 | 0x24, "object again", ["an object again", "its number"], [Part::Link];
    REFERENCE = 0x25, "reference", ["a variable that is shared by reference", "its value, or its number as above"], [Part::Body];
    ENUM = 0x27, "enum case", ["as a body: an enum case", "its name, a string"], [Part::InBody, Part::Named];
}

/// The last tag of the integers up to 32 bits. Their tags alternate between positive and
/// negative.
pub(super) const INT_LAST: u8 = 0x0b;
/// Integers of 64 bits, positive and negative.
pub(super) const INT64: u8 = 0x20;
pub(super) const INT64_NEGATIVE: u8 = 0x21;
pub(super) const STRING64: u8 = 0x26;

/// Returns the name of a tag.
pub(super) fn tag_name(tag: u8) -> &'static str {
    TAGS.name_of_tag(tag).unwrap_or("tag")
}

/// Returns the tag with the narrowest of three widths that fits the number.
pub(super) fn narrowest_for(first: u8, number: u64) -> u8 {
    match number {
        0..=0xff => first,
        0x100..=0xffff => first + 1,
        _ => first + 2,
    }
}

/// Returns the tag for a string of this length.
pub(super) fn for_string(len: usize) -> u8 {
    match len as u64 {
        0 => EMPTY,
        len if len > u64::from(u32::MAX) => STRING64,
        len => narrowest_for(STRING, len),
    }
}

/// Returns the tag for an integer.
pub(super) fn for_integer(value: i64) -> u8 {
    let sign = u8::from(value < 0);
    match value.unsigned_abs() {
        0..=0xff => INT + sign,
        0x100..=0xffff => INT + 2 + sign,
        0x1_0000..=0xffff_ffff => INT + 4 + sign,
        _ => INT64 + sign,
    }
}

/// Returns the number of bytes after an integer's tag; `None` for other tags.
pub(super) fn integer_size(tag: u8) -> Option<usize> {
    match tag {
        INT..=INT_LAST => Some(1 << ((tag - INT) / 2)),
        INT64 | INT64_NEGATIVE => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_shows_the_table() {
        super::TAGS.is_on_page(include_str!("FORMAT.md"), |tags| {
            tags.iter().map(|tag| format!("`{tag:02x}`")).collect::<Vec<_>>().join(" ")
        });
    }
}
