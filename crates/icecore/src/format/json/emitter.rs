//! Writes tokens into a buffer, which goes to the output in large pieces.

use super::scratch::{self, Scratch};
use super::string::{is_special, non_ascii_mask, special_byte_mask};
use super::style::{EscapeOptions, TextStyle};
use crate::error::Error;
use crate::output::Output;

/// Number of bytes that are collected before they are passed to the output.
const FLUSH_LEN: usize = 64 << 10;
/// Number of bytes that may be written after that point without a check: more than the tokens of
/// one value need (a scratch, a short piece and punctuation).
const SLACK: usize = 2 << 10;
/// Maximum length of a piece that is written without a check.
pub(super) const MAX_SHORT_LEN: usize = 512;
/// Number of bytes that are copied for a short piece of any length: a copy of constant length is
/// one or two moves, and the next token overwrites the excess.
pub(super) const PIECE_LEN: usize = 32;

/// A buffer before an output.
///
/// A token has at most [`MAX_SHORT_LEN`] bytes, or makes space itself. So it is enough to call
/// [`Emitter::make_space`] once for each value.
pub(super) struct Emitter<'o> {
    out: &'o mut dyn Output,
    buffer: Vec<u8>,
    filled: usize,
    /// Fill level from which the buffer is passed to the output.
    flush_level: usize,
    style: TextStyle,
}

/// How the bytes of a string become characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharEncoding {
    /// They are UTF-8, maybe with surrogates, which Perl allows.
    Utf8,
    /// Each is a character, U+0000 to U+00FF.
    Latin1,
}

impl<'o> Emitter<'o> {
    /// Returns an emitter for a document of about this many values.
    pub(super) fn new(out: &'o mut dyn Output, value_count: usize, style: TextStyle) -> Emitter<'o> {
        Emitter::with_buffer(Vec::new(), out, value_count, style)
    }

    /// As [`Emitter::new`], with a buffer that was used before.
    pub(super) fn with_buffer(
        mut buffer: Vec<u8>,
        out: &'o mut dyn Output,
        value_count: usize,
        style: TextStyle,
    ) -> Emitter<'o> {
        let min_len = value_count.saturating_mul(32).clamp(SLACK, FLUSH_LEN) + SLACK;
        if buffer.len() < min_len {
            buffer.resize(min_len, 0);
        }
        let flush_level = buffer.len() - SLACK;
        Emitter { out, buffer, filled: 0, flush_level, style }
    }

    /// Returns the buffer, to be used again.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Makes space for the next value.
    #[inline]
    pub(super) fn make_space(&mut self) -> Result<(), Error> {
        if self.filled >= self.flush_level { self.flush() } else { Ok(()) }
    }

