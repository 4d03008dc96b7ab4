//! Compression.
//!
//! Nothing is allocated because a length says so: what comes out is grown in
//! steps, or is bounded by what the compressed form can hold at most.

use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

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
pub(crate) mod snappy {
    use super::*;

    /// A copy of three bytes gives at most 64.
    const RATIO: u64 = 22;

    pub(crate) fn decompress(body: &[u8], most: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
        let declared = snap::raw::decompress_len(body).map_err(|why| broken("snappy", why))? as u64;
        if declared > most {
            return Err(limits.too_large(most));
        }
        if declared > RATIO.saturating_mul(body.len() as u64) {
            return Err(broken("snappy", format!("{} bytes that claim to be {declared}", body.len())));
        }
        snap::raw::Decoder::new().decompress_vec(body).map_err(|why| broken("snappy", why))
    }

    pub(crate) fn compress(body: &[u8]) -> Result<Vec<u8>, Error> {
        snap::raw::Encoder::new()
            .compress_vec(body)
            .map_err(|why| Error::new(ErrorKind::Limit).finding(why.to_string()))
    }
}

#[cfg(not(feature = "snappy"))]
pub(crate) mod snappy {
    use super::*;

    pub(crate) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(left_out("snappy"))
    }

    pub(crate) fn compress(_: &[u8]) -> Result<Vec<u8>, Error> {
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
pub(crate) mod zlib {
    use super::*;
    use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

    pub(crate) fn decompress(body: &[u8], most: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
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

    pub(crate) fn compress(body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
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
pub(crate) mod zlib {
    use super::*;

    pub(crate) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(left_out("zlib"))
    }

    pub(crate) fn compress(_: &[u8], _: Option<u8>) -> Result<Vec<u8>, Error> {
        Err(left_out("zlib"))
    }
}

#[cfg(feature = "zstd")]
pub(crate) mod zstandard {
    use super::*;
    use std::io::Read;

    pub(crate) fn decompress(body: &[u8], most: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
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

    pub(crate) fn compress(body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
        zstd::bulk::compress(body, i32::from(level.unwrap_or(3)))
            .map_err(|why| Error::new(ErrorKind::Limit).finding(why.to_string()))
    }
}

#[cfg(not(feature = "zstd"))]
pub(crate) mod zstandard {
    use super::*;

    pub(crate) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(left_out("zstd"))
    }

    pub(crate) fn compress(_: &[u8], _: Option<u8>) -> Result<Vec<u8>, Error> {
        Err(left_out("zstd"))
    }
}
