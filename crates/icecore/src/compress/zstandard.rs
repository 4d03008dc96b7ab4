//! Zstandard.

use super::{Beginning, StreamError, StreamFn, malformed_error, read_beginning, read_to_limit};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use zstd::stream::read::Decoder;

/// Decompresses incrementally.
pub(crate) const STREAM: Option<StreamFn> = Some(|from| {
    let mut decoder = Decoder::with_buffer(from)?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    Ok(Box::new(decoder))
});

/// The maximum window, as a power of two: 128 MiB. The header of a frame requests this memory.
const MAX_WINDOW_LOG: u32 = 27;

pub(crate) fn decompress(body: &[u8], max_len: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
    // A frame that declares a too large size is not decompressed at all.
    if zstd::zstd_safe::get_frame_content_size(body).is_ok_and(|size| size.is_some_and(|size| size > max_len)) {
        return Err(limits.too_large(max_len));
    }
    let mut decoder = Decoder::with_buffer(body).map_err(|error| malformed_error("zstd", error))?;
    // A window larger than the allowed output is useless.
    let window = max_len.max(1).ilog2() + 1;
    decoder.window_log_max(window.clamp(20, MAX_WINDOW_LOG)).map_err(|error| malformed_error("zstd", error))?;
    read_to_limit(&mut decoder, max_len).map_err(|stop| match stop {
        StreamError::TooMuch => limits.too_large(max_len),
        StreamError::Broken(error, spent) => malformed_error("zstd", error).with_decompressed(spent),
    })
}

pub(crate) fn compress(body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
    zstd::bulk::compress(body, i32::from(level.unwrap_or(3)))
        .map_err(|error| Error::new(ErrorKind::Limit).finding(error.to_string()))
}

/// Returns the beginning of the content of a stream.
pub(crate) fn head(body: &[u8], max_len: usize) -> Option<Beginning> {
    let mut decoder = Decoder::with_buffer(body).ok()?;
    // The header alone decides how much memory the window takes: here at most 8 MiB.
    decoder.window_log_max(23).ok()?;
    Some(read_beginning(decoder, max_len))
}
