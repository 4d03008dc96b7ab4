//! Compression.
//!
//! Declared lengths are not trusted: the output grows in steps, or is bounded by
//! what the compressed form can hold at most.

#[cfg(not(all(feature = "snappy", feature = "zlib", feature = "zstd")))]
mod disabled;
pub(crate) mod lz;
#[cfg(feature = "snappy")]
pub(crate) mod snappy;
#[cfg(feature = "zlib")]
pub(crate) mod zlib;
#[cfg(feature = "zstd")]
pub(crate) mod zstandard;

#[cfg(not(feature = "snappy"))]
pub(crate) use disabled::snappy;
#[cfg(not(feature = "zlib"))]
pub(crate) use disabled::zlib;
#[cfg(not(feature = "zstd"))]
pub(crate) use disabled::zstandard;

use crate::error::{Error, ErrorKind};

/// Decompresses bit by bit.
pub(crate) type StreamFn = fn(Box<dyn std::io::BufRead + Send>) -> std::io::Result<Box<dyn std::io::Read + Send>>;

/// The beginning of what was compressed, and whether that is all of it.
pub(crate) type Beginning = (Vec<u8>, bool);

fn broken(what: &'static str, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Malformed).expecting(format!("data compressed with {what}")).finding(why.to_string())
}

/// How much is added to the output in a step: as much as there is, within
/// reason.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn step(so_far: usize, most: u64) -> usize {
    let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(so_far);
    // One more byte than allowed shows that there is too much.
    so_far.clamp(16 << 10, 8 << 20).min(room.saturating_add(1))
}

/// Why a stream was not read to its end.
#[cfg(any(feature = "zlib", feature = "zstd"))]
enum StreamError {
    TooMuch,
    /// And how much was read before.
    Broken(std::io::Error, usize),
}

/// All that a decoder gives, if that is not more than `most` bytes.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn drain(decoder: &mut impl std::io::Read, most: u64) -> Result<Vec<u8>, StreamError> {
    use std::io::Read;
    let mut out = Vec::new();
    loop {
        let step = step(out.len(), most) as u64;
        let given = decoder.by_ref().take(step).read_to_end(&mut out);
        let given = given.map_err(|why| StreamError::Broken(why, out.len()))?;
        if out.len() as u64 > most {
            return Err(StreamError::TooMuch);
        }
        if given == 0 {
            return Ok(out);
        }
    }
}

/// What a decoder gives first, and whether that is all; it may be broken further
/// behind.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn beginning(decoder: impl std::io::Read, most: usize) -> Beginning {
    use std::io::Read;
    let mut out = Vec::new();
    let end = decoder.take(most as u64).read_to_end(&mut out);
    let whole = end.is_ok() && out.len() < most;
    (out, whole)
}
