//! An undo file on the disk. Records are appended, and can be read at any position.

use super::record::{HEAD_LEN, MAGIC, RecordDigest, RecordHead, RecordKind, encode_record};
use crate::report::{Abort, code, io_reason};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A complete record.
#[derive(Clone, Copy, Debug)]
pub struct RecordEntry {
    /// Offset of its head.
    pub offset: u64,
    pub head: RecordHead,
    /// The digest of the record before it.
    previous_digest: RecordDigest,
}

/// An undo file.
#[derive(Debug)]
pub struct UndoFile {
    file: File,
    name: String,
    /// The complete records.
    pub entries: Vec<RecordEntry>,
    /// End of the last complete record.
    pub complete_len: u64,
    /// Whether an incomplete record follows the complete ones.
    pub is_torn: bool,
}

impl UndoFile {
    /// Creates a new file, which no other user may read.
    pub fn create(path: &Path) -> io::Result<UndoFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(MAGIC)?;
        file.sync_all()?;
        sync_folder(path);
        let name = path.display().to_string();
        let undo_file = UndoFile { file, name, entries: Vec::new(), complete_len: MAGIC.len() as u64, is_torn: false };
        match undo_file.file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::Error::other("another program has locked it")),
            // Some file systems have no locks.
            _ => Ok(undo_file),
        }
    }

    /// Opens a file for reading, and checks all of its records.
    pub fn open_for_reading(path: &Path) -> Result<UndoFile, Abort> {
        UndoFile::open(path, false)
    }

    /// Opens a file for reading and appending, and checks all of its records.
    pub fn open_for_writing(path: &Path) -> Result<UndoFile, Abort> {
        UndoFile::open(path, true)
    }

    fn open(path: &Path, is_for_writing: bool) -> Result<UndoFile, Abort> {
        let name = path.display().to_string();
        let read_error = |error: &io::Error| Abort::Failed(code::USAGE, format!("{name}: {}", io_reason(error)));
        // Opening a pipe would wait for its other end.
        if !path.metadata().map_err(|error| read_error(&error))?.is_file() {
            return Err(Abort::Failed(code::USAGE, format!("{name}: an undo file must be a file on a disk")));
        }
        let file =
            OpenOptions::new().read(true).write(is_for_writing).open(path).map_err(|error| read_error(&error))?;
        let lock_result = if is_for_writing { file.try_lock() } else { file.try_lock_shared() };
        if matches!(lock_result, Err(TryLockError::WouldBlock)) {
            let text = "another icecore uses it now: wait until that ends";
            return Err(Abort::Failed(code::USAGE, format!("{name}: {text}")));
        }
        let mut undo = UndoFile { file, name, entries: Vec::new(), complete_len: 0, is_torn: false };
        undo.read_records()?;
        Ok(undo)
    }

    /// Reads all records.
    fn read_records(&mut self) -> Result<(), Abort> {
        let len = self.file.metadata().map_err(|error| self.read_error(&error))?.len();
        let mut reader = BufReader::with_capacity(1 << 20, &self.file);
        let mut magic = [0; MAGIC.len()];
        let has_magic = len >= magic.len() as u64 && reader.read_exact(&mut magic).is_ok() && magic == *MAGIC;
        if !has_magic {
            let text = "not an undo file of this version of icecore";
            return Err(Abort::Failed(code::INPUT, format!("{}: {text}", self.name)));
        }
        let (mut offset, mut previous_digest) = (magic.len() as u64, RecordDigest::default());
        let mut entries: Vec<RecordEntry> = Vec::new();
        while offset < len {
            let remaining_len = len - offset;
            let mut head_bytes = [0; HEAD_LEN];
            if remaining_len < HEAD_LEN as u64 {
                self.is_torn = true;
                break;
            }
            reader.read_exact(&mut head_bytes).map_err(|error| self.read_error(&error))?;
            let Some(record_head) = RecordHead::decode(&head_bytes, &previous_digest) else {
                // After a power failure, the system may leave zeros where nothing was written.
                if head_bytes.iter().all(|byte| *byte == 0)
                    && has_only_zeros(&mut reader).map_err(|error| self.read_error(&error))?
                {
                    self.is_torn = true;
                    break;
                }
                return Err(self.damage_error(offset, entries.len(), "its head has changed"));
            };
            let end = offset + HEAD_LEN as u64 + u64::from(record_head.stored_len);
            if end > len {
                self.is_torn = true;
                break;
            }
            let stored_payload =
                read_bytes(&mut reader, record_head.stored_len).map_err(|error| self.read_error(&error))?;
            if !record_head.matches_payload(&stored_payload, &previous_digest) {
                if end == len {
                    self.is_torn = true;
                    break;
                }
                return Err(self.damage_error(offset, entries.len(), "its bytes have changed"));
            }
            entries.push(RecordEntry { offset, head: record_head, previous_digest });
            (offset, previous_digest) = (end, record_head.digest);
        }
        (self.entries, self.complete_len) = (entries, offset);
        Ok(())
    }

    /// Reads the payload of a record.
    pub fn read_payload(&mut self, entry: &RecordEntry) -> Result<Vec<u8>, Abort> {
        let read_stored = |file: &mut File| -> io::Result<Vec<u8>> {
            file.seek(SeekFrom::Start(entry.offset + HEAD_LEN as u64))?;
            read_bytes(file, entry.head.stored_len)
        };
        let stored_payload = read_stored(&mut self.file).map_err(|error| self.read_error(&error))?;
        if !entry.head.matches_payload(&stored_payload, &entry.previous_digest) {
            return Err(self.damage_error(entry.offset, 0, "it changed while it was read"));
        }
        entry.head.decompress_payload(stored_payload).map_err(|reason| self.record_error(entry, &reason))
    }

    /// Appends a record. It is durable only after [`UndoFile::sync`].
    pub fn append(&mut self, kind: RecordKind, payload: &[u8]) -> io::Result<()> {
        let previous_digest = self.entries.last().map_or(RecordDigest::default(), |entry| entry.head.digest);
        let too_long_error =
            || io::Error::other("a value is too long for an undo file: --no-undo changes it without one");
        let (record, _) = encode_record(kind, payload, &previous_digest).ok_or_else(too_long_error)?;
        let head = record.first_chunk::<HEAD_LEN>().and_then(|head| RecordHead::decode(head, &previous_digest));
        let head = head.ok_or_else(too_long_error)?;
        self.file.seek(SeekFrom::Start(self.complete_len))?;
        if let Err(error) = self.file.write_all(&record) {
            // Remove the part of the record that was written.
            let _ = self.file.set_len(self.complete_len);
            return Err(error);
        }
        self.entries.push(RecordEntry { offset: self.complete_len, head, previous_digest });
        self.complete_len += record.len() as u64;
        Ok(())
    }

    /// Makes all appended records durable.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Removes a torn record from the end.
    pub fn cut_torn_end(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.complete_len)?;
            self.file.sync_all()?;
            self.is_torn = false;
        }
        Ok(())
    }

    /// Returns the error for a record with an invalid payload.
    pub fn record_error(&self, entry: &RecordEntry, reason: &str) -> Abort {
        let text = format!("{}: the record at offset {} can't be read: {reason}", self.name, entry.offset);
        Abort::Failed(code::INPUT, text)
    }

    fn read_error(&self, error: &io::Error) -> Abort {
        Abort::Failed(code::USAGE, format!("{}: {}", self.name, io_reason(error)))
    }

    fn damage_error(&self, offset: u64, complete_count: usize, reason: &str) -> Abort {
        let name = &self.name;
        let text = format!(
            "{name}: the record at offset {offset} is damaged: {reason}. Nothing was changed. The {complete_count} records before it \
             are whole: `head -c {offset} {name} > NEW` makes a file of them, which puts back less"
        );
        Abort::Failed(code::INPUT, text)
    }
}

