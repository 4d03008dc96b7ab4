//! The quick loop over items. The careful way takes what it leaves, one item at a time.

use super::super::tag::{self, TRACK};
use crate::format::skim::ahead;

/// What a tag is for the loop: how long the item is, and how many more come with it.
#[derive(Clone, Copy)]
enum Class {
    /// The tag is all of it.
    Tag,
    Short,
    Float,
    Double,
    Varint,
    Text,
    Copy,
    ListRef,
    MapRef,
    List,
    Map,
    /// One item more.
    Item,
    Object,
    ObjectV,
    /// What the careful way looks at.
    Rare,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Rare; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 & !TRACK {
            0..=31 | tag::UNDEF | tag::NO | tag::YES | tag::CANONICAL_UNDEF | tag::FALSE | tag::TRUE => Class::Tag,
            96..=127 => Class::Short,
            tag::FLOAT => Class::Float,
            tag::DOUBLE => Class::Double,
            tag::VARINT | tag::ZIGZAG => Class::Varint,
            tag::BINARY | tag::STR_UTF8 => Class::Text,
            tag::COPY => Class::Copy,
            64..=79 => Class::ListRef,
            80..=95 => Class::MapRef,
            tag::ARRAY => Class::List,
            tag::HASH => Class::Map,
            tag::REFN | tag::WEAKEN | tag::PAD => Class::Item,
            tag::OBJECT => Class::Object,
            tag::OBJECTV => Class::ObjectV,
            _ => Class::Rare,
        };
        byte += 1;
    }
    classes
};

/// Goes over items until none is pending, or in front of one that is rare or not whole in
/// view; only the bytes of a string may end behind it. The first byte has this offset.
pub(super) fn over(bytes: &[u8], pending: &mut u64, offset: u64) -> usize {
    let (mut at, mut left) = (0, *pending);
    // A branch for each class, as it is foreseen: a table of lengths would have each item wait
    // for the one before.
    while left > 0 {
        let Some(head) = ahead::<16>(bytes, at) else { break };
        let tag = head[0];
        let behind = |count: u64| left - 1 + count;
        match CLASSES[usize::from(tag)] {
            Class::Tag => (at, left) = (at + 1, behind(0)),
            Class::Short => (at, left) = (at + 1 + usize::from(tag & 31), behind(0)),
            Class::Float => (at, left) = (at + 5, behind(0)),
            Class::Double => (at, left) = (at + 9, behind(0)),
            Class::Varint => {
                let Some(len) = varint_len(head) else { break };
                (at, left) = (at + len, behind(0));
            }
            Class::Text => {
                let Some((count, len)) = short_varint(head) else { break };
                (at, left) = (at + len + count as usize, behind(0));
            }
            Class::Copy => {
                let Some((place, len)) = short_varint(head) else { break };
                if place >= offset.wrapping_add(at as u64) {
                    break;
                }
                (at, left) = (at + len, behind(0));
            }
            Class::ListRef => (at, left) = (at + 1, behind(u64::from(tag & 15))),
            Class::MapRef => (at, left) = (at + 1, behind(2 * u64::from(tag & 15))),
            Class::List => {
                let Some((count, len)) = short_varint(head) else { break };
                (at, left) = (at + len, behind(count));
            }
            Class::Map => {
                let Some((count, len)) = short_varint(head) else { break };
                (at, left) = (at + len, behind(2 * count));
            }
            Class::Item => at += 1,
            Class::Object => (at, left) = (at + 1, behind(2)),
            Class::ObjectV => {
                let Some((place, len)) = short_varint(head) else { break };
                if place >= offset.wrapping_add(at as u64) {
                    break;
                }
                at += len;
            }
            Class::Rare => break,
        }
    }
    *pending = left;
    at
}

/// The varint behind a tag, if it has at most three bytes; how long both are.
#[inline(always)]
fn short_varint(head: &[u8; 16]) -> Option<(u64, usize)> {
    let word = u32::from_le_bytes([head[1], head[2], head[3], 0]);
    let (low, middle, high) = (word & 0x7F, word >> 1 & 0x3F80, word >> 2 & 0x1F_C000);
    if word & 0x80 == 0 {
        Some((u64::from(low), 2))
    } else if word & 0x8000 == 0 {
        Some((u64::from(low | middle), 3))
    } else if word & 0x80_0000 == 0 {
        Some((u64::from(low | middle | high), 4))
    } else {
        None
    }
}

/// How long a tag and its varint are.
#[inline(always)]
fn varint_len(head: &[u8; 16]) -> Option<usize> {
    let ends = !u64::from_le_bytes(*head[1..].first_chunk()?) & 0x8080_8080_8080_8080;
    (ends != 0).then(|| 2 + (ends.trailing_zeros() / 8) as usize)
}
