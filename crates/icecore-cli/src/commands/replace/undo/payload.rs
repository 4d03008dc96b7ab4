//! The payloads of an undo file: tables, and the old values of a transaction.

use icecore_store::table::Cell;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Maximum number of columns of a key. Database servers allow fewer; the limit keeps the memory for a payload
/// proportional to its length.
pub const MAX_KEY_COLUMNS: usize = 64;

/// Describes a run: a command that starts a change of a database, or continues it.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunHeader {
    /// The program and its version.
    pub program: String,
    /// The start time.
    pub started: String,
    /// The address of the database, without a password.
    pub database: String,
    /// The identity by which addresses are compared.
    pub identity: String,
    /// The first pairs, for people.
    pub pairs: Vec<(String, String)>,
}

/// A table. Later records refer to it by its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableNames {
    /// Its name on the command line.
    pub name: String,
    /// The column of `--key`, if given.
    pub chosen_key: Option<String>,
    /// The columns of the key.
    pub key: Vec<String>,
    /// The columns to which cells refer by number.
    pub columns: Vec<String>,
}

/// The changed values of a transaction, or of a part of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The number of the table.
    pub table: usize,
    /// In the last part: the key of the last row that the transaction examined.
    pub last_key: Option<Vec<String>>,
    pub rows: Vec<ChangedRow>,
}

/// A row with changed values.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangedRow {
    pub key: Vec<String>,
    pub cells: Vec<ChangedCell>,
}

/// A changed value.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangedCell {
    /// The number of its column.
    pub column: usize,
    /// The value before the change.
    pub old: Cell,
    /// The digest of the value that the database stored instead.
    pub stored: CellDigest,
}

/// SHA-256 of a value. Equal digests mean equal values, so the file need not contain the whole value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellDigest([u8; 32]);

impl CellDigest {
    pub fn from_cell(cell: &Cell) -> CellDigest {
        let mut hasher = Sha256::new();
        hasher.update([u8::from(cell.is_text)]);
        hasher.update(&cell.bytes);
        let mut digest = [0; 32];
        digest.iter_mut().zip(hasher.finalize()).for_each(|(target, byte)| *target = byte);
        CellDigest(digest)
    }
}

impl Changes {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push_number(self.table, &mut out);
        out.push(u8::from(self.last_key.is_some()));
        if let Some(key) = &self.last_key {
            push_texts(key, &mut out);
        }
        push_number(self.rows.len(), &mut out);
        for row in &self.rows {
            push_texts(&row.key, &mut out);
            push_number(row.cells.len(), &mut out);
            for cell in &row.cells {
                push_number(cell.column, &mut out);
                out.push(u8::from(cell.old.is_text));
                push_bytes(&cell.old.bytes, &mut out);
                out.extend_from_slice(&cell.stored.0);
            }
        }
        out
    }

    /// Decodes a payload. An error names the byte at which it is invalid.
    pub fn decode(payload: &[u8]) -> Result<Changes, String> {
        let mut parser = Parser { rest: payload, len: payload.len() };
        let changes = parser.read_changes();
        let offset = parser.len - parser.rest.len();
        match changes {
            Some(changes) if parser.rest.is_empty() => Ok(changes),
            Some(_) => Err(format!("expected its end at byte {offset} of {}", payload.len())),
            None => Err(format!("it makes no sense at byte {offset} of {}", payload.len())),
        }
    }

    /// Returns the number of values.
    pub fn cell_count(&self) -> u64 {
        self.rows.iter().map(|row| row.cells.len() as u64).sum()
    }
}

/// Reads values from the beginning of a buffer. Memory is allocated only for bytes that exist, whatever a length
/// says.
struct Parser<'p> {
    rest: &'p [u8],
    len: usize,
}

