//! Input beyond JSON that the options of the reader allow.

use super::strings::bare_control_error;
use super::{ReadFrame, Reader, StringToken};
use crate::document::{Form, Kind, Location, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::num::shortest_digits;

impl<S: Sink, const FAST: bool, const RELAXED: bool> Reader<'_, '_, S, FAST, RELAXED> {
    /// Skips comments, and the white space after them.
    pub(super) fn skip_comments(&mut self) {
        while let Some(len) = self.comment_length() {
            self.offset += len;
            while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
                self.offset += 1;
            }
        }
    }

    /// Returns the length of the comment that starts here.
    fn comment_length(&self) -> Option<usize> {
        let rest = self.input.get(self.offset..)?;
        let line = || rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        match rest {
            [b'#', ..] if self.relaxed.relaxed || self.relaxed.comments => Some(line()),
            [b'/', b'/', ..] if self.relaxed.comments => Some(line()),
            [b'/', b'*', inside @ ..] if self.relaxed.comments => {
                inside.windows(2).position(|end| end == b"*/").map(|len| len + 4)
            }
            _ => None,
        }
    }

    /// Continues after a comma. Returns `true` if the closing bracket follows.
    pub(super) fn skip_after_comma(&mut self, is_map: bool) -> bool {
        if !self.relaxed.relaxed {
            return false;
        }
        self.skip_whitespace();
        self.peek() == Some(if is_map { b'}' } else { b']' })
    }

    /// Reads a string in single or double quotes.
    pub(super) fn read_relaxed_string(&mut self) -> Result<StringToken, Error> {
        let first = self.sink.tape().arena.len();
        let text = self.read_relaxed_content(first);
        if text.is_err() {
            self.sink.tape().arena.truncate(first);
        }
        text
    }

    fn read_relaxed_content(&mut self, first: usize) -> Result<StringToken, Error> {
        let input = self.input;
        let (quote, start) = (input.get(self.offset).copied(), self.offset + 1);
        let (mut offset, mut run) = (start, start);
        let mut has_escapes = false;
        loop {
            match input.get(offset).copied() {
                None => return Err(self.truncated_error("a string", start - 1)),
                byte if byte == quote => break,
                Some(b'\\') => {
                    self.sink.tape().arena.extend_from_slice(input.get(run..offset).unwrap_or(&[]));
                    has_escapes = true;
                    offset = self.read_escape(offset)?;
                    run = offset;
                    continue;
                }
                Some(b'\t') if self.relaxed.relaxed => {}
                Some(control @ ..0x20) if !self.relaxed.loose => return Err(bare_control_error(control, offset)),
                Some(_) => {}
            }
            offset += 1;
        }
        self.check_utf8(start, offset)?;
        let (location, len) = if has_escapes {
            let arena = &mut self.sink.tape().arena;
            arena.extend_from_slice(input.get(run..offset).unwrap_or(&[]));
            (Location::Arena(first as u64), arena.len() - first)
        } else {
            (Location::Input(start as u64), offset - start)
        };
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(self.offset));
        }
        self.offset = offset + 1;
        Ok(StringToken { location, len, has_escapes })
    }

    /// Reads a name without quotes whose first letter was already seen. It ends before
    /// white space, a quote or a colon, as in Cpanel::JSON::XS.
    pub(super) fn read_bare_name(&mut self) -> Result<StringToken, Error> {
        let start = self.offset;
        let mut end = start;
        while self.input.get(end).is_some_and(|byte| !matches!(byte, 0..=0x20 | b'"' | b':')) {
            end += 1;
        }
        self.check_utf8(start, end)?;
        let len = end - start;
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(start));
        }
        self.offset = end;
        // It is not spelled like a name in quotes, so it can't be predicted.
        Ok(StringToken { location: Location::Input(start as u64), len, has_escapes: true })
    }

    /// Refuses a key that the innermost map already has.
    pub(super) fn check_key_is_new(&mut self, text: &StringToken, start: usize) -> Result<(), Error> {
        let map = self.open.last().map_or(0, |top| top.node);
        let key = self.string_bytes(text).to_vec();
        if self.known_keys.insert((map, key.clone())) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Malformed)
            .at(start)
            .expecting("each key of an object once")
            .finding(format!("\"{}\" again", String::from_utf8_lossy(&key).escape_debug())))
    }

    fn string_bytes(&mut self, text: &StringToken) -> &[u8] {
        let input = self.input;
        let bytes = match text.location {
            Location::Input(start) => input.get(start as usize..start as usize + text.len),
            Location::Arena(start) => self.sink.tape().arena.get(start as usize..start as usize + text.len),
        };
        bytes.unwrap_or(&[])
    }

    /// Reads `("Class")` and opens the object that froze itself; its payload is the
    /// following list.
    pub(super) fn read_tag(&mut self) -> Result<bool, Error> {
        if self.open.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(self.offset));
        }
        let start = self.offset;
        let node = self.push_node(Node::open(Kind::Opaque, 0).in_form(Form::Freeze))?;
        self.sink.record_begin(node, start);
        self.open.push(ReadFrame { node, count: 0, is_map: false, is_tag: true, previous_key: 0 });
        self.read_tag_name(node)?;
        Ok(false)
    }

    fn read_tag_name(&mut self, index: u32) -> Result<(), Error> {
        self.read_punctuation(index, "begin-tag");
        self.skip_whitespace();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected_error("the name of a class in quotes"));
        }
        let start = self.offset;
        let text = self.read_string()?;
        if S::DETAIL {
            self.record_span(start, index, "class name");
        }
        let name = self.string_bytes(&text).to_vec();
        if let Location::Arena(start) = text.location {
            self.sink.tape().arena.truncate(start as usize);
        }
        let kind = if name.is_ascii() { Kind::Bytes } else { Kind::Text };
        let class = self.sink.tape().intern_class(kind, &name).map_err(|error| error.at(start))?;
        self.sink.tape().set_class(index, class);
        self.skip_whitespace();
        if self.peek() != Some(b')') {
            return Err(self.unexpected_error("`)`"));
        }
        self.read_punctuation(index, "end-tag");
        self.skip_whitespace();
        if self.peek() != Some(b'[') {
            return Err(self.unexpected_error("a list after the class"));
        }
        Ok(())
    }

    /// Closes an object that froze itself, after its payload.
    pub(super) fn close_tag(&mut self, index: u32) {
        self.open.pop();
        self.sink.tape().close_container(index, 1);
        self.sink.record_end(index, self.offset);
    }
}

