//! Strings and their escapes.

use super::{Reader, StringToken};
use crate::document::{Location, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::json::{Surrogates, string};

impl<S: Sink, const FAST: bool, const RELAXED: bool> Reader<'_, '_, S, FAST, RELAXED> {
    /// Reads a string whose opening quote was already seen.
    #[inline]
    pub(super) fn read_string(&mut self) -> Result<StringToken, Error> {
        if RELAXED {
            return self.read_relaxed_string();
        }
        let start = self.offset + 1;
        let stop = string::find_special::<FAST>(self.input, start);
        if self.input.get(stop.offset) != Some(&b'"') {
            return self.read_escaped_string(start, stop);
        }
        let len = stop.offset - start;
        if stop.has_non_ascii {
            self.check_utf8(start, stop.offset)?;
        }
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(self.offset));
        }
        self.offset = stop.offset + 1;
        Ok(StringToken { location: Location::Input(start as u64), len, has_escapes: false })
    }

    /// Reads a string that starts at `start` and does not end at `stop`, where the scan
    /// stopped.
    #[inline(never)]
    fn read_escaped_string(&mut self, start: usize, stop: string::ScanEnd) -> Result<StringToken, Error> {
        let first = self.sink.tape().arena.len();
        let end = self.unescape_string(start, stop.offset).and_then(|end| self.check_utf8(start, end).map(|()| end));
        let end = match end {
            Ok(end) => end,
            Err(error) => {
                self.sink.tape().arena.truncate(first);
                return Err(error);
            }
        };
        let len = self.sink.tape().arena.len() - first;
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(self.offset));
        }
        self.offset = end + 1;
        Ok(StringToken { location: Location::Arena(first as u64), len, has_escapes: true })
    }

    /// Unescapes a string into the arena. Returns the offset of its closing quote.
    fn unescape_string(&mut self, start: usize, mut stop: usize) -> Result<usize, Error> {
        let input = self.input;
        let mut run = start;
        loop {
            self.sink.tape().arena.extend_from_slice(input.get(run..stop).unwrap_or(&[]));
            match input.get(stop) {
                Some(b'"') => return Ok(stop),
                Some(b'\\') => run = self.read_escape(stop)?,
                Some(control) => return Err(bare_control_error(*control, stop)),
                None => return Err(self.truncated_error("a string", start - 1)),
            }
            stop = string::find_special::<FAST>(input, run).offset;
        }
    }

    /// Unescapes the escape at `offset` into the arena. Returns its end.
    pub(super) fn read_escape(&mut self, offset: usize) -> Result<usize, Error> {
        let Some(letter) = self.input.get(offset + 1).copied() else {
            return Err(self.truncated_error("an escape", offset));
        };
        if letter != b'u' {
            let Some(byte) = string::decode_short_escape(letter) else {
                return Err(
                    self.bad_escape_error(offset, "one of JSON's escapes, \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
                );
            };
            self.sink.tape().arena.push(byte);
            return Ok(offset + 2);
        }
        let unit = self.read_code_unit(offset)?;
        let (code, end) = match unit {
            0xD800..=0xDBFF => match self.read_low_surrogate(offset + 6)? {
                Some(low) => (0x10000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(low) - 0xDC00), offset + 12),
                None => (self.resolve_lone_surrogate(unit, offset)?, offset + 6),
            },
            0xDC00..=0xDFFF => (self.resolve_lone_surrogate(unit, offset)?, offset + 6),
            _ => (u32::from(unit), offset + 6),
        };
        string::push_code_point(code, &mut self.sink.tape().arena);
        Ok(end)
    }

    /// Returns the code unit of the `\u` escape at `offset`.
    fn read_code_unit(&self, offset: usize) -> Result<u16, Error> {
        let rest = self.input.get(offset + 2..).unwrap_or(&[]);
        match rest.first_chunk::<4>() {
            Some(digits) => string::parse_hex4(digits).ok_or_else(|| self.bad_escape_error(offset, "four hex digits")),
            None if rest.iter().all(u8::is_ascii_hexdigit) => Err(self.truncated_error("an escape", offset)),
            None => Err(self.bad_escape_error(offset, "four hex digits")),
        }
    }

    /// Returns the second half of a surrogate pair, if it is at `offset`.
    fn read_low_surrogate(&self, offset: usize) -> Result<Option<u16>, Error> {
        if self.input.get(offset..offset + 2) != Some(b"\\u") {
            return Ok(None);
        }
        Ok(Some(self.read_code_unit(offset)?).filter(|unit| (0xDC00..=0xDFFF).contains(unit)))
    }

    fn resolve_lone_surrogate(&self, unit: u16, offset: usize) -> Result<u32, Error> {
        match self.surrogates {
            Surrogates::Keep => Ok(u32::from(unit)),
            Surrogates::Replace => Ok(0xFFFD),
            Surrogates::Error => Err(Error::new(ErrorKind::Malformed)
                .at(offset)
                .expecting("a pair of surrogates")
                .finding(format!("half of one, \\u{unit:04x}"))
                .helping("`surrogates=replace` reads it as U+FFFD")),
        }
    }

    fn bad_escape_error(&self, offset: usize, expected: &'static str) -> Error {
        let end = self.input.len().min(offset + if self.input.get(offset + 1) == Some(&b'u') { 6 } else { 2 });
        let found = String::from_utf8_lossy(self.input.get(offset..end).unwrap_or(&[])).into_owned();
        Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(format!("`{}`", found.escape_debug()))
    }

    /// Checks that a part of the input is UTF-8.
    pub(super) fn check_utf8(&self, start: usize, end: usize) -> Result<(), Error> {
        let bytes = self.input.get(start..end).unwrap_or(&[]);
        std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
            let offset = start + error.valid_up_to();
            Error::new(ErrorKind::Malformed)
                .at(offset)
                .expecting("UTF-8")
                .finding(format!("the byte 0x{:02x}", self.input.get(offset).copied().unwrap_or(0)))
                .helping("JSON is UTF-8; convert the text first")
        })
    }
}

#[cold]
pub(super) fn bare_control_error(control: u8, offset: usize) -> Error {
    Error::new(ErrorKind::Malformed)
        .at(offset)
        .expecting("an escape for a control character")
        .finding(format!("the byte 0x{control:02x} itself"))
        .helping(format!("write it as \\u{control:04x}"))
}
