//! Snappy, as Sereal uses it.

use super::malformed_error;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

/// Maximum ratio of output to input: a copy of three bytes produces at most 64.
const MAX_RATIO: u64 = 22;

pub(crate) fn decompress(body: &[u8], max_len: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
    let declared = snap::raw::decompress_len(body).map_err(|error| malformed_error("snappy", error))? as u64;
    if declared > max_len {
        return Err(limits.too_large(max_len));
    }
    if declared > MAX_RATIO.saturating_mul(body.len() as u64) {
        return Err(malformed_error("snappy", format!("{} bytes that claim to be {declared}", body.len())));
    }
    snap::raw::Decoder::new()
        .decompress_vec(body)
        .map_err(|error| malformed_error("snappy", error).with_decompressed(declared as usize))
}

pub(crate) fn compress(body: &[u8]) -> Result<Vec<u8>, Error> {
    snap::raw::Encoder::new()
        .compress_vec(body)
        .map_err(|error| Error::new(ErrorKind::Limit).finding(error.to_string()))
}