/// Returns `true` if a 64-bit float represents all digits of this decimal.
pub(super) fn is_exact_as_float(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let Ok(value) = text.parse::<f64>() else { return false };
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (integer_part, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = integer_part.bytes().chain(fraction.bytes()).collect();
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let end = digits.iter().rposition(|digit| *digit != b'0').map_or(zeros, |last| last + 1);
    let significant = digits.get(zeros..end).unwrap_or(&[]);
    if significant.is_empty() {
        return true;
    }
    if value == 0.0 || !value.is_finite() {
        return false;
    }
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let point = integer_part.len() as i64 - zeros as i64 + exponent;
    let (kept, kept_point) = shortest_digits(value.abs());
    kept == significant && i64::from(kept_point) == point
}

#[cfg(test)]
mod tests {
    use super::is_exact_as_float;

    #[test]
    fn only_exact_texts_count_as_floats() {
        for text in ["0.1", "1.50", "-1e5", "100.0", "0.000", "1.7976931348623157e308", "12345678901234.5", "1e-7"] {
            assert!(is_exact_as_float(text.as_bytes()), "{text}");
        }
        for text in ["1e400", "1e-400", "0.12345678901234567890", "-1.00000000000000000001", "1e99999999999999999999"] {
            assert!(!is_exact_as_float(text.as_bytes()), "{text}");
        }
    }
}
