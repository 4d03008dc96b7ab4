//! igbinary, by a walk over all of it.

use super::Sample;
use super::grade;
use super::walk::{DEPTH, Step, Stop, Walk};
use crate::format::{Certainty, Guess};

pub(super) fn detect(sample: &Sample<'_>) -> Option<Guess> {
    let version = match sample.bytes {
        [0, 0, 0, version @ 1..=2, _, ..] => *version,
        _ => return None,
    };
    let mut walk = Walk::new(sample.bytes);
    walk.at = 4;
    let end = value(&mut walk);
    let best = if walk.at >= 8 { Certainty::Sure } else { Certainty::Likely };
    grade(sample, end, &walk, best, &format!("version {version}"))
}

/// What a tag stands for, as far as a walk must know it.
enum Item {
    Leaf,
    String,
    Children(u64),
    /// The class of an object was read; this tag says how many properties.
    Object,
}

fn value(walk: &mut Walk<'_>) -> Step<()> {
    let mut strings = 0u64;
    // How many values are missing, and whether the next one is a key.
    let mut open: Vec<(u64, bool)> = vec![(1, false)];
    while let Some((left, is_map)) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        let is_key = *is_map && *left % 2 == 0;
        *left -= 1;
        let tag = walk.u8()?;
        let mut item = item(walk, tag, &mut strings)?;
        if is_key && !matches!((&item, tag), (Item::String, _) | (Item::Leaf, 0x06..=0x0b | 0x20 | 0x21)) {
            return Err(Stop::Wrong);
        }
        if let Item::Object = item {
            item = match walk.u8()? {
                tag @ 0x14..=0x16 => Item::Children(walk.uint_be(1 << (tag - 0x14))?.saturating_mul(2)),
                tag @ 0x1d..=0x1f => {
                    let len = walk.uint_be(1 << (tag - 0x1d))?;
                    walk.take(len)?;
                    Item::Leaf
                }
                _ => return Err(Stop::Wrong),
            };
        }
        if let Item::Children(count) = item {
            if open.len() >= DEPTH {
                return Err(Stop::Wrong);
            }
            open.push((count, tag != 0x25));
        }
    }
    Ok(())
}

fn item(walk: &mut Walk<'_>, tag: u8, strings: &mut u64) -> Step<Item> {
    let mut sized = |walk: &mut Walk<'_>, size: u64| -> Step<()> {
        let len = walk.uint_be(size)?;
        *strings += 1;
        walk.take(len).map(drop)
    };
    let leaf = |walk: &mut Walk<'_>, size: u64| walk.take(size).map(|_| Item::Leaf);
    match tag {
        0x00 | 0x04 | 0x05 => Ok(Item::Leaf),
        0x01..=0x03 => leaf(walk, 1 << (tag - 0x01)),
        0x06 | 0x07 => leaf(walk, 1),
        0x08 | 0x09 => leaf(walk, 2),
        0x0a | 0x0b => leaf(walk, 4),
        0x20 | 0x21 | 0x0c => leaf(walk, 8),
        0x0d => Ok(Item::String),
        0x0e..=0x10 => {
            let id = walk.uint_be(1 << (tag - 0x0e))?;
            if id < *strings { Ok(Item::String) } else { Err(Stop::Wrong) }
        }
        0x11..=0x13 => sized(walk, 1 << (tag - 0x11)).map(|()| Item::String),
        0x26 => sized(walk, 8).map(|()| Item::String),
        0x14..=0x16 => Ok(Item::Children(walk.uint_be(1 << (tag - 0x14))?.saturating_mul(2))),
        0x17..=0x19 => sized(walk, 1 << (tag - 0x17)).map(|()| Item::Object),
        0x1a..=0x1c => leaf(walk, 1 << (tag - 0x1a)).map(|_| Item::Object),
        0x22..=0x24 => leaf(walk, 1 << (tag - 0x22)),
        0x25 => Ok(Item::Children(1)),
        _ => Err(Stop::Wrong),
    }
}