/// Returns true if the rest of the file contains only zeros.
fn has_only_zeros(reader: &mut impl Read) -> io::Result<bool> {
    let mut buffer = [0; 8192];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) if buffer.iter().take(count).all(|byte| *byte == 0) => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads this number of bytes. Memory is allocated only for bytes that exist, because the length may be wrong.
fn read_bytes(reader: &mut impl Read, len: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.by_ref().take(u64::from(len)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == u64::from(len) { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Makes the name of a new file durable, if the system supports this.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a file with some records, and returns where each ends.
    fn write_records(path: &Path) -> Vec<u64> {
        let mut undo = UndoFile::create(path).unwrap();
        let mut ends = vec![undo.complete_len];
        for (kind, payload) in [
            (RecordKind::Run, &b"{}"[..]),
            (RecordKind::Table, b"table"),
            (RecordKind::Changes, &[b'x'; 3000]),
            (RecordKind::End, b""),
        ] {
            undo.append(kind, payload).unwrap();
            ends.push(undo.complete_len);
        }
        undo.sync().unwrap();
        ends
    }

    fn opening_error(path: &Path) -> String {
        match UndoFile::open_for_reading(path) {
            Err(Abort::Failed(_, text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_undo_file_is_read_back_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.undo");
        write_records(&path);
        let mut undo = UndoFile::open_for_writing(&path).unwrap();
        let kinds: Vec<RecordKind> = undo.entries.iter().map(|entry| entry.head.kind).collect();
        assert_eq!(kinds, [RecordKind::Run, RecordKind::Table, RecordKind::Changes, RecordKind::End]);
        let entry = undo.entries[2];
        assert_eq!(undo.read_payload(&entry).unwrap(), [b'x'; 3000]);
        // No other process can open it meanwhile.
        assert!(opening_error(&path).contains("another icecore uses it now"));
        undo.append(RecordKind::Run, b"more").unwrap();
        drop(undo);
        assert_eq!(UndoFile::open_for_reading(&path).unwrap().entries.len(), 5);
        assert!(UndoFile::create(&path).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_cut_record_at_the_end_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (complete_path, path) = (folder.path().join("whole.undo"), folder.path().join("cut.undo"));
        let ends = write_records(&complete_path);
        let bytes = std::fs::read(&complete_path).unwrap();
        for end in MAGIC.len()..bytes.len() {
            for zeros in [0, 1, 5000] {
                let mut cut = bytes[..end].to_vec();
                cut.resize(end + zeros, 0);
                std::fs::write(&path, &cut).unwrap();
                let expected = ends.iter().filter(|offset| **offset <= end as u64).count() - 1;
                let Ok(mut undo) = UndoFile::open_for_writing(&path) else {
                    // Zeros in the middle of a record can't be distinguished from damage.
                    assert!(zeros > 0 && !ends.contains(&(end as u64)), "cut at {end}, {zeros} zeros");
                    continue;
                };
                // A zero may have been the next byte.
                assert!(undo.entries.len() == expected || zeros > 0 && undo.entries.len() == expected + 1);
                let is_complete = undo.complete_len == cut.len() as u64;
                assert_eq!(undo.is_torn, !is_complete, "cut at {end}, {zeros} zeros");
                undo.cut_torn_end().unwrap();
                undo.append(RecordKind::End, b"more").unwrap();
                let count = undo.entries.len();
                drop(undo);
                let reopened = UndoFile::open_for_reading(&path).unwrap();
                assert_eq!((reopened.entries.len(), reopened.is_torn), (count, false));
            }
        }
    }

    #[test]
    fn damage_in_the_middle_is_refused_with_its_offset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.undo");
        let ends = write_records(&path);
        let bytes = std::fs::read(&path).unwrap();
        let last = *ends.iter().rev().nth(1).unwrap() as usize;
        for index in MAGIC.len()..last {
            let mut other = bytes.clone();
            other[index] ^= 0x40;
            std::fs::write(&path, &other).unwrap();
            let start = ends.iter().rev().find(|end| **end <= index as u64).unwrap();
            let text = opening_error(&path);
            assert!(text.contains(&format!("the record at offset {start} is damaged")), "byte {index}: {text}");
        }
        for other in [&b""[..], b"icecore undo 2\r\n", b"icecore undo 1\n\n"] {
            std::fs::write(&path, other).unwrap();
            assert!(opening_error(&path).contains("not an undo file"));
        }
    }
}
