//! Converts UTF-8 to UTF-16 and UTF-32, piece by piece.

use super::{CodeUnits, WideEncoding};

/// Writes UTF-8 as UTF-16 or UTF-32. Pieces may end inside a character.
pub struct Encoder {
    wide: WideEncoding,
    /// Whether the mark was written, or there is none.
    is_begun: bool,
    /// The first bytes of a character in which the last piece ended.
    incomplete: Vec<u8>,
    out: Vec<u8>,
}

/// The error for bytes that are not UTF-8, because UTF-16 and UTF-32 can't express them.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidUtf8;

impl Encoder {
    /// Creates an encoder for this encoding.
    pub fn new(wide: WideEncoding) -> Encoder {
        Encoder { wide, is_begun: !wide.has_mark, incomplete: Vec::new(), out: Vec::new() }
    }

    /// Returns the encoded bytes of the next piece.
    ///
    /// # Errors
    /// [`InvalidUtf8`], if the piece is not UTF-8.
    pub fn encode_piece(&mut self, mut piece: &[u8]) -> Result<&[u8], InvalidUtf8> {
        self.out.clear();
        self.write_mark();
        // A character that the last piece began is completed byte by byte.
        while let (false, Some((first, rest))) = (self.incomplete.is_empty(), piece.split_first()) {
            self.incomplete.push(*first);
            piece = rest;
            let incomplete = std::mem::take(&mut self.incomplete);
            self.incomplete = self.append_characters(&incomplete)?.to_vec();
        }
        if self.incomplete.is_empty() {
            self.incomplete = self.append_characters(piece)?.to_vec();
        }
        Ok(&self.out)
    }

    /// Returns the bytes to write after the last piece.
    ///
    /// # Errors
    /// [`InvalidUtf8`], if the last piece ended inside a character.
    pub fn finish(&mut self) -> Result<&[u8], InvalidUtf8> {
        self.out.clear();
        self.write_mark();
        if self.incomplete.is_empty() { Ok(&self.out) } else { Err(InvalidUtf8) }
    }

    fn write_mark(&mut self) {
        if !self.is_begun {
            self.out.extend_from_slice(self.wide.units.mark());
            self.is_begun = true;
        }
    }

    /// Appends complete characters, and returns the bytes of the last one if it is incomplete.
    fn append_characters<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], InvalidUtf8> {
        let (text, incomplete) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, &[][..]),
            Err(error) if error.error_len().is_some() => return Err(InvalidUtf8),
            Err(error) => {
                let (complete, incomplete) = bytes.split_at(error.valid_up_to());
                (std::str::from_utf8(complete).map_err(|_| InvalidUtf8)?, incomplete)
            }
        };
        let out = &mut self.out;
        match self.wide.units {
            CodeUnits::Utf16Le => text.encode_utf16().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes())),
            CodeUnits::Utf16Be => text.encode_utf16().for_each(|unit| out.extend_from_slice(&unit.to_be_bytes())),
            CodeUnits::Utf32Le => text.chars().for_each(|c| out.extend_from_slice(&u32::from(c).to_le_bytes())),
            CodeUnits::Utf32Be => text.chars().for_each(|c| out.extend_from_slice(&u32::from(c).to_be_bytes())),
        }
        Ok(incomplete)
    }
}
