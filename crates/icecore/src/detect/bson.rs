//! BSON, detected by a walk over the whole input.

use super::Sample;
use super::walk::{DEPTH, Rejection, Step, Walk};
use crate::format::{Certainty, Guess};

pub(super) fn detect(sample: &Sample<'_>) -> Option<Guess> {
    if !sample.whole {
        return None;
    }
    let mut walk = Walk::new(sample.bytes);
    let mut documents = 0u64;
    let mut elements = 0u64;
    while !walk.at_end() {
        document(&mut walk, &mut elements).ok()?;
        documents += 1;
    }
    if elements == 0 {
        return None;
    }
    let variant = if documents > 1 { format!("{documents} documents") } else { String::new() };
    Some(Guess { certainty: Certainty::Sure, variant })
}

/// Walks over one document.
fn document(walk: &mut Walk<'_>, elements: &mut u64) -> Step<()> {
    let mut open: Vec<usize> = vec![begin(walk, walk.input.len())?];
    while let Some(end) = open.last().copied() {
        let tag = walk.u8()?;
        if tag == 0 {
            if walk.at != end {
                return Err(Rejection::Wrong);
            }
            open.pop();
            continue;
        }
        *elements += 1;
        let name = walk.until(0)?;
        std::str::from_utf8(name).map_err(|_| Rejection::Wrong)?;
        match tag {
            0x01 | 0x09 | 0x11 | 0x12 => drop(walk.take(8)?),
            0x02 | 0x0d | 0x0e => string(walk)?,
            0x03 | 0x04 => {
                if open.len() >= DEPTH {
                    return Err(Rejection::Wrong);
                }
                open.push(begin(walk, end)?);
            }
            0x05 => {
                let len = walk.uint_le(4)?;
                walk.take(len + 1)?;
            }
            0x06 | 0x0a | 0x7f | 0xff => {}
            0x07 => drop(walk.take(12)?),
            0x08 if walk.u8()? > 1 => return Err(Rejection::Wrong),
            0x08 => {}
            0x0b => drop((walk.until(0)?, walk.until(0)?)),
            0x0c => {
                string(walk)?;
                walk.take(12)?;
            }
            0x0f => {
                walk.take(4)?;
                string(walk)?;
                open.push(begin(walk, end)?);
            }
            0x10 => drop(walk.take(4)?),
            0x13 => drop(walk.take(16)?),
            _ => return Err(Rejection::Wrong),
        }
    }
    Ok(())
}

/// Reads the length of a document; returns its end.
fn begin(walk: &mut Walk<'_>, most: usize) -> Step<usize> {
    let start = walk.at;
    let len = walk.uint_le(4)?;
    let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len)).ok_or(Rejection::Wrong)?;
    if len < 5 || end > most { Err(Rejection::Wrong) } else { Ok(end) }
}

fn string(walk: &mut Walk<'_>) -> Step<()> {
    let len = walk.uint_le(4)?;
    match walk.take(len)? {
        [.., 0] => Ok(()),
        _ => Err(Rejection::Wrong),
    }
}
