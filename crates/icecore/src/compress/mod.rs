//! Compression.
//!
//! Declared lengths are not trusted: the output grows in steps, or is limited by the maximum that the compressed form
//! can contain.

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

/// Decompresses incrementally.
pub(crate) type StreamFn = fn(Box<dyn std::io::BufRead + Send>) -> std::io::Result<Box<dyn std::io::Read + Send>>;

/// The beginning of the decompressed data, and whether that is all of it.
pub(crate) type Beginning = (Vec<u8>, bool);

fn malformed_error(compression: &'static str, reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Malformed)
        .expecting(format!("data compressed with {compression}"))
        .finding(reason.to_string())
}

/// Returns the size of the next step: as large as the existing output, within limits.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn next_step_size(so_far: usize, max_len: u64) -> usize {
    let available = usize::try_from(max_len).unwrap_or(usize::MAX).saturating_sub(so_far);
    // One byte more than allowed shows that there is too much.
    so_far.clamp(16 << 10, 8 << 20).min(available.saturating_add(1))
}

/// Reason why a stream was not read to its end.
#[cfg(any(feature = "zlib", feature = "zstd"))]
enum StreamError {
    TooMuch,
    /// The error, and the number of bytes that were read before it.
    Broken(std::io::Error, usize),
}

/// Returns all output of a decoder, if that is at most `max_len` bytes.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn read_to_limit(decoder: &mut impl std::io::Read, max_len: u64) -> Result<Vec<u8>, StreamError> {
    use std::io::Read;
    let mut out = Vec::new();
    loop {
        let step = next_step_size(out.len(), max_len) as u64;
        let read_result = decoder.by_ref().take(step).read_to_end(&mut out);
        let read_len = read_result.map_err(|error| StreamError::Broken(error, out.len()))?;
        if out.len() as u64 > max_len {
            return Err(StreamError::TooMuch);
        }
        if read_len == 0 {
            return Ok(out);
        }
    }
}

/// Returns the beginning of a decoder's output, and whether that is all; it may be damaged later.
#[cfg(any(feature = "zlib", feature = "zstd"))]
fn read_beginning(decoder: impl std::io::Read, max_len: usize) -> Beginning {
    use std::io::Read;
    let mut out = Vec::new();
    let end = decoder.take(max_len as u64).read_to_end(&mut out);
    let is_all = end.is_ok() && out.len() < max_len;
    (out, is_all)
}
