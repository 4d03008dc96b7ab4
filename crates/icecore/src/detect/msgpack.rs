//! MessagePack, detected by a walk over the whole input.

use super::walk::{ByteWalk, DEPTH, Rejection, WalkResult};
use super::{Sample, grade_walk};
use crate::format::{Certainty, Guess};

/// What a walk found.
#[derive(Default)]
struct WalkFindings {
    strings: u64,
    not_utf8: bool,
}

pub(super) fn detect_msgpack(sample: &Sample<'_>) -> Option<Guess> {
    // Only a container is enough evidence, because every ASCII character is an integer in this format.
    match sample.bytes.first()? {
        0x81..=0x8f | 0x91..=0x9f | 0xdc..=0xdf => {}
        _ => return None,
    }
    let mut findings = WalkFindings::default();
    let mut walk = ByteWalk::new(sample.bytes);
    let end = walk_value(&mut walk, &mut findings);
    let clear = findings.strings > 0 && !findings.not_utf8 && walk.offset >= 8;
    grade_walk(sample, end, &walk, if clear { Certainty::Likely } else { Certainty::Possible }, "")
}

/// Walks over one value with everything in it.
fn walk_value(walk: &mut ByteWalk<'_>, findings: &mut WalkFindings) -> WalkResult<()> {
    // Number of missing values, by level.
    let mut open: Vec<u64> = vec![1];
    while let Some(remaining) = open.last_mut() {
        if *remaining == 0 {
            open.pop();
            continue;
        }
        *remaining -= 1;
        let head = walk.read_u8()?;
        let (skip, children) = match head {
            0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => (0, 0),
            0xc1 => return Err(Rejection::Wrong),
            0x80..=0x8f => (0, 2 * u64::from(head & 0x0f)),
            0x90..=0x9f => (0, u64::from(head & 0x0f)),
            0xa0..=0xbf => {
                walk_string(walk, u64::from(head & 0x1f), findings)?;
                (0, 0)
            }
            0xc4..=0xc6 => (walk.read_uint_be(1 << (head - 0xc4))?, 0),
            0xc7..=0xc9 => (walk.read_uint_be(1 << (head - 0xc7))? + 1, 0),
            0xca => (4, 0),
            0xcb => (8, 0),
            0xcc..=0xcf => (1 << (head - 0xcc), 0),
            0xd0..=0xd3 => (1 << (head - 0xd0), 0),
            0xd4..=0xd8 => (1 + (1 << (head - 0xd4)), 0),
            0xd9..=0xdb => {
                let len = walk.read_uint_be(1 << (head - 0xd9))?;
                walk_string(walk, len, findings)?;
                (0, 0)
            }
            0xdc | 0xdd => (0, walk.read_uint_be(2 << (head - 0xdc))?),
            0xde | 0xdf => (0, 2 * walk.read_uint_be(2 << (head - 0xde))?),
        };
        walk.read_bytes(skip)?;
        if children > 0 {
            if open.len() >= DEPTH {
                return Err(Rejection::Wrong);
            }
            open.push(children);
        }
    }
    Ok(())
}

fn walk_string(walk: &mut ByteWalk<'_>, len: u64, findings: &mut WalkFindings) -> WalkResult<()> {
    let bytes = walk.read_bytes(len)?;
    findings.strings += 1;
    findings.not_utf8 |= std::str::from_utf8(bytes).is_err();
    Ok(())
}
