//! Compressed inputs. They are recognised by their first bytes, and unpacked while they are read.

use crate::unicode::WideEncoding;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

/// Default number of bytes of an input that are examined to detect its form.
pub const HEAD_LEN: u64 = 64 << 10;
/// Maximum memory of xz, in KiB: more than its strongest level needs.
const MAX_XZ_MEMORY_KIB: u32 = 256 << 10;

/// The beginning of an input, and the whole input.
pub struct Head {
    /// The first bytes.
    pub bytes: Arc<[u8]>,
    /// Whether there are no more bytes.
    pub is_complete: bool,
    /// The whole input, from its first byte on.
    pub input: Box<dyn Read + Send>,
}

impl Head {
    /// Reads only as many bytes as are needed to recognise compression.
    pub fn read_for_packing(mut input: Box<dyn Read + Send>) -> io::Result<Head> {
        let mut buffer = [0; 10];
        let mut len = 0;
        // Waits for more only while the input may be compressed.
        while len < buffer.len() && Packing::may_begin(&buffer[..len]) {
            match input.read(&mut buffer[len..]) {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Head::from_parts(buffer[..len].to_vec(), false, input))
    }

    /// Reads only as many bytes as are needed to recognise UTF-16 or UTF-32.
    pub fn read_for_encoding(mut input: Box<dyn Read + Send>) -> io::Result<Head> {
        let mut bytes = vec![0; 1 << 10];
        let (mut len, mut is_all) = (0, false);
        while !is_all && WideEncoding::may_begin(&bytes[..len]) {
            match input.read(&mut bytes[len..]) {
                Ok(0) => is_all = true,
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(len);
        Ok(Head::from_parts(bytes, is_all, input))
    }

    /// Reads the first bytes of an input, up to `limit`.
    pub fn read_up_to(mut input: Box<dyn Read + Send>, limit: u64) -> io::Result<Head> {
        let mut bytes = Vec::new();
        input.by_ref().take(limit).read_to_end(&mut bytes)?;
        let is_all = (bytes.len() as u64) < limit;
        Ok(Head::from_parts(bytes, is_all, input))
    }

    /// Extends the beginning to `limit` bytes in total.
    pub fn extend_up_to(self, limit: u64) -> io::Result<Head> {
        if self.is_complete || self.bytes.len() as u64 >= limit {
            Ok(self)
        } else {
            Head::read_up_to(self.input, limit)
        }
    }

    fn from_parts(bytes: Vec<u8>, is_all: bool, input: Box<dyn Read + Send>) -> Head {
        let bytes: Arc<[u8]> = bytes.into();
        Head { input: Box::new(io::Cursor::new(Arc::clone(&bytes)).chain(input)), bytes, is_complete: is_all }
    }
}

/// The compression of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// The container of LZMA2.
    Xz,
    /// Blocks with the Burrows-Wheeler transform.
    Bzip2,
}

impl Packing {
    /// Returns whether these may be the first bytes of a compressed input.
    fn may_begin(bytes: &[u8]) -> bool {
        let signatures: [&[u8]; 4] = [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh"];
        signatures.iter().any(|signature| signature.starts_with(bytes) || bytes.starts_with(signature))
    }

    /// Recognises the compression by the first bytes.
    pub fn from_head(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Packing::Xz),
            // The first block, or the end of a file without blocks.
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if rest.starts_with(b"\x31\x41\x59\x26\x53\x59") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90") =>
            {
                Some(Packing::Bzip2)
            }
            _ => None,
        }
    }

    /// Returns the unpacked content, piece by piece. Several compressed files one after another are read as one.
    pub fn unpack_input(self, input: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        let input = BufReader::with_capacity(HEAD_LEN as usize, input);
        let content: Box<dyn Read + Send> = match self {
            Packing::Gzip => open_wrapper("gzip", input)?,
            Packing::Zstd => open_wrapper("zstd", input)?,
            Packing::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(input, true, MAX_XZ_MEMORY_KIB)),
            Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        };
        Ok(Box::new(Unpacked { content, packing: self }))
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Xz => "xz",
            Packing::Bzip2 => "bzip2",
        }
    }
}

/// The unpacked content. Errors name the compression.
struct Unpacked {
    content: Box<dyn Read + Send>,
    packing: Packing,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.content.read(buffer).map_err(|error| {
            let text = match error.kind() {
                io::ErrorKind::Interrupted => return error,
                io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
                _ => error.to_string(),
            };
            io::Error::new(io::ErrorKind::InvalidData, format!("can't be unpacked ({}): {text}", self.packing.name()))
        })
    }
}

/// Returns the content of one of the engine's wrappers.
fn open_wrapper(name: &str, input: BufReader<Box<dyn Read + Send>>) -> io::Result<Box<dyn Read + Send>> {
    let wrapper = icecore::wrap::all().iter().find(|wrapper| wrapper.name == name);
    let opened = wrapper.and_then(|wrapper| wrapper.stream(Box::new(input)));
    opened.unwrap_or_else(|| Err(io::Error::new(io::ErrorKind::Unsupported, format!("this build has no {name}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_recognized_by_its_first_bytes() {
        assert_eq!(Packing::from_head(b"\x1f\x8b\x08\0"), Some(Packing::Gzip));
        assert_eq!(Packing::from_head(b"BZh91AY&SY"), Some(Packing::Bzip2));
        assert_eq!(Packing::from_head(b"\xfd7zXZ\0\0\x04"), Some(Packing::Xz));
        for other in [&b""[..], b"\x1f\x8b", b"BZh9 is a word", b"id,name\n", b"-- MySQL dump"] {
            assert_eq!(Packing::from_head(other), None);
        }
    }
}
