//! The tags. Where a tag comes in three widths, the name is that of the first.

pub(super) const NULL: u8 = 0x00;
/// A value that has a number, again: 8, 16 and 32 bits.
pub(super) const ARRAY_REF: u8 = 0x01;
pub(super) const FALSE: u8 = 0x04;
pub(super) const TRUE: u8 = 0x05;
/// Integers: a positive and a negative tag by turns, 8, 16 and 32 bits.
pub(super) const INT: u8 = 0x06;
pub(super) const INT_LAST: u8 = 0x0b;
pub(super) const FLOAT: u8 = 0x0c;
pub(super) const EMPTY: u8 = 0x0d;
/// A string that was there before: 8, 16 and 32 bits.
pub(super) const STRING_ID: u8 = 0x0e;
pub(super) const STRING: u8 = 0x11;
pub(super) const ARRAY: u8 = 0x14;
/// An object whose class is named; and one whose class was named before.
pub(super) const OBJECT: u8 = 0x17;
pub(super) const OBJECT_ID: u8 = 0x1a;
/// What `Serializable::serialize` returned.
pub(super) const PAYLOAD: u8 = 0x1d;
/// Integers of 64 bits, positive and negative.
pub(super) const INT64: u8 = 0x20;
pub(super) const INT64_NEGATIVE: u8 = 0x21;
/// An object that has a number, again: 8, 16 and 32 bits.
pub(super) const OBJECT_REF: u8 = 0x22;
pub(super) const REFERENCE: u8 = 0x25;
pub(super) const STRING64: u8 = 0x26;
pub(super) const ENUM: u8 = 0x27;

/// What a tag is, in words.
pub(super) fn name(tag: u8) -> &'static str {
    match tag {
        NULL => "null",
        0x01..=0x03 => "array again",
        FALSE => "false",
        TRUE => "true",
        0x06 | 0x08 | 0x0a | INT64 => "integer",
        0x07 | 0x09 | 0x0b | INT64_NEGATIVE => "negative integer",
        FLOAT => "float",
        EMPTY => "empty string",
        0x0e..=0x10 => "string again",
        0x11..=0x13 | STRING64 => "string",
        0x14..=0x16 => "array",
        0x17..=0x19 => "object",
        0x1a..=0x1c => "object of a known class",
        0x1d..=0x1f => "payload",
        0x22..=0x24 => "object again",
        REFERENCE => "reference",
        ENUM => "enum case",
        _ => "tag",
    }
}

/// The tag of the narrowest of three widths that holds the number.
pub(super) fn narrowest(first: u8, number: u64) -> u8 {
    match number {
        0..=0xff => first,
        0x100..=0xffff => first + 1,
        _ => first + 2,
    }
}

/// The tag for a string of this length.
pub(super) fn of_string(len: usize) -> u8 {
    match len as u64 {
        0 => EMPTY,
        len if len > u64::from(u32::MAX) => STRING64,
        len => narrowest(STRING, len),
    }
}

/// The tag for an integer.
pub(super) fn of_int(value: i64) -> u8 {
    let sign = u8::from(value < 0);
    match value.unsigned_abs() {
        0..=0xff => INT + sign,
        0x100..=0xffff => INT + 2 + sign,
        0x1_0000..=0xffff_ffff => INT + 4 + sign,
        _ => INT64 + sign,
    }
}

/// How many bytes the number of an integer's tag has; `None` if it is no
/// integer's.
pub(super) fn int_size(tag: u8) -> Option<usize> {
    match tag {
        INT..=INT_LAST => Some(1 << ((tag - INT) / 2)),
        INT64 | INT64_NEGATIVE => Some(8),
        _ => None,
    }
}
