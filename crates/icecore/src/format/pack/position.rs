//! `x`, `X`, `@` and `.`: operations on the position.

use super::read::{UnpackTask, Unpacker};
use super::utf8;
use crate::document::{Node, Sink};
use crate::error::{Error, ErrorKind};

impl<S: Sink> Unpacker<'_, S> {
    pub(super) fn move_position(&mut self, task: &UnpackTask<'_>) -> Result<(), Error> {
        let has_exclamation_mark = task.op.has_exclamation_mark;
        let in_characters = self.current_frame().counts_characters;
        match task.op.letter {
            b'.' => self.read_position(task, in_characters && !has_exclamation_mark),
            b'@' => {
                self.position = self.current_frame().start_position;
                self.move_forward(task.len, in_characters && !has_exclamation_mark)
            }
            b'x' if has_exclamation_mark => {
                let unit = task.len.max(1);
                match self.count_units(0, self.position, in_characters)? % unit {
                    0 => Ok(()),
                    excess => self.move_forward(unit - excess, in_characters),
                }
            }
            b'x' => self.move_forward(task.len, in_characters),
            _ if has_exclamation_mark => {
                let excess = self.count_units(0, self.position, in_characters)? % task.len.max(1);
                self.move_back(excess, in_characters)
            }
            _ => self.move_back(task.len, in_characters),
        }
    }

    /// Returns how many bytes or characters are between two offsets.
    fn count_units(&mut self, start: usize, end: usize, in_characters: bool) -> Result<u64, Error> {
        if !in_characters {
            return Ok((end - start) as u64);
        }
        self.spend_work(end - start)?;
        Ok(utf8::count_characters(&self.data[start..end]))
    }

    fn outside_error(&self) -> Error {
        Error::new(ErrorKind::Truncated)
            .expecting("a place in the input, as the template says")
            .finding(format!("one beyond its {} bytes", self.data.len()))
    }

    fn move_forward(&mut self, len: u64, in_characters: bool) -> Result<(), Error> {
        if !in_characters {
            let len = usize::try_from(len)
                .ok()
                .filter(|len| *len <= self.bytes_left())
                .ok_or_else(|| self.outside_error())?;
            self.position += len;
            return Ok(());
        }
        let start = self.position;
        for _ in 0..len {
            let Some(byte) = self.data.get(self.position) else {
                self.position = start;
                return Err(self.outside_error());
            };
            self.position = (self.position + utf8::len_from_first_byte(*byte)).min(self.data.len());
        }
        self.spend_work(self.position - start)
    }

    fn move_back(&mut self, len: u64, in_characters: bool) -> Result<(), Error> {
        let before_start_error = || {
            Error::new(ErrorKind::Malformed)
                .expecting("a place in the input, as the template says")
                .finding("one before its start")
        };
        if !in_characters {
            let target = usize::try_from(len).ok().and_then(|len| self.position.checked_sub(len));
            self.position = target.ok_or_else(before_start_error)?;
            return Ok(());
        }
        let start = self.position;
        for _ in 0..len {
            let preceding = &self.data[..self.position];
            let Some(target) = preceding.iter().rposition(|byte| !utf8::is_continuation(*byte)) else {
                return Err(before_start_error());
            };
            self.position = target;
        }
        self.spend_work(start - self.position)
    }

    /// Reads `.`: the position, relative to the start of a group.
    fn read_position(&mut self, task: &UnpackTask<'_>, in_characters: bool) -> Result<(), Error> {
        let start_position = match task.len {
            _ if task.is_star => 0,
            0 => self.position,
            len => self.outer_frame(len - 1).map_or(0, |frame| frame.start_position),
        };
        let node = if start_position <= self.position {
            Node::uint(self.count_units(start_position, self.position, in_characters)?)
        } else {
            Node::int(-(self.count_units(self.position, start_position, in_characters)? as i64))
        };
        self.push_value(node)
    }
}