impl Parser<'_> {
    /// Reads a whole payload. Returns `None` if it is invalid.
    fn read_changes(&mut self) -> Option<Changes> {
        let table = self.read_number()?;
        let last_key = if self.read_flag()? { Some(self.read_texts()?) } else { None };
        let mut rows = Vec::new();
        for _ in 0..self.read_number()? {
            let key = self.read_texts()?;
            let mut cells = Vec::new();
            let cell_count = self.read_number()?;
            // Without this check, many empty rows could take far more memory than the payload has bytes.
            if key.is_empty() || cell_count == 0 {
                return None;
            }
            for _ in 0..cell_count {
                let column = self.read_number()?;
                let is_text = self.read_flag()?;
                let bytes = self.read_bytes()?.to_vec();
                let (digest, rest) = self.rest.split_first_chunk::<32>()?;
                self.rest = rest;
                cells.push(ChangedCell { column, old: Cell { bytes, is_text }, stored: CellDigest(*digest) });
            }
            rows.push(ChangedRow { key, cells });
        }
        Some(Changes { table, last_key, rows })
    }

    fn read_byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn read_flag(&mut self) -> Option<bool> {
        match self.read_byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Reads a number of at most 63 bits: seven bits per byte, lowest first.
    fn read_number(&mut self) -> Option<usize> {
        let mut number = 0u64;
        for shift in (0..63).step_by(7) {
            let byte = self.read_byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return usize::try_from(number).ok();
            }
        }
        None
    }

    fn read_bytes(&mut self) -> Option<&[u8]> {
        let len = self.read_number()?;
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    fn read_texts(&mut self) -> Option<Vec<String>> {
        let mut texts = Vec::new();
        let count = self.read_number()?;
        if count > MAX_KEY_COLUMNS {
            return None;
        }
        for _ in 0..count {
            texts.push(String::from_utf8(self.read_bytes()?.to_vec()).ok()?);
        }
        Some(texts)
    }
}

fn push_number(number: usize, out: &mut Vec<u8>) {
    let mut rest = number as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    push_number(bytes.len(), out);
    out.extend_from_slice(bytes);
}

fn push_texts(texts: &[String], out: &mut Vec<u8>) {
    push_number(texts.len(), out);
    texts.iter().for_each(|text| push_bytes(text.as_bytes(), out));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Changes {
        let cell = |column: usize, bytes: &[u8], is_text| ChangedCell {
            column,
            old: Cell { bytes: bytes.to_vec(), is_text },
            stored: CellDigest::from_cell(&Cell { bytes: b"new".to_vec(), is_text }),
        };
        let row = |key: &[&str], cells| ChangedRow { key: key.iter().map(|part| (*part).to_owned()).collect(), cells };
        let rows = vec![
            row(&["18446744073709551615", ""], vec![cell(0, b"old", true), cell(300, b"\xff\0", false)]),
            row(&["Ä  "], vec![cell(1, &[b'x'; 200], true)]),
            row(&["", "a"], vec![cell(0, b"", true)]),
        ];
        Changes { table: 129, last_key: Some(vec!["7".to_owned()]), rows }
    }

    #[test]
    fn changes_round_trip() {
        let changes = sample();
        assert_eq!(Changes::decode(&changes.encode()).unwrap(), changes);
        assert_eq!(changes.cell_count(), 4);
        let no_changes = Changes::default();
        assert_eq!(Changes::decode(&no_changes.encode()).unwrap(), no_changes);
    }

    #[test]
    fn cut_and_hostile_payloads_are_refused() {
        let payload = sample().encode();
        for end in 0..payload.len() {
            assert!(Changes::decode(&payload[..end]).is_err(), "cut at {end}");
        }
        for index in 0..payload.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut other = payload.clone();
                other[index] = byte;
                // It may have another meaning, but must end soon and without a panic.
                let _ = Changes::decode(&other);
            }
        }
        // Counts and lengths without the bytes for them.
        for hostile in [
            &b"\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x7f"[..],
            b"\0\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\0\0\x01\x01\xff\xff\xff\xff\x7f",
            // Rows without a key, or without values.
            b"\0\0\x01\0\0",
            b"\0\0\x01\x01\0\0",
            b"\0\0\x01\0\xff\xff\xff\xff\xff\xff\xff\xff\x7f\0",
        ] {
            assert!(Changes::decode(hostile).is_err());
        }
        assert!(Changes::decode(b"\0\0\0x").unwrap_err().contains("byte 3 of 4"));
    }

    #[test]
    fn text_and_bytes_have_different_digests() {
        let digest = |is_text| CellDigest::from_cell(&Cell { bytes: b"x".to_vec(), is_text });
        assert_ne!(digest(true), digest(false));
        assert_eq!(digest(true), digest(true));
    }
}
