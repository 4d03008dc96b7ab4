//! Checks the depth of the types of a Parquet file before its reader builds them.
//!
//! Readers build the tree of types by recursion, as deep as the file declares, and could exhaust the stack. So the
//! list from which they build the tree is walked first. This list is at the end of the file, in Thrift's compact
//! protocol.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Number of bytes after the list at the end of a file. They are the length of the list, and the letters `PAR1`.
const TRAILER_LEN: u64 = 8;
const MAGIC: &[u8] = b"PAR1";
/// Maximum nesting of Thrift structures. The structures of Parquet have a few levels.
const MAX_NESTING: usize = 32;

/// Number of the field with the list of types, in the whole structure.
const ELEMENTS_FIELD: i16 = 2;
/// Number of the field with the number of children, in an element of the list.
const CHILDREN_FIELD: i16 = 5;

/// The types of Thrift's fields.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Returns whether the types of a file are at most this deep. Also returns `true` for a damaged file, because the
/// reader reports the damage.
pub fn is_shallow(file: &mut File, depth: usize) -> io::Result<bool> {
    let len = file.seek(SeekFrom::End(0))?;
    let mut end = [0; TRAILER_LEN as usize];
    if len >= TRAILER_LEN {
        file.seek(SeekFrom::Start(len - TRAILER_LEN))?;
        file.read_exact(&mut end)?;
    }
    let size = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    let mut bytes = Vec::new();
    if end.ends_with(MAGIC) && size <= len.saturating_sub(TRAILER_LEN) {
        file.seek(SeekFrom::Start(len - TRAILER_LEN - size))?;
        file.by_ref().take(size).read_to_end(&mut bytes)?;
    }
    file.rewind()?;
    Ok(ThriftReader { rest: &bytes }.check_structure(depth) != Some(false))
}

/// The remaining bytes.
struct ThriftReader<'b> {
    rest: &'b [u8],
}

