//! The fast loop over values and keys. The slow path handles everything else, one value at a
//! time.

use super::super::tag::{self, hash};
use super::{SkimState, u32_from_bytes};
use crate::format::skim::bytes_ahead;
use crate::format::skim::tokens::{FrameContent, Run, SkimFrame};
use crate::format::tags::Class;

/// Maximum length of a string that the loop skips.
const MAX_STRING_LEN: u32 = 1 << 28;

static TAG_CLASSES: [Class; 256] = tag::TAGS.tag_classes();

/// Skips values and keys until one needs the slow path. Returns the number of skipped bytes.
#[inline(always)]
pub(super) fn skip_run<const BIG: bool>(run: &mut Run<'_, SkimState>) -> usize {
    let Some(SkimFrame { mut content, mut remaining }) = run.open.pop() else { return 0 };
    let (mut offset, bytes, mut values) = (0, run.bytes, run.value_count);
    let (integer, float) = (1 + usize::from(run.format.integer), 1 + usize::from(run.format.float));
    let mut is_key = content != FrameContent::Values && !remaining.is_multiple_of(2);
    macro_rules! enter {
        ($frame:expr, $len:expr) => {{
            run.open.push(SkimFrame { content, remaining: remaining - 1 });
            SkimFrame { content, remaining } = $frame;
            (offset, values, is_key) = (offset + $len, values + 1, false);
            continue;
        }};
    }
    while content != FrameContent::Rest {
        if is_key {
            let mut length_offset = offset;
            if content == FrameContent::FlagEntries {
                match bytes.get(offset) {
                    Some(flags) if flags & hash::KEY_IS_SV == 0 => length_offset += 1,
                    _ => break,
                }
            }
            let Some(len) = bytes_ahead::<4>(bytes, length_offset) else { break };
            let len = u32_from_bytes::<BIG>(*len);
            if len > MAX_STRING_LEN {
                break;
            }
            (offset, remaining, is_key) = (length_offset + 4 + len as usize, remaining - 1, false);
        }
        if remaining == 0 {
            let Some(outer) = run.open.pop() else {
                run.value_count = values;
                return offset;
            };
            SkimFrame { content, remaining } = outer;
            is_key = content != FrameContent::Values && !remaining.is_multiple_of(2);
            continue;
        }
        let Some(head) = bytes_ahead::<6>(bytes, offset) else { break };
        let [tag, first, a, b, c, d] = *head;
        let count = || u32_from_bytes::<BIG>([first, a, b, c]);
        let len = match TAG_CLASSES[usize::from(tag)] {
            Class::Tag => 1,
            Class::Byte => 2,
            Class::Four => 5,
            Class::Integer => integer,
            Class::Float => float,
            Class::ShortText => 2 + usize::from(first),
            Class::Text if count() <= MAX_STRING_LEN => 5 + count() as usize,
            Class::Items => enter!(SkimFrame::new_values(u64::from(count())), 5),
            Class::Entries => enter!(SkimFrame::new_pairs(FrameContent::Entries, u64::from(count())), 5),
            Class::FlagEntries => {
                enter!(
                    SkimFrame::new_pairs(FrameContent::FlagEntries, u64::from(u32_from_bytes::<BIG>([a, b, c, d]))),
                    6
                )
            }
            Class::Value => {
                (offset, values) = (offset + 1, values + 1);
                continue;
            }
            Class::Blessed if first < 0x80 && u64::from(first) < run.name_count => {
                offset += 2;
                continue;
            }
            // It has no number of its own.
            Class::Link => {
                (offset, remaining, is_key) = (offset + 5, remaining - 1, content != FrameContent::Values);
                continue;
            }
            Class::Text
            | Class::Blessed
            | Class::Eight
            | Class::LowText
            | Class::Name
            | Class::Again
            | Class::TwoValues
            | Class::LowItems
            | Class::LowEntries
            | Class::Object
            | Class::Owner
            | Class::Rare => break,
        };
        (offset, remaining, values, is_key) =
            (offset + len, remaining - 1, values + 1, content != FrameContent::Values);
    }
    run.open.push(SkimFrame { content, remaining });
    run.value_count = values;
    offset
}
