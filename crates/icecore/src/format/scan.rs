//! A position in the input.

pub(crate) mod utf8;

use crate::error::{Error, ErrorKind};

/// The input and the position in it. All reads are checked against the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    pub(crate) input: &'a [u8],
    pub(crate) offset: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Scan<'a> {
        Scan { input, offset: 0 }
    }

    /// Returns how many bytes are left.
    #[inline]
    pub(crate) fn remaining_len(&self) -> usize {
        self.input.len() - self.offset
    }

    /// Returns the next byte without consuming it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.input.get(self.offset).copied()
    }

    /// Reads the next byte.
    #[inline]
    pub(crate) fn read_u8(&mut self, expected: &'static str) -> Result<u8, Error> {
        match self.input.get(self.offset) {
            Some(byte) => {
                self.offset += 1;
                Ok(*byte)
            }
            None => Err(self.truncated_error(1, expected)),
        }
    }

    /// Reads the next `len` bytes.
    #[inline]
    pub(crate) fn read_bytes(&mut self, len: usize, expected: &'static str) -> Result<&'a [u8], Error> {
        match self.offset.checked_add(len).and_then(|end| self.input.get(self.offset..end)) {
            Some(bytes) => {
                self.offset += len;
                Ok(bytes)
            }
            None => Err(self.truncated_error(len, expected)),
        }
    }

    /// Reads the next `N` bytes.
    #[inline]
    pub(crate) fn read_array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], Error> {
        match self.input.get(self.offset..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(bytes) => {
                self.offset += N;
                Ok(*bytes)
            }
            None => Err(self.truncated_error(N, expected)),
        }
    }

    #[cold]
    pub(crate) fn truncated_error(&self, wanted: usize, subject: &'static str) -> Error {
        let remaining = self.remaining_len();
        Error::new(ErrorKind::Truncated)
            .at(self.input.len())
            .expecting(match wanted {
                1 => format!("1 byte of {subject}"),
                _ => format!("{wanted} bytes of {subject} from offset {}", self.offset),
            })
            .finding(match remaining {
                0 => "the end of the input".to_owned(),
                1 => "only 1 byte".to_owned(),
                _ => format!("only {remaining} bytes"),
            })
    }
}

/// Returns the error for anything other than `expected` at this offset of a text, or
/// for its end.
#[cold]
pub(crate) fn unexpected_byte_error(input: &[u8], offset: usize, expected: &'static str) -> Error {
    match input.get(offset) {
        None => Error::new(ErrorKind::Truncated).at(input.len()).finding("the end of the input"),
        Some(byte @ 0x20..0x7f) => {
            Error::new(ErrorKind::Malformed).at(offset).finding(format!("`{}`", char::from(*byte)))
        }
        Some(byte) => Error::new(ErrorKind::Malformed).at(offset).finding(format!("byte 0x{byte:02x}")),
    }
    .expecting(expected)
}

/// Returns `true` if a Perl or PHP name may begin with this byte.
pub(crate) fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Returns `true` if a Perl or PHP name may contain this byte.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}
