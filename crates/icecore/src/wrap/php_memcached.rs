//! Compressed values of PHP's memcached extension: a length, then zlib, FastLZ or Zstandard.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::lz::Lz;
use crate::compress::{Beginning, zlib, zstandard};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "php-memcached",
    title: "compressed data, as PHP's extension memcached keeps it",
    extension: "memcached",
    text: Some(false),
    layer: "data compressed by memcached",
    options: &[],
    page: include_str!("php_memcached.md"),
    // The fourth byte of the length is 0: values of 16 MB or more are hardly ever stored there.
    detect: |input| matches!(input, [a, b, c, 0, body @ ..] if [*a, *b, *c] != [0; 3] && CompressionMethod::detect_method(body).is_some()),
    evidence: WrapperEvidence::Text,
    head: Some(|input, is_complete, _, max_len| {
        let (len, body) = split_length(input)?;
        let (bytes, is_all) = CompressionMethod::detect_method(body)?.decompress_head(body, is_complete, max_len)?;
        let has_right_length = !(is_complete && is_all) || bytes.len() as u64 == u64::from(len);
        has_right_length.then(|| ContentHead::from_beginning((bytes, is_complete && is_all)))
    }),
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(None),
    unwrap,
    wrap,
};

/// Compression method.
enum CompressionMethod {
    Zlib,
    Fast,
    Zstd,
}

impl CompressionMethod {
    /// Detects the method by the first bytes; memcached itself stores it in flags.
    fn detect_method(body: &[u8]) -> Option<CompressionMethod> {
        match body {
            [0x78, flags, ..] if u16::from_be_bytes([0x78, *flags]).is_multiple_of(31) => Some(CompressionMethod::Zlib),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(CompressionMethod::Zstd),
            [first, _, ..] if *first < 0x40 => Some(CompressionMethod::Fast),
            _ => None,
        }
    }

    fn decompress_head(self, body: &[u8], is_complete: bool, max_len: usize) -> Option<Beginning> {
        match self {
            CompressionMethod::Zlib => zlib::head(body, max_len),
            CompressionMethod::Fast => Lz::Fast.decompress_head(body, is_complete, max_len),
            CompressionMethod::Zstd => zstandard::head(body, max_len),
        }
    }

    fn decompress(self, body: &[u8], max_len: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
        match self {
            CompressionMethod::Zlib => zlib::decompress(body, max_len, limits),
            CompressionMethod::Fast => Lz::Fast.decompress(body, max_len, limits),
            CompressionMethod::Zstd => zstandard::decompress(body, max_len, limits),
        }
    }
}

/// Returns the length of the content, and the compressed bytes.
fn split_length(input: &[u8]) -> Option<(u32, &[u8])> {
    input.split_first_chunk().map(|(len, body)| (u32::from_le_bytes(*len), body))
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, limits: &Limits) -> Result<Unwrapped<'a>, Error> {
    let broken = |offset: usize| Error::new(ErrorKind::Malformed).at(offset);
    let split = split_length(input).and_then(|(len, body)| Some((len, body, CompressionMethod::detect_method(body)?)));
    let (len, body, method) = split.ok_or_else(|| {
        broken(0).expecting("a length, then zlib, FastLZ or Zstandard").finding("other bytes, or the end of the input")
    })?;
    let bytes = method.decompress(body, limits.decompressed_from(input.len()), limits)?;
    if bytes.len() as u64 != u64::from(len) {
        return Err(broken(0).expecting(format!("{len} bytes inside")).finding(format!("{}", bytes.len())));
    }
    Ok(Unwrapped::from_owned(bytes))
}

fn wrap(content: &[u8], _: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let len = u32::try_from(content.len())
        .map_err(|_| Error::new(ErrorKind::Limit).expecting("less than 4 GB for php-memcached").finding("more"))?;
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&zlib::compress(content, None)?);
    Ok(())
}
