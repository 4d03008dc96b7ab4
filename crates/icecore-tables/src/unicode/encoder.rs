//! UTF-8 as UTF-16 and UTF-32, piece by piece.

use super::{Units, Wide};

/// Writes UTF-8 in UTF-16 or UTF-32. Pieces may end inside of a character.
pub struct Encoder {
    wide: Wide,
    /// The mark was written, or there is none.
    is_begun: bool,
    /// The beginning of a character that the last piece ended in.
    cut: Vec<u8>,
    out: Vec<u8>,
}

/// Bytes to be written that are no UTF-8, so these units have no way to say them.
#[derive(Debug, PartialEq, Eq)]
pub struct NotText;

impl Encoder {
    /// Writes text so.
    pub fn new(wide: Wide) -> Encoder {
        Encoder { wide, is_begun: !wide.has_mark, cut: Vec::new(), out: Vec::new() }
    }

    /// The bytes to write for the next piece.
    ///
    /// # Errors
    /// [`NotText`], if the piece is no UTF-8.
    pub fn push(&mut self, mut piece: &[u8]) -> Result<&[u8], NotText> {
        self.out.clear();
        self.begin();
        // What the last piece began is completed byte by byte.
        while let (false, Some((first, rest))) = (self.cut.is_empty(), piece.split_first()) {
            self.cut.push(*first);
            piece = rest;
            let cut = std::mem::take(&mut self.cut);
            self.cut = self.append(&cut)?.to_vec();
        }
        if self.cut.is_empty() {
            self.cut = self.append(piece)?.to_vec();
        }
        Ok(&self.out)
    }

    /// The bytes to write after the last piece.
    ///
    /// # Errors
    /// [`NotText`], if that ended inside of a character.
    pub fn finish(&mut self) -> Result<&[u8], NotText> {
        self.out.clear();
        self.begin();
        if self.cut.is_empty() { Ok(&self.out) } else { Err(NotText) }
    }

    fn begin(&mut self) {
        if !self.is_begun {
            self.out.extend_from_slice(self.wide.units.mark());
            self.is_begun = true;
        }
    }

    /// Appends complete characters, and returns the bytes of the last one if it is cut.
    fn append<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], NotText> {
        let (text, left) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, &[][..]),
            Err(error) if error.error_len().is_some() => return Err(NotText),
            Err(error) => {
                let (whole, left) = bytes.split_at(error.valid_up_to());
                (std::str::from_utf8(whole).map_err(|_| NotText)?, left)
            }
        };
        let out = &mut self.out;
        match self.wide.units {
            Units::Utf16Le => text.encode_utf16().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes())),
            Units::Utf16Be => text.encode_utf16().for_each(|unit| out.extend_from_slice(&unit.to_be_bytes())),
            Units::Utf32Le => text.chars().for_each(|c| out.extend_from_slice(&u32::from(c).to_le_bytes())),
            Units::Utf32Be => text.chars().for_each(|c| out.extend_from_slice(&u32::from(c).to_be_bytes())),
        }
        Ok(left)
    }
}
