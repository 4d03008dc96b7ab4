//! A position in bytes of an unknown format.

/// Reason why a walk stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    /// These bytes are not in this format.
    Wrong,
    /// There are no more bytes.
    End,
}

pub(super) type WalkResult<T> = Result<T, Rejection>;

/// The bytes, and the position of the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteWalk<'a> {
    pub(super) input: &'a [u8],
    pub(super) offset: usize,
}

/// Maximum nesting depth of a walk.
pub(super) const DEPTH: usize = 10_000;

impl<'a> ByteWalk<'a> {
    pub(super) fn new(input: &'a [u8]) -> ByteWalk<'a> {
        ByteWalk { input, offset: 0 }
    }

    pub(super) fn remaining_bytes(&self) -> &'a [u8] {
        self.input.get(self.offset..).unwrap_or(&[])
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.offset >= self.input.len()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.input.get(self.offset).copied()
    }

    pub(super) fn read_u8(&mut self) -> WalkResult<u8> {
        let byte = self.peek().ok_or(Rejection::End)?;
        self.offset += 1;
        Ok(byte)
    }

    /// Returns the next `len` bytes.
    pub(super) fn read_bytes(&mut self, len: u64) -> WalkResult<&'a [u8]> {
        let len = usize::try_from(len).map_err(|_| Rejection::End)?;
        let bytes = self.remaining_bytes().get(..len).ok_or(Rejection::End)?;
        self.offset += len;
        Ok(bytes)
    }

    /// Reads an unsigned integer of 1, 2, 4 or 8 bytes, most significant first.
    pub(super) fn read_uint_be(&mut self, size: u64) -> WalkResult<u64> {
        Ok(self.read_bytes(size)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Reads an unsigned integer of 1, 2, 4 or 8 bytes, least significant first.
    pub(super) fn read_uint_le(&mut self, size: u64) -> WalkResult<u64> {
        Ok(self.read_bytes(size)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Returns the bytes before the next `delimiter`, and skips the delimiter.
    pub(super) fn read_until(&mut self, delimiter: u8) -> WalkResult<&'a [u8]> {
        let rest = self.remaining_bytes();
        let end = rest.iter().position(|byte| *byte == delimiter).ok_or(Rejection::End)?;
        self.offset += end + 1;
        Ok(&rest[..end])
    }
}

/// Returns `true` if a text is a decimal integer.
pub(super) fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns `true` if a text is a decimal number.
pub(super) fn is_number(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}
