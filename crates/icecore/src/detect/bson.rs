//! BSON, detected by a walk over the whole input.

use super::Sample;
use super::walk::{ByteWalk, DEPTH, Rejection, WalkResult};
use crate::format::{Certainty, Guess};

pub(super) fn detect_bson(sample: &Sample<'_>) -> Option<Guess> {
    if !sample.is_complete {
        return None;
    }
    let mut walk = ByteWalk::new(sample.bytes);
    let mut documents = 0u64;
    let mut elements = 0u64;
    while !walk.is_at_end() {
        walk_document(&mut walk, &mut elements).ok()?;
        documents += 1;
    }
    if elements == 0 {
        return None;
    }
    let variant = if documents > 1 { format!("{documents} documents") } else { String::new() };
    Some(Guess { certainty: Certainty::Sure, variant })
}

/// Walks over one document.
fn walk_document(walk: &mut ByteWalk<'_>, elements: &mut u64) -> WalkResult<()> {
    let mut open: Vec<usize> = vec![read_document_end(walk, walk.input.len())?];
    while let Some(end) = open.last().copied() {
        let tag = walk.read_u8()?;
        if tag == 0 {
            if walk.offset != end {
                return Err(Rejection::Wrong);
            }
            open.pop();
            continue;
        }
        *elements += 1;
        let name = walk.read_until(0)?;
        std::str::from_utf8(name).map_err(|_| Rejection::Wrong)?;
        match tag {
            0x01 | 0x09 | 0x11 | 0x12 => drop(walk.read_bytes(8)?),
            0x02 | 0x0d | 0x0e => walk_string(walk)?,
            0x03 | 0x04 => {
                if open.len() >= DEPTH {
                    return Err(Rejection::Wrong);
                }
                open.push(read_document_end(walk, end)?);
            }
            0x05 => {
                let len = walk.read_uint_le(4)?;
                walk.read_bytes(len + 1)?;
            }
            0x06 | 0x0a | 0x7f | 0xff => {}
            0x07 => drop(walk.read_bytes(12)?),
            0x08 if walk.read_u8()? > 1 => return Err(Rejection::Wrong),
            0x08 => {}
            0x0b => drop((walk.read_until(0)?, walk.read_until(0)?)),
            0x0c => {
                walk_string(walk)?;
                walk.read_bytes(12)?;
            }
            0x0f => {
                walk.read_bytes(4)?;
                walk_string(walk)?;
                open.push(read_document_end(walk, end)?);
            }
            0x10 => drop(walk.read_bytes(4)?),
            0x13 => drop(walk.read_bytes(16)?),
            _ => return Err(Rejection::Wrong),
        }
    }
    Ok(())
}

/// Reads the length of a document; returns its end.
fn read_document_end(walk: &mut ByteWalk<'_>, max_end: usize) -> WalkResult<usize> {
    let start = walk.offset;
    let len = walk.read_uint_le(4)?;
    let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len)).ok_or(Rejection::Wrong)?;
    if len < 5 || end > max_end { Err(Rejection::Wrong) } else { Ok(end) }
}

fn walk_string(walk: &mut ByteWalk<'_>) -> WalkResult<()> {
    let len = walk.read_uint_le(4)?;
    match walk.read_bytes(len)? {
        [.., 0] => Ok(()),
        _ => Err(Rejection::Wrong),
    }
}
