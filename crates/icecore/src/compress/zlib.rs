//! Deflate: bare, and in the formats of zlib and gzip.

use super::{Beginning, StreamError, StreamFn, malformed_error, next_step_size, read_beginning, read_to_limit};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};

/// Decompresses incrementally.
pub(crate) const STREAM: Option<StreamFn> = Some(|from| Ok(Box::new(ZlibDecoder::new(from))));
pub(crate) const GZIP_STREAM: Option<StreamFn> = Some(|from| Ok(Box::new(MultiGzDecoder::new(from))));

pub(crate) fn decompress(body: &[u8], max_len: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
    inflate(body, true, max_len, limits)
}

/// Decompresses deflate that has no header.
pub(crate) fn inflate_bare(body: &[u8], max_len: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
    inflate(body, false, max_len, limits)
}

fn inflate(body: &[u8], has_zlib_header: bool, max_len: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
    let name = if has_zlib_header { "zlib" } else { "deflate" };
    let mut inflate = Decompress::new(has_zlib_header);
    let mut out = Vec::new();
    loop {
        let (consumed, produced) = (inflate.total_in(), inflate.total_out());
        out.try_reserve(next_step_size(out.len(), max_len)).map_err(|_| Error::no_memory())?;
        let rest = body.get(usize::try_from(consumed).unwrap_or(usize::MAX)..).unwrap_or(&[]);
        let status = inflate.decompress_vec(rest, &mut out, FlushDecompress::None);
        let status = status.map_err(|error| malformed_error(name, error).with_decompressed(out.len()))?;
        if out.len() as u64 > max_len {
            return Err(limits.too_large(max_len));
        }
        if status == Status::StreamEnd {
            break;
        }
        if inflate.total_in() == consumed && inflate.total_out() == produced {
            return Err(malformed_error(name, "its end too early").with_decompressed(out.len()));
        }
    }
    if inflate.total_in() < body.len() as u64 {
        return Err(malformed_error(name, "bytes after its end").with_decompressed(out.len()));
    }
    Ok(out)
}

pub(crate) fn compress(body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    deflate(body, level, true, &mut out)?;
    Ok(out)
}

/// Appends a deflate stream without a header.
pub(crate) fn deflate_bare(body: &[u8], level: Option<u8>, out: &mut Vec<u8>) -> Result<(), Error> {
    deflate(body, level, false, out)
}

/// Appends a deflate stream, in zlib's format if `has_zlib_header`.
fn deflate(body: &[u8], level: Option<u8>, has_zlib_header: bool, out: &mut Vec<u8>) -> Result<(), Error> {
    let level = Compression::new(u32::from(level.unwrap_or(6).min(9)));
    let mut deflate = Compress::new(level, has_zlib_header);
    loop {
        out.reserve((body.len() / 2).clamp(1 << 10, 8 << 20));
        let consumed = usize::try_from(deflate.total_in()).unwrap_or(usize::MAX);
        let status = deflate
            .compress_vec(body.get(consumed..).unwrap_or(&[]), out, FlushCompress::Finish)
            .map_err(|error| Error::new(ErrorKind::Limit).finding(error.to_string()))?;
        if status == Status::StreamEnd {
            return Ok(());
        }
    }
}

/// Returns the beginning of the content of a zlib stream; `None` if it is damaged there.
pub(crate) fn head(body: &[u8], max_len: usize) -> Option<Beginning> {
    let (bytes, is_all) = read_beginning(ZlibDecoder::new(body), max_len);
    (!bytes.is_empty()).then_some((bytes, is_all))
}

/// Fields of the header of a gzip file.
#[derive(Default)]
pub(crate) struct Header {
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) time: u32,
}

/// Decompresses all members of a gzip file; also returns the header of the first.
pub(crate) fn gunzip(body: &[u8], max_len: u64, limits: &Limits) -> Result<(Vec<u8>, Header), Error> {
    let mut decoder = MultiGzDecoder::new(body);
    let header = decoder.header().map_or(Header::default(), |header| Header {
        name: header.filename().map(<[u8]>::to_vec),
        time: header.mtime(),
    });
    match read_to_limit(&mut decoder, max_len) {
        Ok(out) => Ok((out, header)),
        Err(StreamError::TooMuch) => Err(limits.too_large(max_len)),
        Err(StreamError::Broken(cause, spent)) => {
            let offset = body.len().saturating_sub(decoder.get_ref().len());
            let error = match cause.kind() {
                std::io::ErrorKind::UnexpectedEof => Error::new(ErrorKind::Truncated)
                    .at(body.len())
                    .expecting("complete gzip members and nothing else")
                    .finding("the end of the input"),
                _ => malformed_error("gzip", cause).at(offset),
            };
            Err(error.with_decompressed(spent))
        }
    }
}

/// Returns a gzip file of one member, without a name and a time, so that the same input always gives the same bytes.
pub(crate) fn gzip(body: &[u8], level: Option<u8>) -> Result<Vec<u8>, Error> {
    const DEFLATE: u8 = 8;
    const UNIX: u8 = 3;
    // The header tells only if the level was the slowest or the fastest.
    let level_flag = match level {
        Some(9..) => 2,
        Some(1) => 4,
        _ => 0,
    };
    let mut out = vec![0x1f, 0x8b, DEFLATE, 0, 0, 0, 0, 0, level_flag, UNIX];
    deflate(body, level, false, &mut out)?;
    let mut crc = Crc::new();
    crc.update(body);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    // The standard requires the length modulo 2^32.
    out.extend_from_slice(&(body.len() as u64).to_le_bytes()[..4]);
    Ok(out)
}

/// Returns the beginning of the content of a gzip file.
pub(crate) fn gzip_head(body: &[u8], max_len: usize) -> Option<Beginning> {
    Some(read_beginning(MultiGzDecoder::new(body), max_len))
}
