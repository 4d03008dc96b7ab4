//! The fast loop over items. The slow path handles everything else, one item at a time.

use super::super::tag::{self, TRACK};
use super::Offsets;
use crate::format::skim::bytes_ahead;
use crate::format::skim::tokens::{FrameContent, Run, SkimFrame};
use crate::format::tags::Class;

static TAG_CLASSES: [Class; 256] = tag::TAGS.tag_classes_masked(!TRACK);

pub(super) fn skip_run(run: &mut Run<'_, Offsets>) -> usize {
    let Some(SkimFrame { content: FrameContent::Values, remaining: pending }) = run.open.last_mut() else { return 0 };
    let mut remaining = *pending;
    // The offset of the first byte.
    let offset = run.view_start.wrapping_sub(run.format.start).wrapping_add(run.format.first_offset);
    let bytes = run.bytes;
    let mut position = 0;
    // A branch for each class, because branches are predicted: with a table of lengths, each
    // item would wait for the previous one.
    while remaining > 0 {
        let Some(head) = bytes_ahead::<16>(bytes, position) else { break };
        let tag = head[0];
        let remaining_after = |count: u64| remaining - 1 + count;
        match TAG_CLASSES[usize::from(tag)] {
            Class::Tag => (position, remaining) = (position + 1, remaining_after(0)),
            Class::LowText => (position, remaining) = (position + 1 + usize::from(tag & 31), remaining_after(0)),
            Class::Four => (position, remaining) = (position + 5, remaining_after(0)),
            Class::Eight => (position, remaining) = (position + 9, remaining_after(0)),
            Class::Integer => {
                let Some(len) = varint_len(head) else { break };
                (position, remaining) = (position + len, remaining_after(0));
            }
            Class::Text => {
                let Some((count, len)) = short_varint(head) else { break };
                (position, remaining) = (position + len + count as usize, remaining_after(0));
            }
            Class::Again => {
                let Some((place, len)) = short_varint(head) else { break };
                if place >= offset.wrapping_add(position as u64) {
                    break;
                }
                (position, remaining) = (position + len, remaining_after(0));
            }
            Class::LowItems => (position, remaining) = (position + 1, remaining_after(u64::from(tag & 15))),
            Class::LowEntries => (position, remaining) = (position + 1, remaining_after(2 * u64::from(tag & 15))),
            Class::Items => {
                let Some((count, len)) = short_varint(head) else { break };
                (position, remaining) = (position + len, remaining_after(count));
            }
            Class::Entries => {
                let Some((count, len)) = short_varint(head) else { break };
                (position, remaining) = (position + len, remaining_after(2 * count));
            }
            Class::Value => position += 1,
            Class::TwoValues => (position, remaining) = (position + 1, remaining_after(2)),
            Class::Blessed => {
                let Some((place, len)) = short_varint(head) else { break };
                if place >= offset.wrapping_add(position as u64) {
                    break;
                }
                position += len;
            }
            Class::Byte
            | Class::Float
            | Class::ShortText
            | Class::Name
            | Class::Link
            | Class::FlagEntries
            | Class::Object
            | Class::Owner
            | Class::Rare => break,
        }
    }
    *pending = remaining;
    position
}

/// Returns the varint after a tag, if it has at most three bytes, and the size of both.
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

/// Returns the size of a tag and its varint.
#[inline(always)]
fn varint_len(head: &[u8; 16]) -> Option<usize> {
    let ends = !u64::from_le_bytes(*head[1..].first_chunk()?) & 0x8080_8080_8080_8080;
    (ends != 0).then(|| 2 + (ends.trailing_zeros() / 8) as usize)
}
