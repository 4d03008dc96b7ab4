//! The binary form of the records of an undo file.
//!
//! ```text
//! file    magic, records
//! record  kind, method, stored length, full length, digest, head digest, payload
//!         (1, 1, 4, 4, 16, 4 and any number of bytes; method 1 is zstd)
//! ```
//!
//! Both digests are the first bytes of a SHA-256. The digest covers the fields before it, the payload, and the digest
//! of the previous record, so no record can be omitted, duplicated or moved. The head digest covers everything before
//! it.
//!
//! The file is only appended to. The records of a transaction are on the disk before the transaction is committed, so a
//! partial record, left by a kill or a full disk, belongs to a transaction that was not committed.

use icecore::Limits;
use icecore::format::Settings;
use icecore::wrap;
use sha2::{Digest, Sha256};

/// The first bytes of an undo file, which include the version of the format.
pub const MAGIC: &[u8; 16] = b"icecore undo 1\r\n";
/// Length of the head of a record: everything before its payload.
pub const HEAD_LEN: usize = 30;

/// Length of a digest: the first half of a SHA-256.
const DIGEST_LEN: usize = 16;
/// Length of the digest of a head.
const HEAD_DIGEST_LEN: usize = 4;
/// Length of the fields before the digests: kind, method, stored length, full length.
const FIELDS_LEN: usize = 10;
/// A payload of at most this decompressed length is always allowed, and a longer one if `MAX_RATIO` permits it. The
/// writer obeys these limits, so the length of the file bounds the memory that a reader needs.
const ALWAYS_ALLOWED_LEN: u64 = 16 << 20;
/// Maximum ratio of the decompressed to the stored length, for sizes above `ALWAYS_ALLOWED_LEN`.
const MAX_RATIO: u64 = 1000;

/// The digest of a record. Encoding or checking the next record needs only this.
pub type RecordDigest = [u8; DIGEST_LEN];

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The command starts to change a database, or continues to.
    Run,
    /// Describes a table. Later records refer to it by its number.
    Table,
    /// The values that change in a transaction, or some of them.
    Changes,
    /// The change is complete.
    End,
}

impl RecordKind {
    fn to_byte(self) -> u8 {
        match self {
            RecordKind::Run => b'R',
            RecordKind::Table => b'T',
            RecordKind::Changes => b'C',
            RecordKind::End => b'E',
        }
    }

    fn from_byte(byte: u8) -> Option<RecordKind> {
        [RecordKind::Run, RecordKind::Table, RecordKind::Changes, RecordKind::End]
            .into_iter()
            .find(|kind| kind.to_byte() == byte)
    }
}

/// The head of a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordHead {
    pub kind: RecordKind,
    is_compressed: bool,
    /// Number of bytes after the head.
    pub stored_len: u32,
    /// Number of bytes of the decompressed payload.
    full_len: u32,
    pub digest: RecordDigest,
}

/// Returns the bytes of a record, and its digest. `None` if the payload is too long.
pub fn encode_record(
    kind: RecordKind,
    payload: &[u8],
    previous_digest: &RecordDigest,
) -> Option<(Vec<u8>, RecordDigest)> {
    let full_len = u32::try_from(payload.len()).ok()?;
    let compressed = compress(payload).filter(|compressed| is_allowed(compressed.len() as u64, payload.len() as u64));
    let stored_payload = compressed.as_deref().unwrap_or(payload);
    let stored_len = u32::try_from(stored_payload.len()).ok()?;
    let mut fields = vec![kind.to_byte(), u8::from(compressed.is_some())];
    fields.extend_from_slice(&stored_len.to_le_bytes());
    fields.extend_from_slice(&full_len.to_le_bytes());
    let digest = compute_digest(&[previous_digest, &fields, stored_payload]);
    let head_digest = compute_digest(&[b"head", previous_digest, &fields, &digest]);
    let mut record = fields;
    record.extend_from_slice(&digest);
    record.extend_from_slice(head_digest.get(..HEAD_DIGEST_LEN).unwrap_or_default());
    record.extend_from_slice(stored_payload);
    Some((record, digest))
}

impl RecordHead {
    /// Decodes a head. `None` if it is damaged, or was not written after the record with the digest `previous_digest`.
    pub fn decode(bytes: &[u8; HEAD_LEN], previous_digest: &RecordDigest) -> Option<RecordHead> {
        let (fields, rest) = bytes.split_at(FIELDS_LEN);
        let (digest, head_digest) = rest.split_first_chunk::<DIGEST_LEN>()?;
        let expected = compute_digest(&[b"head", previous_digest, fields, digest]);
        if expected.get(..HEAD_DIGEST_LEN) != Some(head_digest) {
            return None;
        }
        let is_compressed = match fields.get(1)? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let number_at = |start: usize| Some(u32::from_le_bytes(fields.get(start..start + 4)?.try_into().ok()?));
        let kind = RecordKind::from_byte(*fields.first()?)?;
        Some(RecordHead { kind, is_compressed, stored_len: number_at(2)?, full_len: number_at(6)?, digest: *digest })
    }

