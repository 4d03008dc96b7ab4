//! Tokens of the text, each checked against the end of the input.

use super::text;
use crate::document::Sink;
use crate::error::{Error, ErrorDetail, ErrorKind};
use crate::format::scan::unexpected_byte_error;

/// Advice for errors about a wrong length.
const REPAIR_ADVICE: &str = "`repair=lengths` counts wrong lengths again";
/// The end of a string is searched up to this distance after twice its stated length.
const SEARCH_BEYOND: usize = 1024;

/// Bytes of the input between quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuotedBytes {
    pub(super) start: usize,
    pub(super) len: usize,
    /// Whether its head is spelled as PHP writes it.
    pub(super) is_default: bool,
}

/// The input and the position in it. A method that fails leaves `offset` at the start of the
/// token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    /// Readable part of the input: all of it, or up to the end of the current payload.
    pub(super) input: &'a [u8],
    pub(super) offset: usize,
    /// Start of the current payload; 0 outside of payloads.
    pub(super) base: usize,
    /// Whether errors quote the message of `unserialize()`.
    pub(super) adds_php_message: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(input: &'a [u8], offset: usize) -> Tokens<'a> {
        Tokens { input, offset, base: 0, adds_php_message: true }
    }
}

impl Tokens<'_> {
    #[inline]
    pub(super) fn byte_at(&self, offset: usize) -> Option<u8> {
        self.input.get(offset).copied()
    }

    // -- Errors -----------------------------------------------------------------

    /// Returns the error for a byte at `offset` that is not `expected`; PHP reports the offset `php_offset`.
    #[cold]
    pub(super) fn unexpected_byte_error(&self, offset: usize, php_offset: usize, expected: &'static str) -> Error {
        let error = match self.byte_at(offset) {
            None if self.base > 0 => self.missing_bytes_error(self.input.len()).finding("the end of the payload"),
            _ => unexpected_byte_error(self.input, offset, expected),
        };
        self.add_php_message(error.expecting(expected), php_offset)
    }

    /// Adds PHP's message with the offset that PHP reports.
    #[cold]
    pub(super) fn add_php_message(&self, error: Error, offset: usize) -> Error {
        if !self.adds_php_message {
            return error;
        }
        error.helping(self.php_message(offset)).originally_at(offset.saturating_sub(self.base))
    }

    /// Adds PHP's message and the advice to repair; a session does not have this option.
    #[cold]
    fn add_repair_advice(&self, error: Error, offset: usize) -> Error {
        if !self.adds_php_message {
            return error;
        }
        error
            .helping(format!("{}; {REPAIR_ADVICE}", self.php_message(offset)))
            .originally_at(offset.saturating_sub(self.base))
    }

    fn php_message(&self, offset: usize) -> String {
        let (offset, len) = (offset.saturating_sub(self.base), self.input.len() - self.base);
        format!("PHP says: Error at offset {offset} of {len} bytes")
    }

    /// Returns the error for missing bytes. The input was cut off, unless these are the tokens of a payload: a
    /// payload has a stated end, so its length is wrong.
    #[cold]
    fn missing_bytes_error(&self, offset: usize) -> Error {
        Error::new(if self.base > 0 { ErrorKind::Malformed } else { ErrorKind::Truncated }).at(offset)
    }

    #[cold]
    pub(super) fn no_value_error(&self) -> Error {
        self.unexpected_byte_error(self.offset, self.offset, "a value: one of N b i d s S a O C E r R")
            .detailing(ErrorDetail::NoValue)
    }

    /// Returns the error for a value that can't be a key. PHP parses some values before it reports this error, so it
    /// reports the offset after them.
    #[cold]
    pub(super) fn no_key_error(&self) -> Error {
        let mut ahead = *self;
        let end = match self.byte_at(self.offset) {
            Some(b'N') => ahead.read_word(b"N;").is_ok(),
            Some(b'b') => ahead.read_boolean().is_ok(),
            Some(b'd') => ahead.read_float().is_ok(),
            Some(b'r' | b'R') => ahead.read_link().is_ok(),
            Some(b'a') => match self.read_count(self.offset, b':') {
                Ok((_, end, _)) if self.byte_at(end + 1) == Some(b'{') => {
                    ahead.offset = end + 2;
                    true
                }
                _ => false,
            },
            _ => false,
        };
        self.unexpected_byte_error(self.offset, if end { ahead.offset } else { self.offset }, "a key: i, s or S")
            .detailing(ErrorDetail::NoKey)
    }

    // -- Small pieces -------------------------------------------------------------

    #[inline]
    pub(super) fn expect_byte(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.byte_at(self.offset) != Some(byte) {
            return Err(self.unexpected_byte_error(self.offset, self.offset, expected));
        }
        self.offset += 1;
        Ok(())
    }

    /// Checks the next byte without consuming it.
    #[inline]
    pub(super) fn expect_next(&self, fits: impl Fn(u8) -> bool, expected: &'static str) -> Result<(), Error> {
        if self.byte_at(self.offset).is_some_and(fits) {
            Ok(())
        } else {
            Err(self.unexpected_byte_error(self.offset, self.offset, expected))
        }
    }

    #[inline]
    pub(super) fn read_word(&mut self, word: &'static [u8; 2]) -> Result<(), Error> {
        if self.byte_at(self.offset + 1) != Some(word[1]) {
            return Err(self.unexpected_byte_error(self.offset + 1, self.offset, "`;`"));
        }
        self.offset += 2;
        Ok(())
    }

    #[inline]
    pub(super) fn read_boolean(&mut self) -> Result<bool, Error> {
        let start = self.offset;
        let is_true = match self.input.get(start + 1..start + 4) {
            Some(b":0;") => false,
            Some(b":1;") => true,
            _ => {
                let expected = [b":"[0], b'0', b';'];
                let mismatch = (0..3).find(|index| match (index, self.byte_at(start + 1 + index)) {
                    (1, byte) => !matches!(byte, Some(b'0' | b'1')),
                    (index, byte) => byte != Some(expected[*index]),
                });
                return Err(self.unexpected_byte_error(start + 1 + mismatch.unwrap_or(0), start, "`b:0;` or `b:1;`"));
            }
        };
        self.offset = start + 4;
        Ok(is_true)
    }

    /// Reads the number after `:` up to `delimiter`, without a sign. Returns its value, saturated, the offset of the
    /// delimiter, and whether PHP writes the number in this way.
    #[inline(always)]
    fn read_count(&self, start: usize, delimiter: u8) -> Result<(u64, usize, bool), Error> {
        if self.byte_at(start + 1) != Some(b':') {
            return Err(self.unexpected_byte_error(start + 1, start, "`:`"));
        }
        let first = start + 2;
        let mut offset = first;
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.byte_at(offset) {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            offset += 1;
        }
        if offset == first {
            return Err(self.unexpected_byte_error(offset, start, "a number without sign"));
        }
        if self.byte_at(offset) != Some(delimiter) {
            let expected = if delimiter == b':' { "`:` after the number" } else { "`;` after the number" };
            return Err(self.unexpected_byte_error(offset, start, expected));
        }
        let is_default = offset == first + 1 || self.byte_at(first) != Some(b'0');
        Ok((value, offset, is_default))
    }

    /// Reads `X:number:"`, this many bytes, and `"`; `offset` is then after the quote. If bytes
    /// are missing, PHP reports the offset of the number.
    #[inline(always)]
    fn read_quoted(&mut self) -> Result<QuotedBytes, Error> {
        let start = self.offset;
        let (len, number_end, is_default) = self.read_count(start, b':')?;
        if self.byte_at(number_end + 1) != Some(b'"') {
            return Err(self.unexpected_byte_error(number_end + 1, start, "`\"`"));
        }
        let first = number_end + 2;
        let end = usize::try_from(len).ok().and_then(|len| first.checked_add(len));
        let Some(end) = end.filter(|end| *end <= self.input.len()) else {
            return Err(self.too_short_error(len, first, start + 2));
        };
        if self.byte_at(end) != Some(b'"') {
            return Err(self.wrong_length_error(len, first, end, end));
        }
        self.offset = end + 1;
        Ok(QuotedBytes { start: first, len: end - first, is_default })
    }

    /// Returns the error for a string that does not end where its length says.
    #[cold]
    fn wrong_length_error(&self, len: u64, first: usize, offset: usize, php_offset: usize) -> Error {
        match self.find_real_length(len, first).filter(|_| offset < self.input.len()) {
            Some(real) => {
                let found = format!("a string declared as {len} bytes long, but `\";` comes after {real}");
                let error = Error::new(ErrorKind::Malformed).at(offset).expecting("`\";` after the string");
                self.add_repair_advice(error.finding(found), php_offset)
            }
            None => self.unexpected_byte_error(offset, php_offset, "`\";` after the string, whose length may be wrong"),
        }
    }

    /// Returns the real length of a string whose stated length is wrong: the nearest place
    /// that looks like its end.
    fn find_real_length(&self, len: u64, first: usize) -> Option<usize> {
        let len = usize::try_from(len).ok()?;
        let search_end = len.saturating_mul(2).saturating_add(first + SEARCH_BEYOND).min(self.input.len());
        let text = self.input.get(first..search_end)?;
        let ends = text.windows(2).enumerate().filter(|(_, pair)| pair == b"\";").map(|(offset, _)| offset);
        ends.min_by_key(|real| real.abs_diff(len))
    }

    #[cold]
    fn too_short_error(&self, len: u64, first: usize, php_offset: usize) -> Error {
        let remaining = self.input.len() - first;
        let error = self.missing_bytes_error(self.input.len()).expecting(format!("{len} bytes from offset {first}"));
        // Cut off, or a wrong length: in the second case the real end may exist.
        match self.find_real_length(remaining as u64, first) {
            Some(real) => {
                self.add_repair_advice(error.finding(format!("only {remaining}; `\";` comes after {real}")), php_offset)
            }
            None => self.add_php_message(error.finding(format!("only {remaining}")), php_offset),
        }
    }

    // -- Values ---------------------------------------------------------------------

    #[inline(always)]
    pub(super) fn read_string(&mut self) -> Result<QuotedBytes, Error> {
        let start = self.offset;
        let quoted = self.read_quoted()?;
        if self.byte_at(self.offset) != Some(b';') {
            let end = std::mem::replace(&mut self.offset, start);
            let QuotedBytes { start: first, len, .. } = quoted;
            return Err(match self.byte_at(end) {
                None => self.unexpected_byte_error(end, end, "`;` after the string"),
                Some(_) => self.wrong_length_error(len as u64, first, end, end),
            });
        }
        self.offset += 1;
        Ok(quoted)
    }

    /// Rejects a name of length 0, which PHP checks first.
    #[inline]
    fn reject_empty_name(&self, expected: &'static str) -> Result<(), Error> {
        if self.byte_at(self.offset + 2) != Some(b'0') {
            return Ok(());
        }
        match self.read_count(self.offset, b':') {
            Ok((0, at, _)) if self.byte_at(at + 1) == Some(b'"') => {
                Err(self.unexpected_byte_error(at + 2, self.offset + 2, expected))
            }
            _ => Ok(()),
        }
    }

    /// Reads `E:number:"Class:Case";`.
    pub(super) fn read_enum_case(&mut self) -> Result<QuotedBytes, Error> {
        let start = self.offset;
        self.reject_empty_name("`Class:Case`")?;
        let quoted = self.read_string()?;
        let name = &self.input[quoted.start..quoted.start + quoted.len];
        if !text::is_enum_case(name) {
            self.offset = start;
            return Err(self.unexpected_byte_error(quoted.start, start, "`Class:Case`").detailing(ErrorDetail::NoCase));
        }
        Ok(quoted)
    }

    /// Reads `S:number:"…";` and decodes it.
    pub(super) fn read_escaped(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = self.offset;
        let (len, number_end, _) = self.read_count(start, b':')?;
        if self.byte_at(number_end + 1) != Some(b'"') {
            return Err(self.unexpected_byte_error(number_end + 1, start, "`\"`"));
        }
        let mut offset = number_end + 2;
        if len > (self.input.len() - offset) as u64 {
            return Err(self.too_short_error(len, offset, start + 2));
        }
        let hex = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        for _ in 0..len {
            match self.byte_at(offset) {
                Some(b'\\') => {
                    let (Some(high), Some(low)) = (hex(self.byte_at(offset + 1)), hex(self.byte_at(offset + 2))) else {
                        let invalid_offset = offset + 1 + usize::from(hex(self.byte_at(offset + 1)).is_some());
                        return Err(self.unexpected_byte_error(
                            invalid_offset,
                            start,
                            "two hexadecimal digits after `\\`",
                        ));
                    };
                    out.push((high << 4 | low) as u8);
                    offset += 3;
                }
                Some(byte) => {
                    out.push(byte);
                    offset += 1;
                }
                None => return Err(self.unexpected_byte_error(offset, start, "more of the string")),
            }
        }
        for byte in *b"\";" {
            if self.byte_at(offset) != Some(byte) {
                return Err(self.unexpected_byte_error(offset, offset, "`\";` after the string"));
            }
            offset += 1;
        }
        self.offset = offset;
        Ok(())
    }

    /// Reads `i:number;`: the value (clamped), whether PHP writes it like this, and whether
    /// it fits.
    #[inline(always)]
    pub(super) fn read_integer(&mut self) -> Result<(i64, bool, bool), Error> {
        let start = self.offset;
        if self.byte_at(start + 1) != Some(b':') {
            return Err(self.unexpected_byte_error(start + 1, start, "`:`"));
        }
        let (value, number_end, is_default, fits) = self.read_signed(start + 2, start, false)?;
        if self.byte_at(number_end) != Some(b';') {
            return Err(self.unexpected_byte_error(number_end, start, "`;` after the integer"));
        }
        self.offset = number_end + 1;
        Ok((value, is_default, fits))
    }

    /// Reads digits after an optional sign: value, end, whether PHP writes it like this, and
    /// whether it fits. PHP takes a count without digits for 0.
    #[inline(always)]
    fn read_signed(
        &self,
        number_start: usize,
        php_offset: usize,
        is_count: bool,
    ) -> Result<(i64, usize, bool, bool), Error> {
        let sign = self.byte_at(number_start);
        let first = number_start + usize::from(matches!(sign, Some(b'+' | b'-')));
        let mut offset = first;
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.byte_at(offset) {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            offset += 1;
        }
        if offset == first && !is_count {
            return Err(self.unexpected_byte_error(offset, php_offset, "digits"));
        }
        let negative = sign == Some(b'-');
        if offset - first > 18 {
            let (value, fits) = clamp_integer(&self.input[first..offset], negative);
            return Ok((value, offset, sign != Some(b'+') && self.byte_at(first) != Some(b'0'), fits));
        }
        let has_leading_zero = offset == first || self.byte_at(first) == Some(b'0') && (offset > first + 1 || negative);
        let value = value as i64;
        Ok((if negative { -value } else { value }, offset, !has_leading_zero && sign != Some(b'+'), true))
    }

    /// Reads `d:…;`: the value, and where its text starts.
    pub(super) fn read_float(&mut self) -> Result<(f64, usize), Error> {
        let start = self.offset;
        if self.byte_at(start + 1) != Some(b':') {
            return Err(self.unexpected_byte_error(start + 1, start, "`:`"));
        }
        let first = start + 2;
        let is_float_byte =
            |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'A' | b'F' | b'I' | b'N');
        let len = self.input.get(first..).unwrap_or(&[]).iter().take_while(|byte| is_float_byte(byte)).count();
        let source = &self.input[first.min(self.input.len())..first.min(self.input.len()) + len];
        let value = match source {
            b"NAN" => Some(f64::NAN),
            b"INF" => Some(f64::INFINITY),
            b"-INF" => Some(f64::NEG_INFINITY),
            _ if text::is_float_text(source) => std::str::from_utf8(source).ok().and_then(|text| text.parse().ok()),
            _ => None,
        };
        match (value, self.byte_at(first + len)) {
            (Some(value), Some(b';')) => {
                self.offset = first + len + 1;
                Ok((value, first))
            }
            (Some(_), _) => Err(self.unexpected_byte_error(first + len, start, "`;` after the float")),
            (None, None) => Err(self.unexpected_byte_error(first + len, start, "a float")),
            (None, _) => Err(self.unexpected_byte_error(first, start, "a float")),
        }
    }

    /// Reads `r:number;` or `R:number;`.
    pub(super) fn read_link(&mut self) -> Result<(u64, bool), Error> {
        let start = self.offset;
        let (slot, number_end, is_default) = self.read_count(start, b';')?;
        self.offset = number_end + 1;
        Ok((slot, is_default))
    }

    /// Reads `a:number:{`. A count that is too large for the rest of the input is an error, unless the sink defers it.
    #[inline(always)]
    pub(super) fn read_array_head<S: Sink>(&mut self, sink: &mut S) -> Result<(u32, bool), Error> {
        let start = self.offset;
        let (count, number_end, is_default) = self.read_count(start, b':')?;
        if self.byte_at(number_end + 1) != Some(b'{') {
            return Err(self.unexpected_byte_error(number_end + 1, start, "`{`"));
        }
        let entries_start = number_end + 2;
        let remaining = self.input.len() - entries_start;
        // PHP requires two bytes for each entry.
        let count = match u32::try_from(count) {
            Ok(small) if count <= remaining as u64 / 2 => small,
            _ => {
                let error = self.too_many_error(count, remaining, entries_start, entries_start);
                sink.defer_count_error(error, count, self.input)?
            }
        };
        self.offset = entries_start;
        Ok((count, is_default))
    }

    #[cold]
    fn too_many_error(&self, count: u64, remaining: usize, entries_start: usize, php_offset: usize) -> Error {
        let error = self
            .missing_bytes_error(entries_start)
            .expecting(format!("{count} entries"))
            .finding(format!("only {remaining} bytes for them"));
        let error = self.add_php_message(error, php_offset);
        if count > i64::MAX as u64 { error.detailing(ErrorDetail::WideCount) } else { error }
    }

    /// Reads `X:number:"Class":number:{`: the name, the number, the end of the number, and
    /// the start of the body. PHP accepts a sign there, and takes no digits for 0. `cut_off_error`
    /// makes the error if the input ends after the class.
    fn read_class_head(
        &mut self,
        cut_off_error: impl Fn(&Self, usize) -> Error,
    ) -> Result<(QuotedBytes, ClassCount, usize), Error> {
        let start = self.offset;
        self.reject_empty_name("the name of a class")?;
        let mut name = self.read_quoted()?;
        let end = std::mem::replace(&mut self.offset, start);
        if self.byte_at(end) != Some(b':') {
            return Err(self.unexpected_byte_error(end, end, "`:` after the class"));
        }
        if !text::is_class_name(&self.input[name.start..name.start + name.len]) {
            return Err(self.unexpected_byte_error(name.start, start, "the name of a class"));
        }
        let number_start = end + 1;
        if number_start >= self.input.len() {
            return Err(cut_off_error(self, end));
        }
        let (value, number_end, is_default, fits) = self.read_signed(number_start, number_start, true)?;
        let count = ClassCount { value: u64::try_from(value).ok().filter(|_| fits), start: number_start, fits };
        name.is_default &= is_default;
        Ok((name, count, number_end))
    }

    fn negative_count_error(&self, count: &ClassCount, php_offset: usize) -> Error {
        self.unexpected_byte_error(count.start, php_offset, "a number that is not below 0")
    }

    /// Reads the head of `O:`.
    pub(super) fn read_object_head<S: Sink>(&mut self, sink: &mut S) -> Result<(QuotedBytes, u32, bool), Error> {
        let (name, count, number_end) = self.read_class_head(|tokens, end| {
            tokens.unexpected_byte_error(end + 1, end - 1, "digits").detailing(ErrorDetail::NoCount)
        })?;
        let value = count.value.ok_or_else(|| {
            let error = self.negative_count_error(&count, number_end);
            if count.fits { error } else { error.detailing(ErrorDetail::WideCount) }
        })?;
        // PHP counts the remaining bytes from the quote after the class.
        let remaining = self.input.len() - (name.start + name.len);
        let fits = u32::try_from(value).ok().filter(|value| *value as usize <= remaining / 2);
        if self.byte_at(number_end) != Some(b':') {
            return Err(self.unexpected_byte_error(number_end, number_end, "`:` after the number"));
        }
        if self.byte_at(number_end + 1) != Some(b'{') {
            return Err(self.unexpected_byte_error(
                number_end + 1,
                if fits.is_some() { number_end + 1 } else { number_end },
                "`{`",
            ));
        }
        let value = match fits {
            Some(value) => value,
            None => {
                let error = self.too_many_error(value, self.input.len() - number_end - 2, number_end, number_end);
                sink.defer_count_error(error, value, self.input)?
            }
        };
        self.offset = number_end + 2;
        Ok((name, value, name.is_default))
    }

    /// Reads a whole `C:`.
    pub(super) fn read_opaque(&mut self) -> Result<(QuotedBytes, usize, bool), Error> {
        let (name, count, number_end) =
            self.read_class_head(|tokens, end| tokens.unexpected_byte_error(end + 1, end + 1, "digits"))?;
        if self.byte_at(number_end) != Some(b':') {
            return Err(self.unexpected_byte_error(number_end, number_end, "`:` after the number"));
        }
        if self.byte_at(number_end + 1) != Some(b'{') {
            let php_offset = if number_end + 2 < self.input.len() || self.byte_at(number_end + 1).is_some() {
                number_end + 1
            } else {
                number_end
            };
            return Err(self.unexpected_byte_error(number_end + 1, php_offset, "`{`"));
        }
        let payload_start = number_end + 2;
        let short = |error: Error| error.detailing(ErrorDetail::ShortPayload);
        let len = count.value.ok_or_else(|| short(self.negative_count_error(&count, payload_start)))?;
        let remaining = self.input.len() - payload_start;
        let Some(len) = usize::try_from(len).ok().filter(|len| *len <= remaining) else {
            return Err(short(self.too_short_error(len, payload_start, payload_start)));
        };
        if self.byte_at(payload_start + len) != Some(b'}') {
            let expected = "`}` after the payload, whose length may be wrong";
            // PHP also needs the byte after it.
            return Err(match len == remaining {
                true => short(self.unexpected_byte_error(payload_start + len, payload_start, expected)),
                false => self.unexpected_byte_error(payload_start + len, payload_start + len, expected),
            });
        }
        self.offset = payload_start + len + 1;
        Ok((name, len, name.is_default))
    }
}

/// The number after a class name.
struct ClassCount {
    /// `None` if it is below 0 or too large.
    value: Option<u64>,
    start: usize,
    /// Whether it fits into 64 bits.
    fits: bool,
}

/// Converts digits to an integer, clamped; and whether it fits unclamped.
#[cold]
fn clamp_integer(digits: &[u8], negative: bool) -> (i64, bool) {
    let value =
        digits.iter().try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    let value = value.unwrap_or(u64::MAX);
    match negative {
        false => i64::try_from(value).map_or((i64::MAX, false), |value| (value, true)),
        true if value <= 1 << 63 => ((value as i64).wrapping_neg(), true),
        true => (i64::MIN, false),
    }
}