    /// Passes the buffer to the output.
    #[inline(never)]
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        self.out.buffer().extend_from_slice(&self.buffer[..self.filled]);
        self.filled = 0;
        self.out.allow_flush()
    }

    #[inline]
    pub(super) fn write_byte(&mut self, byte: u8) {
        self.buffer[self.filled] = byte;
        self.filled += 1;
    }

    /// Writes a short constant text.
    #[inline]
    pub(super) fn write_word(&mut self, word: &'static str) {
        self.buffer[self.filled..self.filled + word.len()].copy_from_slice(word.as_bytes());
        self.filled += word.len();
    }

    /// Writes the first `len` bytes of a piece of [`PIECE_LEN`] bytes.
    #[inline]
    pub(super) fn write_piece(&mut self, piece: &[u8; PIECE_LEN], len: usize) {
        self.buffer[self.filled..self.filled + PIECE_LEN].copy_from_slice(piece);
        self.filled += len;
    }

    /// Writes bytes as they are.
    pub(super) fn write_raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for chunk in bytes.chunks(MAX_SHORT_LEN) {
            self.make_space()?;
            self.buffer[self.filled..self.filled + chunk.len()].copy_from_slice(chunk);
            self.filled += chunk.len();
        }
        self.make_space()
    }

    /// Starts a new line at this depth if the output is indented.
    #[inline]
    pub(super) fn start_line(&mut self, depth: usize) -> Result<(), Error> {
        if self.style.breaks_lines { self.write_new_line(depth) } else { Ok(()) }
    }

    #[cold]
    fn write_new_line(&mut self, depth: usize) -> Result<(), Error> {
        self.make_space()?;
        self.write_byte(b'\n');
        let mut remaining = depth.saturating_mul(self.style.indent);
        while remaining > 0 {
            let piece_len = remaining.min(MAX_SHORT_LEN);
            self.make_space()?;
            self.buffer[self.filled..self.filled + piece_len].fill(b' ');
            self.filled += piece_len;
            remaining -= piece_len;
        }
        self.make_space()
    }

    /// Returns `true` if the output is indented.
    #[inline]
    pub(super) fn is_indented(&self) -> bool {
        self.style.breaks_lines
    }

    /// Returns the style.
    pub(super) fn style(&self) -> TextStyle {
        self.style
    }

    /// Writes the comma between two values.
    #[inline]
    pub(super) fn write_comma(&mut self) {
        self.write_byte(b',');
        if self.style.space_after_comma {
            self.write_byte(b' ');
        }
    }

    /// Writes the colon between a key and its value.
    pub(super) fn write_colon(&mut self) {
        if self.style.space_before_colon {
            self.write_byte(b' ');
        }
        self.write_byte(b':');
        if self.style.space_after_colon {
            self.write_byte(b' ');
        }
    }

    /// Returns the free part of the buffer as a scratch.
    #[inline]
    pub(super) fn free_scratch(&mut self) -> Option<&mut Scratch> {
        self.buffer.get_mut(self.filled..).and_then(|rest| rest.first_chunk_mut())
    }

    /// Keeps the first `len` bytes of the scratch.
    #[inline]
    pub(super) fn advance(&mut self, len: usize) {
        self.filled += len;
    }

    fn write_with(&mut self, write_piece: impl FnOnce(&mut Scratch) -> usize) {
        let len = self.free_scratch().map_or(0, write_piece);
        self.advance(len);
    }

    pub(super) fn write_int(&mut self, value: i64) {
        self.write_with(|scratch| scratch::write_int(scratch, 0, value));
    }

    pub(super) fn write_uint(&mut self, value: u64) {
        self.write_with(|scratch| scratch::write_uint(scratch, 0, value));
    }

    /// Writes a finite float.
    pub(super) fn write_float(&mut self, value: f64) {
        self.write_with(|scratch| scratch::write_float(scratch, 0, value));
    }

    /// Writes a string in quotes.
    pub(super) fn write_quoted(&mut self, bytes: &[u8], chars: CharEncoding) -> Result<(), Error> {
        self.make_space()?;
        self.write_byte(b'"');
        self.write_string_part(bytes, chars)?;
        self.write_byte(b'"');
        self.make_space()
    }

    /// Writes a part of a string, without quotes.
    pub(super) fn write_string_part(&mut self, bytes: &[u8], chars: CharEncoding) -> Result<(), Error> {
        let EscapeOptions { ascii, latin1, slash } = self.style.escapes;
        let accepts_non_ascii = !ascii && latin1 == (chars == CharEncoding::Latin1);
        let stands_for_itself =
            |byte: u8| !is_special(byte) && (byte < 0x80 || accepts_non_ascii) && !(slash && byte == b'/');
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            self.make_space()?;
            if stands_for_itself(*first) {
                let mut end = measure_unescaped_run(rest, accepts_non_ascii);
                if slash {
                    end = rest[..end].iter().position(|byte| *byte == b'/').unwrap_or(end);
                }
                let (run, tail) = rest.split_at(end);
                self.write_raw(run)?;
                rest = tail;
                continue;
            }
            let (code, len) = match chars {
                CharEncoding::Latin1 => (u32::from(*first), 1),
                CharEncoding::Utf8 if *first < 0x80 => (u32::from(*first), 1),
                CharEncoding::Utf8 => decode_first_char(rest),
            };
            self.write_escaped_char(code);
            rest = rest.get(len..).unwrap_or(&[]);
        }
        Ok(())
    }

    /// Writes a character that can't be copied.
    fn write_escaped_char(&mut self, code: u32) {
        match code {
            0x22 => self.write_word("\\\""),
            0x5C => self.write_word("\\\\"),
            0x08 => self.write_word("\\b"),
            0x0C => self.write_word("\\f"),
            0x0A => self.write_word("\\n"),
            0x0D => self.write_word("\\r"),
            0x09 => self.write_word("\\t"),
            0..=0x1F => self.write_unit_escape(code as u16),
            0x2F => self.write_word("\\/"),
            0x80..=0xFF if self.style.escapes.latin1 && !self.style.escapes.ascii => self.write_byte(code as u8),
            _ if self.style.escapes.ascii || self.style.escapes.latin1 => match char::from_u32(code) {
                Some(c) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| self.write_unit_escape(*unit)),
                None => self.write_unit_escape(u16::try_from(code).unwrap_or(0xFFFD)),
            },
            _ => {
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    self.write_byte(byte);
                }
            }
        }
    }

    fn write_unit_escape(&mut self, unit: u16) {
        self.write_word("\\u");
        for shift in [12, 8, 4, 0] {
            self.write_byte(b"0123456789abcdef"[usize::from(unit >> shift & 0x0F)]);
        }
    }
}

