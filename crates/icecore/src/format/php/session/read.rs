//! The reader: names, and the machine of `serialize()` for the values.

use super::Handler;
use super::handler::MAX_NAME_LEN;
use crate::document::{Kind, NO_KEY, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::are_blanks;
use crate::format::list_to_map::MAX_ENTRIES_WITH_IDS;
use crate::format::php::links::Slots;
use crate::format::php::read::{Frame, Key, Machine};

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads all variables.
    pub(super) fn read_session(&mut self, handler: Handler) -> Result<(), Error> {
        if handler == Handler::PhpSerialize && !self.tokens.input.is_empty() {
            if self.tokens.byte_at(0) != Some(b'a') {
                return Err(self.tokens.unexpected_byte_error(0, 0, "one serialized array: `a`"));
            }
            self.root_is_map = true;
            return self.run();
        }
        self.slots = Slots::without_root();
        let frame = Frame { is_uncounted: true, ..Frame::new(0, false, false) };
        self.open_container(Node::open(Kind::Map, 0), 0, frame, true)?;
        while self.tokens.offset < self.tokens.input.len() {
            if self.sink.nodes().len() >= self.limits.nodes as usize {
                return Err(self.limits.too_many_nodes().at(self.tokens.offset));
            }
            if self.is_at_session_end(handler) {
                break;
            }
            let key = self.read_name(handler)?;
            self.read_value(key)?;
            self.read_open_containers(1)?;
        }
        self.close_container(false);
        Ok(())
    }

    /// Returns `true` if only blanks follow, as in a file saved by an editor; the caller decides
    /// about them. A text without any variable is not a session.
    fn is_at_session_end(&self, handler: Handler) -> bool {
        let offset = self.tokens.offset;
        handler == Handler::Php && offset > 0 && are_blanks(&self.tokens.input[offset..])
    }

    /// Reads the name of a variable.
    fn read_name(&mut self, handler: Handler) -> Result<u16, Error> {
        let start = self.tokens.offset;
        let (name, len, end) = match handler {
            Handler::PhpBinary => self.read_counted_name(start)?,
            _ => self.read_delimited_name(start)?,
        };
        self.check_length(len, start)?;
        let Some(frame) = self.frames.last_mut() else { return Ok(NO_KEY) };
        let may_have_id = frame.count < MAX_ENTRIES_WITH_IDS;
        frame.count += 1;
        let next = self.sink.tape().len();
        self.tokens.offset = end;
        if S::DETAIL {
            self.sink.record_span(start, end, next, "name");
            // PHP ignores the high bit, so the length is kept as spelling if it has the bit.
            let has_high_bit = handler == Handler::PhpBinary && self.tokens.input[start] > MAX_NAME_LEN as u8;
            self.key_source = has_high_bit.then_some((start, end));
        }
        Ok(self.place_key(&Key::Input(name, len), may_have_id, start))
    }

    /// Reads `name|`. Returns start and length of the name, and the offset of the value.
    fn read_delimited_name(&self, start: usize) -> Result<(usize, usize, usize), Error> {
        let rest = &self.tokens.input[start..];
        match rest.iter().position(|byte| *byte == b'|') {
            Some(bar) => Ok((start, bar, start + bar + 1)),
            None => {
                let error = Error::new(ErrorKind::Truncated).at(self.tokens.input.len());
                Err(error
                    .expecting("the name of a variable and `|`")
                    .finding(format!("the end of the input, {} bytes after the last value", rest.len())))
            }
        }
    }

    /// Reads a byte with the length, and the name. Returns the same as [`Self::read_delimited_name`].
    fn read_counted_name(&self, start: usize) -> Result<(usize, usize, usize), Error> {
        let len = usize::from(self.tokens.input[start]) & MAX_NAME_LEN;
        let end = start + 1 + len;
        if end > self.tokens.input.len() {
            return Err(Error::new(ErrorKind::Truncated)
                .at(self.tokens.input.len())
                .expecting(format!("a name of {len} bytes from offset {}", start + 1))
                .finding(format!("only {}", self.tokens.input.len() - start - 1)));
        }
        Ok((start + 1, len, end))
    }
}
