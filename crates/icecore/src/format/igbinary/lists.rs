//! A prescan of the input that finds which arrays are lists.

use super::tag;
use crate::format::Scan;

/// Returns for each array, in the order in which they begin, whether it is a map. Stops
/// where the input is invalid.
pub(super) fn maps(input: &[u8]) -> Vec<bool> {
    let mut maps = Vec::new();
    let mut scan = Scan { input, at: 4 };
    let _ = walk(&mut scan, &mut maps);
    maps
}

struct Frame {
    left: u64,
    count: u64,
    /// Index of the array; `None` for the body of an object.
    array: Option<usize>,
}

fn walk(scan: &mut Scan<'_>, maps: &mut Vec<bool>) -> Option<()> {
    let mut open = Vec::new();
    value(scan, maps, &mut open)?;
    while let Some(inner) = open.last_mut() {
        if inner.left == 0 {
            open.pop();
            continue;
        }
        inner.left -= 1;
        let tag = byte(scan)?;
        if tag == tag::NULL {
            continue;
        }
        let is_next = match tag::int_size(tag) {
            Some(size) => number(scan, size)? == inner.count && (tag & 1 == 0 || inner.count == 0),
            None => {
                string(scan, tag)?;
                false
            }
        };
        inner.count += 1;
        if let (Some(array), false) = (inner.array, is_next) {
            maps[array] = true;
        }
        value(scan, maps, &mut open)?;
    }
    Some(())
}

fn value(scan: &mut Scan<'_>, maps: &mut Vec<bool>, open: &mut Vec<Frame>) -> Option<()> {
    let mut tag = byte(scan)?;
    if tag == tag::REFERENCE {
        tag = byte(scan)?;
    }
    match tag {
        tag::NULL | tag::FALSE | tag::TRUE => {}
        0x01..=0x03 => drop(number(scan, 1 << (tag - tag::ARRAY_REF))?),
        0x22..=0x24 => drop(number(scan, 1 << (tag - tag::OBJECT_REF))?),
        tag::FLOAT => skip(scan, 8)?,
        0x14..=0x16 => {
            let left = number(scan, 1 << (tag - tag::ARRAY))?;
            maps.push(false);
            open.push(Frame { left, count: 0, array: Some(maps.len() - 1) });
        }
        0x17..=0x1c => {
            match tag {
                0x17..=0x19 => {
                    let len = number(scan, 1 << (tag - tag::OBJECT))?;
                    skip(scan, len)?;
                }
                _ => drop(number(scan, 1 << (tag - tag::OBJECT_ID))?),
            }
            match byte(scan)? {
                tag @ 0x14..=0x16 => {
                    let left = number(scan, 1 << (tag - tag::ARRAY))?;
                    open.push(Frame { left, count: 0, array: None });
                }
                tag @ 0x1d..=0x1f => {
                    let len = number(scan, 1 << (tag - tag::PAYLOAD))?;
                    skip(scan, len)?;
                }
                tag::ENUM => {
                    let tag = byte(scan)?;
                    string(scan, tag)?;
                }
                _ => return None,
            }
        }
        _ => match tag::int_size(tag) {
            Some(size) => drop(number(scan, size)?),
            None => string(scan, tag)?,
        },
    }
    Some(())
}

fn byte(scan: &mut Scan<'_>) -> Option<u8> {
    scan.u8("").ok()
}

fn number(scan: &mut Scan<'_>, size: usize) -> Option<u64> {
    let bytes = scan.take(size, "").ok()?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn skip(scan: &mut Scan<'_>, len: u64) -> Option<()> {
    scan.take(usize::try_from(len).ok()?, "").ok().map(drop)
}

fn string(scan: &mut Scan<'_>, tag: u8) -> Option<()> {
    let len = match tag {
        tag::EMPTY => return Some(()),
        0x0e..=0x10 => return number(scan, 1 << (tag - tag::STRING_ID)).map(drop),
        0x11..=0x13 => number(scan, 1 << (tag - tag::STRING))?,
        tag::STRING64 => number(scan, 8)?,
        _ => return None,
    };
    skip(scan, len)
}
