//! Reads numbers and characters.

use super::layout::{Layout, NumberKind};
use super::read::{UnpackTask, Unpacker};
use super::{utf8, uu};
use crate::document::{Kind, Node, Sink};
use crate::error::{Error, ErrorKind};
use crate::num::float128;

impl<S: Sink> Unpacker<'_, S> {
    /// Returns how many items of `size` bytes are left, at most `len`.
    fn count_available(&self, len: u64, size: usize) -> usize {
        usize::try_from(len).unwrap_or(usize::MAX).min(self.bytes_left() / size)
    }

    pub(super) fn read_numbers(&mut self, task: &UnpackTask<'_>) -> Result<(), Error> {
        let op = task.op;
        let Some(layout) = Layout::from_letter(op.letter, op.has_exclamation_mark, op.order) else {
            let found = format!("`{}`", char::from(op.letter).escape_default());
            return Err(super::usage_error(format!("{} at position {} of the template", super::LETTERS, op.offset))
                .finding(found));
        };
        let count = self.count_available(task.len, layout.size);
        let frame = self.current_frame();
        let (in_characters, has_sum) = (frame.counts_characters, frame.checksum.is_wanted());
        if !in_characters && !has_sum {
            return self.read_number_run(layout, count);
        }
        self.spend_work(count)?;
        for _ in 0..count {
            let mut bytes = [0; 16];
            if !self.take_bytes(&mut bytes[..layout.size], in_characters)? {
                break;
            }
            let bytes = &bytes[..layout.size];
            let sum = if has_sum { Some(&mut self.current_frame().checksum) } else { None };
            match (layout.value, sum) {
                (NumberKind::Int, Some(sum)) => sum.add_int(layout.decode_bits(bytes) as i64),
                (NumberKind::Uint, Some(sum)) => sum.add_uint(layout.decode_bits(bytes)),
                (NumberKind::Float, Some(sum)) => sum.add_float(decode_float(layout, bytes)),
                (NumberKind::Int, None) => self.push_value(Node::int(layout.decode_bits(bytes) as i64))?,
                (NumberKind::Uint, None) => self.push_value(Node::uint(layout.decode_bits(bytes)))?,
                (NumberKind::Float, None) => self.push_value(Node::float(decode_float(layout, bytes)))?,
            }
        }
        Ok(())
    }

    /// Reads numbers that follow each other: this must be fast.
    fn read_number_run(&mut self, layout: Layout, count: usize) -> Result<(), Error> {
        self.check_value_count(count)?;
        let end = self.position + count * layout.size;
        let bytes = self.data.get(self.position..end).unwrap_or(&[]);
        self.position = end;
        let nodes = &mut self.sink.tape().nodes;
        macro_rules! run {
            ($type:ty, $from:ident) => {
                nodes.extend(bytes.as_chunks().0.iter().map(|bytes| Node::int(i64::from(<$type>::$from(*bytes)))))
            };
        }
        match (layout.value, layout.size, layout.is_big_endian) {
            (NumberKind::Int, 4, false) => run!(i32, from_le_bytes),
            (NumberKind::Int, 4, true) => run!(i32, from_be_bytes),
            (NumberKind::Uint, 4, false) => run!(u32, from_le_bytes),
            (NumberKind::Uint, 4, true) => run!(u32, from_be_bytes),
            (NumberKind::Int, 2, false) => run!(i16, from_le_bytes),
            (NumberKind::Int, 2, true) => run!(i16, from_be_bytes),
            (NumberKind::Uint, 2, false) => run!(u16, from_le_bytes),
            (NumberKind::Uint, 2, true) => run!(u16, from_be_bytes),
            (NumberKind::Int, 8, false) => run!(i64, from_le_bytes),
            (NumberKind::Int, 8, true) => run!(i64, from_be_bytes),
            (NumberKind::Uint, ..) => {
                nodes.extend(bytes.chunks_exact(layout.size).map(|bytes| Node::uint(layout.decode_bits(bytes))));
            }
            (NumberKind::Int, ..) => {
                nodes.extend(bytes.chunks_exact(layout.size).map(|bytes| Node::int(layout.decode_bits(bytes) as i64)));
            }
            (NumberKind::Float, ..) => {
                nodes.extend(bytes.chunks_exact(layout.size).map(|bytes| Node::float(decode_float(layout, bytes))));
            }
        }
        Ok(())
    }

    /// Reads bytes; with `in_characters`, each is a character. Returns `false` and consumes
    /// nothing if there are not enough.
    pub(super) fn take_bytes(&mut self, bytes: &mut [u8], in_characters: bool) -> Result<bool, Error> {
        if !in_characters {
            let Some(available) = self.data.get(self.position..).and_then(|rest| rest.get(..bytes.len())) else {
                return Ok(false);
            };
            bytes.copy_from_slice(available);
            self.position += bytes.len();
            return Ok(true);
        }
        let mut position = self.position;
        for byte in bytes {
            if position >= self.data.len() {
                return Ok(false);
            }
            let (value, len) = self.decode_character(position)?;
            *byte = value as u8;
            position += len;
        }
        self.position = position;
        Ok(true)
    }

    /// Returns the character at an offset.
    pub(super) fn decode_character(&self, offset: usize) -> Result<(u64, usize), Error> {
        let character = utf8::decode_character(self.data.get(offset..).unwrap_or(&[]));
        match character.value {
            Some(value) => Ok((value, character.len)),
            None => Err(malformed_error()),
        }
    }

    /// Reads a byte, or a character as a byte.
    pub(super) fn read_byte(&mut self, in_characters: bool) -> Result<Option<u8>, Error> {
        let mut byte = [0];
        Ok(self.take_bytes(&mut byte, in_characters)?.then_some(byte[0]))
    }

    /// Reads `C`, `c`, `W` and `U`.
    pub(super) fn read_characters(&mut self, task: &UnpackTask<'_>) -> Result<(), Error> {
        let letter = task.op.letter;
        let count = self.count_available(task.len, 1);
        if count == 0 {
            return self.set_mode(task);
        }
        let frame = self.current_frame();
        let (in_characters, has_sum) = (frame.counts_characters, frame.checksum.is_wanted());
        if !in_characters && !has_sum && letter != b'U' {
            let is_signed = letter == b'c';
            self.check_value_count(count)?;
            let bytes = &self.data[self.position..self.position + count];
            let value = |byte: &u8| if is_signed { i64::from(byte.cast_signed()) } else { i64::from(*byte) };
            self.sink.tape().nodes.extend(bytes.iter().map(|byte| Node::int(value(byte))));
            self.position += count;
            return Ok(());
        }
        self.spend_work(count)?;
        for _ in 0..count {
            if self.bytes_left() == 0 {
                break;
            }
            let value = match (letter, in_characters) {
                (b'U', false) => {
                    let character = utf8::decode_character(&self.data[self.position..]);
                    self.position += character.len;
                    character.value.unwrap_or(0)
                }
                (b'U', true) => match self.read_double_encoded()? {
                    Some(value) => value,
                    None => break,
                },
                (_, true) => {
                    let (value, len) = self.decode_character(self.position)?;
                    self.position += len;
                    value
                }
                (_, false) => self.read_byte(false)?.map_or(0, u64::from),
            };
            // For `c` and `C`, perl's C code stores the value in an `int`.
            let as_int = i64::from(value as u32 as i32);
            let signed = match letter {
                b'c' => Some(if as_int >= 128 { as_int - 256 } else { as_int }),
                b'C' => Some(as_int),
                _ => None,
            };
            let node = signed.map_or_else(|| Node::uint(value), Node::int);
            match signed {
                _ if !has_sum => self.push_value(node)?,
                Some(value) => self.current_frame().checksum.add_int(value),
                None => self.current_frame().checksum.add_uint(value),
            }
        }
        Ok(())
    }

    /// Handles `C0` and `U0`; also if nothing is left to read, as in perl.
    fn set_mode(&mut self, task: &UnpackTask<'_>) -> Result<(), Error> {
        let has_characters = self.has_characters;
        match task.op.letter {
            b'C' if task.is_explicit => self.current_frame().counts_characters = has_characters,
            b'U' if task.is_explicit && !task.is_star => {
                if !has_characters {
                    return Err(Error::new(ErrorKind::Malformed)
                        .expecting("a character for `U`, or `U0` before it in the template")
                        .finding("the end"));
                }
                self.current_frame().counts_characters = false;
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a character whose UTF-8 bytes are each stored as a character. `None` if it
    /// is incomplete.
    fn read_double_encoded(&mut self) -> Result<Option<u64>, Error> {
        let start = self.position;
        let mut bytes = [0; 13];
        if !self.take_bytes(&mut bytes[..1], true)? {
            return Ok(None);
        }
        let len = utf8::len_from_first_byte(bytes[0]);
        if !self.take_bytes(&mut bytes[1..len], true)? {
            self.position = start;
            return Ok(None);
        }
        Ok(Some(utf8::decode_character(&bytes[..len]).value.unwrap_or(0)))
    }

    /// Reads uuencoded lines.
    pub(super) fn read_uuencoded(&mut self) -> Result<(), Error> {
        let rest = &self.data[self.position..];
        let needs_text = !self.current_frame().checksum.is_wanted();
        let tape = self.sink.tape();
        let start = tape.arena.len();
        let consumed = uu::decode_lines(rest, needs_text.then_some(&mut tape.arena));
        let len = tape.arena.len() - start;
        self.position += consumed;
        self.spend_work(consumed.saturating_add(len))?;
        if !needs_text {
            return Ok(());
        }
        // Perl returns undef if there is not even enough for one byte.
        if len == 0 && rest.len() * 3 / 4 == 0 {
            return self.push_value(Node::leaf(Kind::Null, 0));
        }
        self.push_owned_string(start)
    }
}

#[cold]
pub(super) fn malformed_error() -> Error {
    Error::new(ErrorKind::Malformed).expecting("a character in UTF-8").finding("invalid bytes")
}

fn decode_float(layout: Layout, bytes: &[u8]) -> f64 {
    match layout.size {
        4 => f64::from(f32::from_bits(layout.decode_bits(bytes) as u32)),
        8 => f64::from_bits(layout.decode_bits(bytes)),
        _ => {
            // x86's format of 80 bits, and six bytes of padding.
            let mut padded: [u8; 16] = bytes.try_into().unwrap_or([0; 16]);
            if layout.is_big_endian {
                padded.reverse();
            }
            let x87: [u8; 10] = padded[..10].try_into().unwrap_or([0; 10]);
            float128::to_f64(&float128::from_x87(&x87))
        }
    }
}
