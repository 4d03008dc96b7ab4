//! Compressed bodies.
//!
//! Nothing is allocated because a length says so: what comes out is grown in
//! steps, or is bounded by what the compressed form can hold at most.

use super::header::Encoding;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

/// Decompresses a body.
pub(super) fn decompress(encoding: Encoding, body: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    let most = limits.decompressed_from(body.len());
    match encoding {
        Encoding::Raw => Ok(body.to_vec()),
        Encoding::Snappy | Encoding::SnappyIncremental => snappy::decompress(body, most, limits),
        Encoding::Zlib => zlib::decompress(body, most, limits),
        Encoding::Zstd => zstandard::decompress(body, most, limits),
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

#[cfg(not(all(feature = "snappy", feature = "zlib", feature = "zstd")))]
fn left_out(what: &'static str) -> Error {
    Error::new(ErrorKind::Unsupported)
        .expecting("a body without this compression")
        .finding(what)
        .helping(format!("this build of icecore lacks it: build it with the feature `{what}`"))
}

#[cfg(any(feature = "snappy", feature = "zlib", feature = "zstd"))]
fn broken(what: &'static str, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Malformed).expecting(format!("a body compressed with {what}")).finding(why.to_string())
}

#[cfg(feature = "snappy")]
mod snappy {
    use super::*;

    /// A copy of three bytes gives at most 64.
    const RATIO: u64 = 22;

    pub(super) fn decompress(body: &[u8], most: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
        let declared = snap::raw::decompress_len(body).map_err(|why| broken("snappy", why))? as u64;
        if declared > most {
            return Err(limits.too_large(most));
        }
        if declared > RATIO.saturating_mul(body.len() as u64) {
            return Err(broken("snappy", format!("{} bytes that claim to be {declared}", body.len())));
        }
        snap::raw::Decoder::new().decompress_vec(body).map_err(|why| broken("snappy", why))
    }

    pub(super) fn compress(body: &[u8]) -> Result<Vec<u8>, Error> {
        snap::raw::Encoder::new()
            .compress_vec(body)
            .map_err(|why| Error::new(ErrorKind::Limit).finding(why.to_string()))
    }
}

#[cfg(not(feature = "snappy"))]
mod snappy {
    use super::*;

    pub(super) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(left_out("snappy"))
    }

    pub(super) fn compress(_: &[u8]) -> Result<Vec<u8>, Error> {
        Err(left_out("snappy"))
    }
}

/// How much is added to the output in a step: as much as there is, within
/// reason.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn step(so_far: usize, most: u64) -> usize {
    let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(so_far);
    // One more byte than allowed shows that there is too much.
    so_far.clamp(16 << 10, 8 << 20).min(room.saturating_add(1))
}

#[cfg(feature = "zlib")]
mod zlib {
    use super::*;
    use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

    pub(super) fn decompress(body: &[u8], most: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
        let mut inflate = Decompress::new(true);
        let mut out = Vec::new();
        loop {
            let (taken, given) = (inflate.total_in(), inflate.total_out());
            out.reserve(step(out.len(), most));
            let rest = body.get(usize::try_from(taken).unwrap_or(usize::MAX)..).unwrap_or(&[]);
            let status = inflate.decompress_vec(rest, &mut out, FlushDecompress::None);
            let status = status.map_err(|why| broken("zlib", why))?;
            if out.len() as u64 > most {
                return Err(limits.too_large(most));
            }
            if status == Status::StreamEnd {
                break;
            }
            if inflate.total_in() == taken && inflate.total_out() == given {
                return Err(broken("zlib", "its end too early"));
            }
        }
        if inflate.total_in() < body.len() as u64 {
            return Err(broken("zlib", "bytes behind its end"));
        }
        Ok(out)
    }

    pub(super) fn compress(body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
        let level = Compression::new(u32::from(level.unwrap_or(6).min(9)));
        let mut deflate = Compress::new(level, true);
        let mut out = Vec::new();
        loop {
            out.reserve((body.len() / 2).clamp(1 << 10, 8 << 20));
            let taken = usize::try_from(deflate.total_in()).unwrap_or(usize::MAX);
            let status = deflate
                .compress_vec(body.get(taken..).unwrap_or(&[]), &mut out, FlushCompress::Finish)
                .map_err(|why| Error::new(ErrorKind::Limit).finding(why.to_string()))?;
            if status == Status::StreamEnd {
                return Ok(out);
            }
        }
    }
}

#[cfg(not(feature = "zlib"))]
mod zlib {
    use super::*;

    pub(super) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(left_out("zlib"))
    }

    pub(super) fn compress(_: &[u8], _: Option<u8>) -> Result<Vec<u8>, Error> {
        Err(left_out("zlib"))
    }
}

#[cfg(feature = "zstd")]
mod zstandard {
    use super::*;
    use std::io::Read;

    pub(super) fn decompress(body: &[u8], most: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(body).map_err(|why| broken("zstd", why))?;
        // A window larger than what may come out is of no use.
        let window = most.max(1).ilog2() + 1;
        decoder.window_log_max(window.clamp(20, 27)).map_err(|why| broken("zstd", why))?;
        let mut out = Vec::new();
        loop {
            let step = step(out.len(), most) as u64;
            let given = (&mut decoder).take(step).read_to_end(&mut out).map_err(|why| broken("zstd", why))?;
            if out.len() as u64 > most {
                return Err(limits.too_large(most));
            }
            if given == 0 {
                return Ok(out);
            }
        }
    }

    pub(super) fn compress(body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
        zstd::bulk::compress(body, i32::from(level.unwrap_or(3)))
            .map_err(|why| Error::new(ErrorKind::Limit).finding(why.to_string()))
    }
}

#[cfg(not(feature = "zstd"))]
mod zstandard {
    use super::*;

    pub(super) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(left_out("zstd"))
    }

    pub(super) fn compress(_: &[u8], _: Option<u8>) -> Result<Vec<u8>, Error> {
        Err(left_out("zstd"))
    }
}

#[cfg(all(test, feature = "snappy", feature = "zlib", feature = "zstd"))]
mod tests {
    use super::*;

    const KINDS: [Encoding; 3] = [Encoding::SnappyIncremental, Encoding::Zlib, Encoding::Zstd];

    #[test]
    fn what_was_compressed_comes_back() {
        let body: Vec<u8> = (0..100_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for kind in KINDS {
            let small = compress(kind, &body, None).unwrap();
            assert!(small.len() < body.len());
            assert_eq!(decompress(kind, &small, &Limits::default()).unwrap(), body, "{kind:?}");
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let body = vec![0; 64 << 20];
        let limits = Limits { decompressed: 1 << 20, ..Limits::default() };
        for kind in KINDS {
            let small = compress(kind, &body, None).unwrap();
            let error = decompress(kind, &small, &limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{kind:?}");
        }
    }

    #[test]
    fn a_snappy_body_that_lies_about_its_length_is_refused() {
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
