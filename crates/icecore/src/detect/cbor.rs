//! CBOR, detected by a walk over the whole input.

use super::walk::{ByteWalk, DEPTH, Rejection, WalkResult};
use super::{Sample, grade_walk};
use crate::format::{Certainty, Guess};

pub(super) fn detect_cbor(sample: &Sample<'_>) -> Option<Guess> {
    // Only a container, perhaps tagged, is enough evidence.
    match sample.bytes.first()? {
        0x81..=0x9b | 0x9f | 0xa1..=0xbb | 0xbf | 0xc0..=0xdb => {}
        _ => return None,
    }
    let mut walk = ByteWalk::new(sample.bytes);
    let mut strings = 0;
    let end = walk_value(&mut walk, &mut strings);
    let root = sample.bytes.iter().find(|byte| !(0xc0..=0xdb).contains(*byte))?;
    if !(0x80..=0xbf).contains(root) {
        return None;
    }
    let clear = strings > 0 && walk.offset >= 8;
    grade_walk(sample, end, &walk, if clear { Certainty::Likely } else { Certainty::Possible }, "")
}

/// The items of an open container that are still to come.
enum OpenItems {
    /// This number of values.
    Values(u64),
    /// Items up to a break; in a map, keys and values take turns.
    Run { is_map: bool, is_value_due: bool },
    /// Pieces of a string of this major type, up to a break.
    Pieces(u8),
}

fn walk_value(walk: &mut ByteWalk<'_>, strings: &mut u64) -> WalkResult<()> {
    let mut open = vec![OpenItems::Values(1)];
    while let Some(top) = open.last_mut() {
        let pieces = match top {
            OpenItems::Values(0) => {
                open.pop();
                continue;
            }
            OpenItems::Values(remaining) => {
                *remaining -= 1;
                None
            }
            OpenItems::Run { .. } | OpenItems::Pieces(_) if walk.peek() == Some(0xff) => {
                if matches!(top, OpenItems::Run { is_map: true, is_value_due: true }) {
                    return Err(Rejection::Wrong);
                }
                walk.read_u8()?;
                open.pop();
                continue;
            }
            OpenItems::Run { is_value_due, .. } => {
                *is_value_due = !*is_value_due;
                None
            }
            OpenItems::Pieces(major) => Some(*major),
        };
        let head = walk.read_u8()?;
        let (major, info) = (head >> 5, head & 0x1f);
        if pieces.is_some_and(|expected| expected != major || info == 31) {
            return Err(Rejection::Wrong);
        }
        let argument = match info {
            0..=23 => Some(u64::from(info)),
            24..=27 => Some(walk.read_uint_be(1 << (info - 24))?),
            31 => None,
            _ => return Err(Rejection::Wrong),
        };
        let next = match (major, argument) {
            (0 | 1, Some(_)) => continue,
            (2, Some(len)) => {
                walk.read_bytes(len)?;
                continue;
            }
            (3, Some(len)) => {
                std::str::from_utf8(walk.read_bytes(len)?).map_err(|_| Rejection::Wrong)?;
                *strings += 1;
                continue;
            }
            (2 | 3, None) => OpenItems::Pieces(major),
            (4, Some(count)) => OpenItems::Values(count),
            (5, Some(count)) => OpenItems::Values(count.saturating_mul(2)),
            (4 | 5, None) => OpenItems::Run { is_map: major == 5, is_value_due: false },
            (6, Some(_)) => OpenItems::Values(1),
            // A simple value of two bytes must need two bytes.
            (7, Some(simple)) if info != 24 || simple >= 32 => continue,
            _ => return Err(Rejection::Wrong),
        };
        if open.len() >= DEPTH {
            return Err(Rejection::Wrong);
        }
        open.push(next);
    }
    Ok(())
}
