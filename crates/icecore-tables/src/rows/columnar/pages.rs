//! The bytes of a Parquet file, with a check of the declared sizes of its pages.

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{BufRead, BufReader};

/// Any page may have this size, whatever its compressed size.
const MAX_UNCHECKED_LEN: u64 = 64 << 20;
/// Maximum ratio of the size of a larger page to its compressed size.
const MAX_EXPANSION: u64 = 1024;

/// A file that returns no more bytes than it has, and no page that would get too large.
pub struct Pages {
    file: File,
    len: u64,
}

impl Pages {
    pub fn new(file: File) -> std::io::Result<Pages> {
        let len = file.metadata()?.len();
        Ok(Pages { file, len })
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<BufReader<File>> {
        let mut read = self.file.get_read(start)?;
        // Readers allocate memory for a page by its header alone.
        match parse_page_sizes(read.fill_buf()?) {
            Some((unpacked, packed)) if unpacked > MAX_UNCHECKED_LEN.max(packed.saturating_mul(MAX_EXPANSION)) => {
                Err(parquet_error(format!(
                    "the page at offset {start} would expand from {packed} to {unpacked} bytes, which is refused: no table needs that"
                )))
            }
            _ => Ok(read),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        match start.checked_add(length as u64) {
            Some(end) if end <= self.len => self.file.get_bytes(start, length),
            _ => {
                Err(parquet_error(format!("expected {length} bytes at offset {start}, but the file has {}", self.len)))
            }
        }
    }
}

fn parquet_error(text: String) -> ParquetError {
    ParquetError::General(text)
}

/// Returns the sizes of a page, unpacked and packed, if these are the first bytes of its header. In Thrift's compact
/// protocol, they are three consecutive fields of 32 bits.
fn parse_page_sizes(mut head: &[u8]) -> Option<(u64, u64)> {
    /// First byte of a field of 32 bits, if its number directly follows the number of the previous field.
    const FIELD: u8 = 0x15;
    let mut fields = [0; 3];
    for field in &mut fields {
        let rest = head.strip_prefix(&[FIELD])?;
        let len = rest.iter().take(10).position(|byte| *byte < 0x80)? + 1;
        let (digits, rest) = rest.split_at_checked(len)?;
        let zigzag = digits.iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
        *field = zigzag >> 1;
        head = rest;
    }
    Some((fields[1], fields[2]))
}

#[cfg(test)]
mod tests {
    use super::parse_page_sizes;

    #[test]
    fn page_sizes_are_parsed_from_headers() {
        assert_eq!(parse_page_sizes(&[0x15, 0, 0x15, 0x80, 0x01, 0x15, 0x20, 0x2c]), Some((64, 16)));
        assert_eq!(parse_page_sizes(&[0x15, 0, 0x25, 0x80, 0x01, 0x15, 0x20]), None);
        assert_eq!(parse_page_sizes(b"PAR1"), None);
        assert_eq!(parse_page_sizes(&[0x15, 0, 0x15, 0x80]), None);
    }
}
