//! Converts UTF-16 and UTF-32 to UTF-8, piece by piece.

use super::WideEncoding;
use std::io::{self, Read};

/// Number of bytes per read.
const BLOCK_LEN: usize = 64 << 10;

/// Reads a text in UTF-16 or UTF-32 as UTF-8, without its byte order mark. Memory does not grow with the text.
pub struct Decoder<R> {
    input: R,
    wide: WideEncoding,
    /// The buffer for a read.
    block: Box<[u8]>,
    /// Bytes that are not decoded yet.
    raw: Vec<u8>,
    /// Offset of `raw` in the input.
    offset: u64,
    text: String,
    /// Number of bytes of the text that were handed out.
    consumed: usize,
    is_end: bool,
    /// Why nothing follows the text.
    error: Option<io::Error>,
}

impl<R: Read> Decoder<R> {
    /// Reads text in this encoding.
    pub fn new(input: R, wide: WideEncoding) -> Decoder<R> {
        let (block, raw, text) = (vec![0; BLOCK_LEN].into_boxed_slice(), Vec::new(), String::new());
        Decoder { input, wide, block, raw, offset: 0, text, consumed: 0, is_end: false, error: None }
    }

    /// Reads the bytes that are available.
    fn read_more(&mut self) -> io::Result<()> {
        let count = loop {
            match self.input.read(&mut self.block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.raw.extend_from_slice(self.block.get(..count).unwrap_or_default());
        self.is_end = count == 0;
        Ok(())
    }

    /// Decodes the available bytes. An incomplete character at the end is kept.
    fn decode_available(&mut self) {
        let units = self.wide.units;
        let (text, raw) = (&mut self.text, &self.raw);
        let mut consumed = 0;
        // The mark is not text.
        if self.offset == 0 && self.wide.has_mark && raw.starts_with(units.mark()) {
            consumed = units.mark().len();
        }
        let problem = loop {
            let rest = raw.get(consumed..).unwrap_or_default();
            match units.decode_char(rest) {
                Ok(Some((character, len))) => {
                    text.push(character);
                    consumed += len;
                }
                Ok(None) if self.is_end && !rest.is_empty() => {
                    break Some("the text ends in the middle of a character");
                }
                Ok(None) => break None,
                Err(()) if units.bytes_per_unit() == 2 => {
                    break Some("half of a surrogate pair without the other half");
                }
                Err(()) => break Some("no character has this number"),
            }
        };
        self.offset += consumed as u64;
        self.raw.drain(..consumed);
        self.error = problem.map(|problem| {
            let (offset, name) = (self.offset, units.name());
            let text = format!(
                "at offset {offset}: {problem} ({name}): the file is damaged, or in another encoding (name it with --charset)"
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        });
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.consumed == self.text.len() {
            if let Some(error) = self.error.take() {
                self.is_end = true;
                self.raw.clear();
                return Err(error);
            }
            if self.is_end {
                return Ok(0);
            }
            self.text.clear();
            self.consumed = 0;
            // The longest byte order mark has four bytes.
            while self.offset == 0 && self.raw.len() < 4 && !self.is_end {
                self.read_more()?;
            }
            if !self.is_end && (self.offset > 0 || self.raw.len() < 4) {
                self.read_more()?;
            }
            self.decode_available();
        }
        let rest = self.text.as_bytes().get(self.consumed..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        let (handed_out, _) = rest.split_at(count);
        buffer.get_mut(..count).unwrap_or_default().copy_from_slice(handed_out);
        self.consumed += count;
        Ok(count)
    }
}