    /// Returns true if the digest of this head belongs to these bytes as its stored payload.
    pub fn matches_payload(&self, stored_payload: &[u8], previous_digest: &RecordDigest) -> bool {
        let mut fields = vec![self.kind.to_byte(), u8::from(self.is_compressed)];
        fields.extend_from_slice(&self.stored_len.to_le_bytes());
        fields.extend_from_slice(&self.full_len.to_le_bytes());
        compute_digest(&[previous_digest, &fields, stored_payload]) == self.digest
    }

    /// Decompresses the payload if necessary.
    ///
    /// # Errors
    /// The reason why the payload is invalid.
    pub fn decompress_payload(&self, stored_payload: Vec<u8>) -> Result<Vec<u8>, String> {
        let full_len = u64::from(self.full_len);
        if !self.is_compressed {
            return if stored_payload.len() as u64 == full_len {
                Ok(stored_payload)
            } else {
                Err("its length is wrong".to_owned())
            };
        }
        if !is_allowed(stored_payload.len() as u64, full_len) {
            return Err(format!("{} bytes can't have {full_len} bytes in them", stored_payload.len()));
        }
        let mut limits = Limits::default();
        limits.decompressed = full_len;
        let zstd = wrap::by_name("zstd").ok_or("this build has no zstd")?;
        let decompressed =
            (zstd.unwrap)(&stored_payload, &Settings::new(), &limits).map_err(|error| error.to_string())?;
        if decompressed.bytes.len() as u64 != full_len {
            return Err("its length is wrong".to_owned());
        }
        Ok(decompressed.bytes.into_owned())
    }
}

/// Returns true if a payload of this stored length may decompress to this full length.
fn is_allowed(stored_len: u64, full_len: u64) -> bool {
    full_len <= ALWAYS_ALLOWED_LEN.max(stored_len.saturating_mul(MAX_RATIO))
}

/// Compresses a payload; `None` if the result is not shorter.
fn compress(payload: &[u8]) -> Option<Vec<u8>> {
    let mut compressed = Vec::new();
    (wrap::by_name("zstd")?.wrap)(payload, &Settings::new(), &mut compressed).ok()?;
    (compressed.len() < payload.len()).then_some(compressed)
}

fn compute_digest(parts: &[&[u8]]) -> RecordDigest {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    let mut digest = RecordDigest::default();
    digest.iter_mut().zip(hasher.finalize()).for_each(|(target, byte)| *target = byte);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_record(record: &[u8], previous_digest: &RecordDigest) -> Option<(RecordHead, Vec<u8>)> {
        let (head, stored_payload) = record.split_first_chunk::<HEAD_LEN>()?;
        let head = RecordHead::decode(head, previous_digest)?;
        (stored_payload.len() == head.stored_len as usize && head.matches_payload(stored_payload, previous_digest))
            .then(|| (head, stored_payload.to_vec()))
    }

    #[test]
    fn records_round_trip_and_damaged_ones_are_refused() {
        let previous_digest = [7; DIGEST_LEN];
        for payload in [&b""[..], b"short", &[b'x'; 5000]] {
            let (record, digest) = encode_record(RecordKind::Changes, payload, &previous_digest).unwrap();
            let (head, stored_payload) = decode_record(&record, &previous_digest).unwrap();
            assert_eq!((head.kind, head.digest), (RecordKind::Changes, digest));
            assert_eq!(head.decompress_payload(stored_payload).unwrap(), payload);
            for index in 0..record.len() {
                let mut other = record.clone();
                other[index] ^= 1;
                assert!(decode_record(&other, &previous_digest).is_none(), "byte {index}");
                assert!(decode_record(&record[..index], &previous_digest).is_none());
            }
            // After another record, the record is invalid.
            assert!(decode_record(&record, &[8; DIGEST_LEN]).is_none());
        }
    }

    #[test]
    fn decompressed_payloads_are_limited_by_their_length() {
        // Data that would shrink to less than a thousandth is stored uncompressed, if it is larger than
        // ALWAYS_ALLOWED_LEN.
        let zeros = vec![0; 20 << 20];
        let (record, _) = encode_record(RecordKind::Changes, &zeros, &RecordDigest::default()).unwrap();
        assert!(record.len() > zeros.len());
        let (small, _) = encode_record(RecordKind::Changes, &zeros[..1 << 20], &RecordDigest::default()).unwrap();
        assert!(small.len() < 1 << 10);
        // A bomb whose head gives its real length, and one whose head lies.
        let compressed = compress(&zeros).unwrap();
        for full_len in [20 << 20, 1 << 20] {
            let stored_len = compressed.len() as u32;
            let head = RecordHead {
                kind: RecordKind::Changes,
                is_compressed: true,
                stored_len,
                full_len,
                digest: RecordDigest::default(),
            };
            assert!(head.decompress_payload(compressed.clone()).is_err());
        }
    }
}
