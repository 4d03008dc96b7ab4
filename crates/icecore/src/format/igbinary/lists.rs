//! A prescan of the input that finds which arrays are lists.

use super::tag;
use crate::format::Scan;

/// Returns for each array, in the order in which they begin, whether it is a map. Stops
/// where the input is invalid.
pub(super) fn find_maps(input: &[u8]) -> Vec<bool> {
    let mut maps = Vec::new();
    let mut scan = Scan { input, offset: 4 };
    let _ = scan_document(&mut scan, &mut maps);
    maps
}

struct PrescanFrame {
    remaining: u64,
    count: u64,
    /// Index of the array; `None` for the body of an object.
    array: Option<usize>,
}

fn scan_document(scan: &mut Scan<'_>, maps: &mut Vec<bool>) -> Option<()> {
    let mut open = Vec::new();
    scan_value(scan, maps, &mut open)?;
    while let Some(inner) = open.last_mut() {
        if inner.remaining == 0 {
            open.pop();
            continue;
        }
        inner.remaining -= 1;
        let tag = read_byte(scan)?;
        if tag == tag::NULL {
            continue;
        }
        let is_next = match tag::integer_size(tag) {
            Some(size) => read_number(scan, size)? == inner.count && (tag & 1 == 0 || inner.count == 0),
            None => {
                skip_string(scan, tag)?;
                false
            }
        };
        inner.count += 1;
        if let (Some(array), false) = (inner.array, is_next) {
            maps[array] = true;
        }
        scan_value(scan, maps, &mut open)?;
    }
    Some(())
}

fn scan_value(scan: &mut Scan<'_>, maps: &mut Vec<bool>, open: &mut Vec<PrescanFrame>) -> Option<()> {
    let mut tag = read_byte(scan)?;
    if tag == tag::REFERENCE {
        tag = read_byte(scan)?;
    }
    match tag {
        tag::NULL | tag::FALSE | tag::TRUE => {}
        0x01..=0x03 => drop(read_number(scan, 1 << (tag - tag::ARRAY_REF))?),
        0x22..=0x24 => drop(read_number(scan, 1 << (tag - tag::OBJECT_REF))?),
        tag::FLOAT => skip_bytes(scan, 8)?,
        0x14..=0x16 => {
            let remaining = read_number(scan, 1 << (tag - tag::ARRAY))?;
            maps.push(false);
            open.push(PrescanFrame { remaining, count: 0, array: Some(maps.len() - 1) });
        }
        0x17..=0x1c => {
            match tag {
                0x17..=0x19 => {
                    let len = read_number(scan, 1 << (tag - tag::OBJECT))?;
                    skip_bytes(scan, len)?;
                }
                _ => drop(read_number(scan, 1 << (tag - tag::OBJECT_ID))?),
            }
            match read_byte(scan)? {
                tag @ 0x14..=0x16 => {
                    let remaining = read_number(scan, 1 << (tag - tag::ARRAY))?;
                    open.push(PrescanFrame { remaining, count: 0, array: None });
                }
                tag @ 0x1d..=0x1f => {
                    let len = read_number(scan, 1 << (tag - tag::PAYLOAD))?;
                    skip_bytes(scan, len)?;
                }
                tag::ENUM => {
                    let tag = read_byte(scan)?;
                    skip_string(scan, tag)?;
                }
                _ => return None,
            }
        }
        _ => match tag::integer_size(tag) {
            Some(size) => drop(read_number(scan, size)?),
            None => skip_string(scan, tag)?,
        },
    }
    Some(())
}

fn read_byte(scan: &mut Scan<'_>) -> Option<u8> {
    scan.read_u8("").ok()
}

fn read_number(scan: &mut Scan<'_>, size: usize) -> Option<u64> {
    let bytes = scan.read_bytes(size, "").ok()?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn skip_bytes(scan: &mut Scan<'_>, len: u64) -> Option<()> {
    scan.read_bytes(usize::try_from(len).ok()?, "").ok().map(drop)
}

fn skip_string(scan: &mut Scan<'_>, tag: u8) -> Option<()> {
    let len = match tag {
        tag::EMPTY => return Some(()),
        0x0e..=0x10 => return read_number(scan, 1 << (tag - tag::STRING_ID)).map(drop),
        0x11..=0x13 => read_number(scan, 1 << (tag - tag::STRING))?,
        tag::STRING64 => read_number(scan, 8)?,
        _ => return None,
    };
    skip_bytes(scan, len)
}
