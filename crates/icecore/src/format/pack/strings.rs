//! Reads `a`, `A` and `Z`.

use super::numbers::malformed_error;
use super::read::{UnpackTask, Unpacker};
use super::records::trimmed_len;
use super::utf8;
use crate::document::{Kind, Location, Sink};
use crate::error::{Error, ErrorKind};

impl<S: Sink> Unpacker<'_, S> {
    pub(super) fn read_string(&mut self, task: &UnpackTask<'_>) -> Result<(), Error> {
        let letter = task.op.letter;
        let in_characters = self.current_frame().counts_characters;
        if self.current_frame().checksum.is_wanted() {
            return self.read_checksum(task.len, in_characters);
        }
        let end = self.find_string_end(task.len, in_characters)?;
        let bytes = &self.data[self.position..end];
        let (value, consumed) = match letter {
            b'Z' => {
                let len = memchr::memchr(0, bytes).unwrap_or(bytes.len());
                self.spend_work(len)?;
                // `Z*` ends after its null.
                let field_len =
                    if task.is_star { len + usize::from(self.position + len != self.data.len()) } else { bytes.len() };
                (&bytes[..len], field_len)
            }
            b'A' if in_characters && self.was_text => {
                self.spend_work(bytes.len())?;
                (trim_text(bytes)?, bytes.len())
            }
            b'A' => {
                let len = trimmed_len(bytes);
                self.spend_work(bytes.len() - len)?;
                (&bytes[..len], bytes.len())
            }
            _ => (bytes, bytes.len()),
        };
        if value.len() as u64 > self.limits.string {
            return Err(self.limits.too_long(value.len() as u64));
        }
        let start = self.position;
        self.position += consumed;
        if self.copies_strings {
            return self.copy_string(value, in_characters);
        }
        let kind = if in_characters { Kind::Text } else { Kind::Bytes };
        let node = self.sink.tape().new_string_at(kind, Location::Input(start as u64), value.len());
        self.push_value(node)
    }

    /// Returns the end of a string of `len` bytes or characters.
    fn find_string_end(&mut self, len: u64, in_characters: bool) -> Result<usize, Error> {
        if !in_characters {
            let len = usize::try_from(len).unwrap_or(usize::MAX).min(self.bytes_left());
            return Ok(self.position + len);
        }
        let mut end = self.position;
        for _ in 0..len {
            let Some(first) = self.data.get(end) else { break };
            end += utf8::len_from_first_byte(*first);
        }
        if end > self.data.len() {
            return Err(malformed_error());
        }
        self.spend_work(end - self.position)?;
        Ok(end)
    }

    /// Copies a string from bytes that were converted to characters: they become bytes
    /// again.
    fn copy_string(&mut self, value: &[u8], in_characters: bool) -> Result<(), Error> {
        self.spend_work(value.len())?;
        let start = self.sink.tape().arena.len();
        if !in_characters {
            self.sink.tape().arena.extend_from_slice(value);
            return self.push_owned_string(start);
        }
        let mut rest = value;
        while !rest.is_empty() {
            let character = utf8::decode_character(rest);
            let Some(byte) = character.value.and_then(|value| u8::try_from(value).ok()) else {
                return Err(Error::new(ErrorKind::Malformed)
                    .expecting("characters that are bytes")
                    .finding("others, because the template left `U0` inside a character"));
            };
            self.sink.tape().arena.push(byte);
            rest = &rest[character.len..];
        }
        self.push_owned_string(start)
    }

    /// Reads `%32a`: the sum of bytes or characters.
    fn read_checksum(&mut self, len: u64, in_characters: bool) -> Result<(), Error> {
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(self.bytes_left());
        self.spend_work(len)?;
        for _ in 0..len {
            if self.bytes_left() == 0 {
                break;
            }
            let value = if in_characters {
                let (value, len) = self.decode_character(self.position)?;
                self.position += len;
                value
            } else {
                self.read_byte(false)?.map_or(0, u64::from)
            };
            self.current_frame().checksum.add_uint(value);
        }
        Ok(())
    }
}

/// Removes blanks and nulls at the end.
fn trim_text(mut text: &[u8]) -> Result<&[u8], Error> {
    while let Some(last) = text.iter().rposition(|byte| !utf8::is_continuation(*byte)) {
        let character = utf8::decode_character(&text[last..]);
        let value = character.value.filter(|_| character.len == text.len() - last).ok_or_else(malformed_error)?;
        let is_blank =
            u32::try_from(value).ok().and_then(char::from_u32).is_some_and(|c| c == '\0' || c.is_whitespace());
        if !is_blank {
            return Ok(text);
        }
        text = &text[..last];
    }
    Ok(&[])
}
