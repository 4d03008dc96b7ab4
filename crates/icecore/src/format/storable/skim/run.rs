//! The fast loop over values and keys. The slow path handles everything else, one value at a
//! time.

use super::super::tag::{self, hash};
use super::{Classes, word};
use crate::format::skim::ahead;
use crate::format::skim::tokens::{Frame, Run, Sort};
use crate::format::tags::Class;

/// Longest string that it skips.
const LONG: u32 = 1 << 28;

static CLASSES: [Class; 256] = tag::TAGS.classes();

#[inline(always)]
pub(super) fn over<const BIG: bool>(run: &mut Run<'_, Classes>) -> usize {
    let Some(Frame { mut sort, mut left }) = run.open.pop() else { return 0 };
    let (mut at, bytes, mut values) = (0, run.bytes, run.values);
    let (integer, float) = (1 + usize::from(run.format.integer), 1 + usize::from(run.format.float));
    let mut is_key = sort != Sort::Values && !left.is_multiple_of(2);
    macro_rules! enter {
        ($frame:expr, $len:expr) => {{
            run.open.push(Frame { sort, left: left - 1 });
            Frame { sort, left } = $frame;
            (at, values, is_key) = (at + $len, values + 1, false);
            continue;
        }};
    }
    while sort != Sort::Rest {
        if is_key {
            let mut behind = at;
            if sort == Sort::FlagEntries {
                match bytes.get(at) {
                    Some(flags) if flags & hash::KEY_IS_SV == 0 => behind += 1,
                    _ => break,
                }
            }
            let Some(len) = ahead::<4>(bytes, behind) else { break };
            let len = word::<BIG>(*len);
            if len > LONG {
                break;
            }
            (at, left, is_key) = (behind + 4 + len as usize, left - 1, false);
        }
        if left == 0 {
            let Some(below) = run.open.pop() else {
                run.values = values;
                return at;
            };
            Frame { sort, left } = below;
            is_key = sort != Sort::Values && !left.is_multiple_of(2);
            continue;
        }
        let Some(head) = ahead::<6>(bytes, at) else { break };
        let [tag, first, a, b, c, d] = *head;
        let count = || word::<BIG>([first, a, b, c]);
        let len = match CLASSES[usize::from(tag)] {
            Class::Tag => 1,
            Class::Byte => 2,
            Class::Four => 5,
            Class::Integer => integer,
            Class::Float => float,
            Class::ShortText => 2 + usize::from(first),
            Class::Text if count() <= LONG => 5 + count() as usize,
            Class::Items => enter!(Frame::values(u64::from(count())), 5),
            Class::Entries => enter!(Frame::pairs(Sort::Entries, u64::from(count())), 5),
            Class::FlagEntries => {
                enter!(Frame::pairs(Sort::FlagEntries, u64::from(word::<BIG>([a, b, c, d]))), 6)
            }
            Class::Value => {
                (at, values) = (at + 1, values + 1);
                continue;
            }
            Class::Blessed if first < 0x80 && u64::from(first) < run.names => {
                at += 2;
                continue;
            }
            // It has no number of its own.
            Class::Link => {
                (at, left, is_key) = (at + 5, left - 1, sort != Sort::Values);
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
        (at, left, values, is_key) = (at + len, left - 1, values + 1, sort != Sort::Values);
    }
    run.open.push(Frame { sort, left });
    run.values = values;
    at
}
