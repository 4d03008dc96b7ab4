//! Compressed bodies.

use super::header::Encoding;
use crate::compress::{snappy, zlib, zstandard};
use crate::error::Error;
use crate::limits::Limits;

/// Decompresses a body.
pub(super) fn decompress(encoding: Encoding, body: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    let max_len = limits.decompressed_from(body.len());
    match encoding {
        Encoding::Raw => Ok(body.to_vec()),
        Encoding::Snappy | Encoding::SnappyIncremental => snappy::decompress(body, max_len, limits),
        Encoding::Zlib => zlib::decompress(body, max_len, limits),
        Encoding::Zstd => zstandard::decompress(body, max_len, limits),
    }
}

/// Compresses a body.
pub(super) fn compress(encoding: Encoding, body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
    match encoding {
        Encoding::Raw => Ok(body.to_vec()),
        Encoding::Snappy | Encoding::SnappyIncremental => snappy::compress(body),
        Encoding::Zlib => zlib::compress(body, level),
        Encoding::Zstd => zstandard::compress(body, level),
    }
}

#[cfg(all(test, feature = "snappy", feature = "zlib", feature = "zstd"))]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    const KINDS: [Encoding; 3] = [Encoding::SnappyIncremental, Encoding::Zlib, Encoding::Zstd];

    #[test]
    fn compressed_bodies_round_trip() {
        let body: Vec<u8> = (0..100_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for kind in KINDS {
            let small = compress(kind, &body, None).unwrap();
            assert!(small.len() < body.len());
            assert_eq!(decompress(kind, &small, &Limits::default()).unwrap(), body, "{kind:?}");
        }
    }

    #[test]
    fn decompression_bombs_are_refused() {
        let body = vec![0; 64 << 20];
        let limits = Limits { decompressed: 1 << 20, ..Limits::default() };
        for kind in KINDS {
            let small = compress(kind, &body, None).unwrap();
            let error = decompress(kind, &small, &limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{kind:?}");
        }
    }

    #[test]
    fn a_snappy_body_with_a_false_length_is_refused() {
        let error = decompress(Encoding::Snappy, &[0x80, 0x80, 0x80, 1, 0, b'a'], &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
    }

    #[test]
    fn broken_bodies_are_errors() {
        for kind in KINDS {
            let small = compress(kind, &[7; 5000], None).unwrap();
            for cut in 0..small.len() {
                assert!(decompress(kind, &small[..cut], &Limits::default()).is_err(), "{kind:?} {cut}");
            }
        }
    }
}