/// Returns a key, given in UTF-8, in quotes and with the colon.
pub(super) fn quote_key(text: &[u8], style: TextStyle) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len() + 5);
    // Most keys are words. An emitter has its own buffer, which costs more than they do.
    if text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        quoted.push(b'"');
        quoted.extend_from_slice(text);
        quoted.extend_from_slice(match (style.space_before_colon, style.space_after_colon) {
            (false, false) => b"\":",
            (false, true) => b"\": ",
            (true, false) => b"\" :",
            (true, true) => b"\" : ",
        });
        return quoted;
    }
    let mut emitter = Emitter::new(&mut quoted, 1, style);
    // The output can't fail: it is a vector.
    let _ = emitter.write_quoted(text, CharEncoding::Utf8);
    emitter.write_colon();
    let _ = emitter.flush();
    quoted
}

/// Returns the length of the run that needs no escapes. With `accepts_non_ascii`, bytes above 0x7F are
/// part of it.
fn measure_unescaped_run(bytes: &[u8], accepts_non_ascii: bool) -> usize {
    let mut offset = 0;
    while let Some(chunk) = bytes.get(offset..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let found = special_byte_mask(word) | if accepts_non_ascii { 0 } else { non_ascii_mask(word) };
        if found != 0 {
            return offset + found.trailing_zeros() as usize / 8;
        }
        offset += 8;
    }
    let stands_for_itself = |byte: &u8| !is_special(*byte) && (*byte < 0x80 || accepts_non_ascii);
    offset + bytes[offset..].iter().take_while(|byte| stands_for_itself(byte)).count()
}

/// Returns the first UTF-8 character, or a surrogate in the same encoding, and its length in
/// bytes.
fn decode_first_char(bytes: &[u8]) -> (u32, usize) {
    if let [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, ..] = bytes {
        return (0xD000 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F), 3);
    }
    let end = bytes.len().min(4);
    let valid = match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    };
    valid.chars().next().map_or((0xFFFD, 1), |c| (u32::from(c), c.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emit(ascii: bool, write: impl FnOnce(&mut Emitter<'_>)) -> String {
        let mut out = Vec::new();
        let style = TextStyle { escapes: EscapeOptions { ascii, ..EscapeOptions::default() }, ..TextStyle::default() };
        let mut emitter = Emitter::new(&mut out, 1, style);
        write(&mut emitter);
        emitter.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn special_characters_are_escaped() {
        let text = "a\"b\\c/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é\u{2028}😀 and a long run behind it";
        let escaped = emit(false, |emitter| emitter.write_quoted(text.as_bytes(), CharEncoding::Utf8).unwrap());
        assert_eq!(escaped, "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}é\u{2028}😀 and a long run behind it\"");
        let ascii = emit(true, |emitter| emitter.write_quoted("é😀x".as_bytes(), CharEncoding::Utf8).unwrap());
        assert_eq!(ascii, r#""\u00e9\ud83d\ude00x""#);
        assert_eq!(
            emit(false, |emitter| emitter.write_quoted(b"caf\xe9\xff", CharEncoding::Latin1).unwrap()),
            "\"caféÿ\""
        );
        assert_eq!(
            emit(true, |emitter| emitter.write_quoted(b"caf\xe9\xff", CharEncoding::Latin1).unwrap()),
            r#""caf\u00e9\u00ff""#
        );
    }

    #[test]
    fn keys_that_are_words_are_written_like_others() {
        for (before, after) in [(false, false), (false, true), (true, false), (true, true)] {
            let style = TextStyle { space_before_colon: before, space_after_colon: after, ..TextStyle::default() };
            let word = quote_key(b"Ab_9-", style);
            let other = quote_key(b"Ab_9.", style);
            assert_eq!(word, [&b"\"Ab_9-"[..], &other[6..]].concat(), "{style:?}");
        }
    }

    #[test]
    fn long_strings_are_written_in_parts() {
        for text in ["é".repeat(100_000), "\u{1}".repeat(50_000), "x".repeat(300_000)] {
            let quoted = emit(false, |emitter| emitter.write_quoted(text.as_bytes(), CharEncoding::Utf8).unwrap());
            assert_eq!(quoted.replace("\\u0001", "\u{1}"), format!("\"{text}\""));
        }
    }
}