impl ThriftReader<'_> {
    /// Walks the whole structure. Returns whether its types are at most this deep. It is `None` if it is damaged.
    fn check_structure(&mut self, depth: usize) -> Option<bool> {
        let mut last = 0;
        loop {
            let (kind, field) = self.read_field(&mut last)?;
            match (kind, field) {
                (STOP, _) => return Some(true),
                (LIST, ELEMENTS_FIELD) => return self.check_elements(depth),
                _ => match self.skip_value(kind, MAX_NESTING) {
                    Some(true) => {}
                    other => return other,
                },
            }
        }
    }

    /// Walks the elements of the types in pre-order. Each element has the number of its children.
    fn check_elements(&mut self, depth: usize) -> Option<bool> {
        let (count, kind) = self.read_list_header()?;
        if kind != STRUCT {
            return None;
        }
        // Number of children of the open elements that still follow.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..count {
            let children = match self.read_child_count()? {
                Some(children) => children,
                None => return Some(false),
            };
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(remaining) = open.last_mut() {
                *remaining -= 1;
            }
            if children > 0 {
                open.push(children);
            }
            // The root is not a type.
            if open.len() > depth + 1 {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the number of children of an element. Returns `Some(None)` if the element itself is nested too deep,
    /// and `None` if it is damaged.
    fn read_child_count(&mut self) -> Option<Option<i64>> {
        let (mut last, mut children) = (0, 0);
        loop {
            let (kind, field) = self.read_field(&mut last)?;
            match (kind, field) {
                (STOP, _) => return Some(Some(children)),
                (I32, CHILDREN_FIELD) => children = self.read_signed()?,
                _ => match self.skip_value(kind, MAX_NESTING)? {
                    true => {}
                    false => return Some(None),
                },
            }
        }
    }

    fn read_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip_bytes(&mut self, count: u64) -> Option<bool> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(true)
    }

    fn read_unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.read_byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn read_signed(&mut self) -> Option<i64> {
        let zigzag = self.read_unsigned()?;
        Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// Reads the type of the next field, and its number.
    fn read_field(&mut self, last: &mut i16) -> Option<(u8, i16)> {
        let head = self.read_byte()?;
        if head != STOP {
            *last = match head >> 4 {
                0 => self.read_signed()? as i16,
                step => last.wrapping_add(i16::from(step)),
            };
        }
        Some((head & 0xf, *last))
    }

    /// Reads the number of items of a list, and their type.
    fn read_list_header(&mut self) -> Option<(u64, u8)> {
        let head = self.read_byte()?;
        let count = match head >> 4 {
            15 => self.read_unsigned()?,
            count => u64::from(count),
        };
        Some((count, head & 0xf))
    }

    /// Skips a value. Returns `Some(false)` if it is deeper than allowed, `None` if it is damaged.
    fn skip_value(&mut self, kind: u8, depth: usize) -> Option<bool> {
        let Some(deeper) = depth.checked_sub(1) else { return Some(false) };
        match kind {
            TRUE | FALSE => Some(true),
            BYTE => self.skip_bytes(1),
            I16 | I32 | I64 => self.read_unsigned().map(|_| true),
            DOUBLE => self.skip_bytes(8),
            BINARY => {
                let len = self.read_unsigned()?;
                self.skip_bytes(len)
            }
            LIST | SET => {
                let (count, kind) = self.read_list_header()?;
                self.skip_items(count, &[kind], deeper)
            }
            MAP => match self.read_unsigned()? {
                0 => Some(true),
                count => {
                    let kinds = self.read_byte()?;
                    self.skip_items(count, &[kinds >> 4, kinds & 0xf], deeper)
                }
            },
            STRUCT => {
                let mut last = 0;
                loop {
                    match self.read_field(&mut last)?.0 {
                        STOP => return Some(true),
                        kind if self.skip_value(kind, deeper)? => {}
                        _ => return Some(false),
                    }
                }
            }
            _ => None,
        }
    }

    fn skip_items(&mut self, count: u64, kinds: &[u8], depth: usize) -> Option<bool> {
        for _ in 0..count {
            for kind in kinds {
                let is_shallow_enough = match *kind {
                    // In a list, each boolean has a byte.
                    TRUE | FALSE => self.skip_bytes(1)?,
                    kind => self.skip_value(kind, depth)?,
                };
                if !is_shallow_enough {
                    return Some(false);
                }
            }
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::ThriftReader;

    /// Returns a list of `depth` nested groups.
    fn types(depth: usize) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0xfc];
        bytes.extend([(depth as u8 & 0x7f) | 0x80, (depth >> 7) as u8]);
        for _ in 0..depth {
            bytes.extend(b"\x35\x02\x18\x01a\x15\x02\0");
        }
        bytes
    }

    #[test]
    fn too_deep_types_are_refused_before_they_are_built() {
        assert_eq!(ThriftReader { rest: &types(64) }.check_structure(64), Some(true));
        assert_eq!(ThriftReader { rest: &types(66) }.check_structure(64), Some(false));
        assert_eq!(ThriftReader { rest: &types(5000) }.check_structure(64), Some(false));
    }

    #[test]
    fn deeply_nested_structures_are_refused() {
        let mut bytes = vec![0x7c];
        bytes.extend([0x1c].repeat(100_000));
        assert_eq!(ThriftReader { rest: &bytes }.check_structure(64), Some(false));
        let mut bytes = vec![0x79];
        bytes.extend([0x19].repeat(100_000));
        assert_eq!(ThriftReader { rest: &bytes }.check_structure(64), Some(false));
    }

    #[test]
    fn damaged_footers_are_left_to_the_reader() {
        for cut in 0..types(10).len() {
            ThriftReader { rest: &types(10)[..cut] }.check_structure(64);
        }
        assert_eq!(
            ThriftReader { rest: b"\x19\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" }.check_structure(64),
            None
        );
    }
}
