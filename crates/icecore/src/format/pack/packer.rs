//! The machine that runs a template over a list.

use super::budget::Budget;
use super::symbol::Count;
use super::template::{ERROR_LETTER, Op, Program};
use super::{numbers, usage_error, utf8};
use crate::error::{Error, ErrorKind};
use crate::format::flat::{Item, Items};
use crate::limits::Limits;
use crate::output::LossKind;

pub(super) struct Packer<'p, 'd> {
    pub(super) program: &'p Program,
    pub(super) items: Items<'d>,
    pub(super) limits: &'p Limits,
    /// Whether texts are packed as their UTF-8 bytes.
    pub(super) encodes_text: bool,
    pub(super) out: &'p mut Vec<u8>,
    /// Start of the packed data.
    pub(super) data_start: usize,
    /// Whether the result is a string of characters, stored in UTF-8.
    pub(super) is_text: bool,
    frames: Vec<PackFrame>,
    /// A length for the letter before `/`. If it is set, it is packed in the place of the next item.
    pending_length: Option<u64>,
    /// Limits for the length of the result, and for the work.
    pub(super) size_limit: usize,
    budget: Budget,
}

/// Number of bytes that count as one step of work when they are filled or copied.
pub(super) const BYTES_PER_STEP: usize = 16;

/// The whole template, or a group that is being run.
struct PackFrame {
    /// Its operations, and the next one.
    start: usize,
    end: usize,
    next: usize,
    /// How many times it is still run, including this time.
    remaining: u64,
    /// Whether it is run until there are no more items.
    repeats_until_end: bool,
    /// Offset where it started, relative to the base.
    start_position: usize,
    /// Whether characters are written as characters, if the result is UTF-8.
    writes_characters: bool,
    /// Whether the outer group did when this one started.
    outer_writes_characters: bool,
    /// Whether the result was text when it started.
    was_text: bool,
    /// Length of the result, and number of items left, when it started.
    initial_counts: (usize, usize),
    /// The count that `/` gave for the next letter.
    count: Option<u64>,
    /// Whether the next letter is treated as one with `/`. A group may leave this value, and it replaces the letter's
    /// own.
    slash_override: Option<bool>,
}

/// The arguments of a letter.
pub(super) struct PackTask<'o> {
    pub(super) op: &'o Op,
    pub(super) is_star: bool,
    pub(super) len: u64,
}

impl<'p, 'd> Packer<'p, 'd> {
    pub(super) fn new(
        program: &'p Program,
        items: Items<'d>,
        limits: &'p Limits,
        encodes_text: bool,
        available: u64,
        out: &'p mut Vec<u8>,
    ) -> Packer<'p, 'd> {
        let items_size = items.document_size();
        let limit = limits.output_from(items_size.saturating_add(program.len)).min(limits.string).min(available);
        Packer {
            program,
            items,
            limits,
            encodes_text,
            data_start: out.len(),
            out,
            is_text: false,
            frames: Vec::new(),
            pending_length: None,
            size_limit: usize::try_from(limit).unwrap_or(usize::MAX),
            budget: Budget::new(
                items_size.saturating_add(program.len),
                "a template that goes over its result a few times",
            ),
        }
    }

    pub(super) fn run_template(&mut self) -> Result<(), Error> {
        self.enter_group(0, self.program.top, 1, false, false);
        if self.program.ops.first().is_some_and(|op| op.letter == b'U') && self.program.top > 0 {
            self.is_text = true;
        }
        while let Some(frame) = self.frames.last() {
            crate::steps::count(1);
            if frame.next == frame.end {
                self.leave_group();
            } else {
                self.run_letter()?;
            }
        }
        if self.items.remaining_items() > 0 {
            let remaining = self.items.remaining_items() as u64;
            self.items.record_loss(LossKind::Surplus);
            self.items.losses.add_occurrences(LossKind::Surplus, remaining - 1);
        }
        Ok(())
    }

    fn enter_group(&mut self, start: usize, end: usize, remaining: u64, repeats_until_end: bool, in_characters: bool) {
        self.frames.push(PackFrame {
            start,
            end,
            next: start,
            remaining,
            repeats_until_end,
            start_position: self.len(),
            writes_characters: in_characters,
            outer_writes_characters: in_characters,
            was_text: self.is_text,
            initial_counts: (self.len(), self.items.remaining_items()),
            count: None,
            slash_override: None,
        });
    }

    /// Ends a group: runs it again, or returns to the outer one.
    fn leave_group(&mut self) {
        let (len, remaining_items, is_text) = (self.len(), self.items.remaining_items(), self.is_text);
        let Some(frame) = self.frames.last_mut() else { return };
        // If the result became text inside of the group, the outer group also writes characters after it.
        frame.outer_writes_characters |= is_text != frame.was_text;
        frame.remaining = frame.remaining.saturating_sub(1);
        // The group did not use an item and did not add a byte, so it would do the same forever.
        let has_no_effect = !is_text && frame.initial_counts == (len, remaining_items);
        if frame.remaining > 0 && !(frame.repeats_until_end && remaining_items == 0) && !has_no_effect {
            frame.next = frame.start;
            frame.writes_characters = frame.outer_writes_characters;
            (frame.start_position, frame.initial_counts, frame.was_text) = (len, (len, remaining_items), is_text);
            (frame.count, frame.slash_override) = (None, None);
            return;
        }
        let in_characters = frame.outer_writes_characters;
        self.frames.pop();
        if let Some(outer) = self.frames.last_mut() {
            outer.writes_characters = in_characters;
            outer.slash_override = Some(false);
        }
    }

    fn run_letter(&mut self) -> Result<(), Error> {
        self.spend_work(1)?;
        let program = self.program;
        let items = self.items.remaining_items() as u64;
        let frame = self.current_frame();
        let op = &program.ops[frame.next];
        let following = (frame.next + 1 < frame.end).then(|| &program.ops[frame.next + 1]);
        let (given_count, is_before_slash) =
            (frame.count.take(), frame.slash_override.take().unwrap_or(op.is_before_slash));
        frame.next += 1;
        let is_star = given_count.is_none() && op.count == Count::Star;
        let len = match (given_count, op.count) {
            (Some(count), _) | (None, Count::Number(count)) => count,
            (None, Count::Star) if matches!(op.letter, b'@' | b'X' | b'x' | b'u') => 0,
            (None, Count::Star) => items,
            (None, _) => 1,
        };
        if op.letter == ERROR_LETTER {
            return Err(program.mistake_error(op));
        }
        if is_before_slash {
            let Some(following) = following else {
                return Err(self.template_error(op, "a letter after `/`", "the end"));
            };
            if following.letter == ERROR_LETTER {
                return Err(program.mistake_error(following));
            }
            let count = self.slash_length(following)?;
            self.pending_length = Some(count);
            self.current_frame().count = Some(count);
        }
        let task = PackTask { op, is_star, len };
        let result = self.pack_letter(&task, is_before_slash);
        self.pending_length = None;
        result
    }

    /// Returns the length that is written before `/`: the length of the next item, or the number of remaining items.
    fn slash_length(&mut self, op: &Op) -> Result<u64, Error> {
        let items = self.items.remaining_items() as u64;
        Ok(match (op.letter, op.count) {
            (b'a' | b'A' | b'Z', Count::Number(count)) => count,
            (b'a' | b'A' | b'Z', _) => {
                let len = match self.items.peek()? {
                    Some(item) => self.decode_chars(&item)?.len() as u64,
                    None => 0,
                };
                len + u64::from(op.letter == b'Z')
            }
            (_, Count::Number(count)) => count.min(items),
            _ => items,
        })
    }

    fn pack_letter(&mut self, task: &PackTask<'_>, is_before_slash: bool) -> Result<(), Error> {
        let op = task.op;
        match op.letter {
            b'(' if task.len == 0 => {
                self.current_frame().slash_override = Some(is_before_slash);
                Ok(())
            }
            b'(' => {
                let mut len = task.len;
                if let Some(fast) = op.fast.filter(|_| task.is_star) {
                    self.pack_records(fast);
                    len = self.items.remaining_items() as u64;
                    if len == 0 {
                        self.current_frame().slash_override = Some(false);
                        return Ok(());
                    }
                }
                let in_characters = self.current_frame().writes_characters;
                self.enter_group(op.body.0, op.body.1, len, task.is_star, in_characters);
                Ok(())
            }
            b'a' | b'A' | b'Z' => self.pack_string(task),
            b'b' | b'B' | b'h' | b'H' => self.pack_digits(task),
            b'u' => self.pack_uuencoded(task),
            b'C' if task.len == 0 => {
                let is_text = self.is_text;
                self.current_frame().writes_characters = is_text;
                Ok(())
            }
            b'U' if task.len == 0 => {
                self.convert_to_text()?;
                self.current_frame().writes_characters = false;
                Ok(())
            }
            b'W' | b'U' => self.pack_characters(task),
            b'w' => self.pack_compressed(task.len),
            b'x' | b'X' | b'@' | b'.' => self.move_position(task),
            b'%' => Err(self.template_error(op, "no sum while packing", "`%`")),
            b'p' | b'P' => Err(super::pointer_error(op)),
            _ => self.pack_numbers(task),
        }
    }

    #[cold]
    pub(super) fn template_error(&self, op: &Op, expected: &'static str, found: &'static str) -> Error {
        usage_error(format!("{expected} at position {} of the template", op.offset)).finding(found)
    }

    fn current_frame(&mut self) -> &mut PackFrame {
        self.frames.last_mut().expect("a frame, while a letter is at work")
    }

    /// Returns `true` if characters of a text are written, not its bytes.
    pub(super) fn has_characters(&self) -> bool {
        self.is_text && self.frames.last().is_some_and(|frame| frame.writes_characters)
    }

    /// Returns the length of the result so far.
    pub(super) fn len(&self) -> usize {
        self.out.len() - self.data_start
    }

    pub(super) fn spend_work(&mut self, work: usize) -> Result<(), Error> {
        self.budget.spend(work)
    }

    /// Checks that this many more bytes are allowed.
    pub(super) fn check_output_size(&mut self, additional: u64) -> Result<(), Error> {
        let max_size = self.size_limit as u64;
        match (self.len() as u64).checked_add(additional) {
            Some(len) if len <= max_size => Ok(()),
            _ => Err(Error::new(ErrorKind::Limit)
                .expecting(format!("at most {max_size} bytes from so few items"))
                .finding("a template that asks for more")
                .helping("raise the limits `growth`, `output` and `string` if the template is trusted")),
        }
    }

    /// Returns the next item and its node. After the last one, items are empty.
    pub(super) fn next_item(&mut self) -> Result<(Item<'d>, u32), Error> {
        if let Some(length) = self.pending_length {
            let item = i64::try_from(length).map_or(Item::Uint(length), Item::Int);
            return Ok((item, self.items.next_index()));
        }
        let node = self.items.next_index();
        match self.items.take()? {
            Some(item) => {
                if matches!(item, Item::Null) {
                    self.items.record_loss_at(LossKind::Null, node);
                } else if matches!(item, Item::Bool(_)) {
                    self.items.record_loss_at(LossKind::Bool, node);
                }
                Ok((item, node))
            }
            None => {
                self.items.record_loss_at(LossKind::Missing, node);
                Ok((Item::Bytes(&[]), node))
            }
        }
    }

    /// Returns `true` if nodes may be taken directly from the list.
    pub(super) fn takes_plain_nodes(&self) -> bool {
        self.pending_length.is_none() && !self.has_characters()
    }

    /// Writes bytes, or characters below 256.
    pub(super) fn write_bytes(&mut self, bytes: &[u8]) {
        if self.has_characters() {
            utf8::push_latin1_bytes(bytes, self.out);
        } else {
            self.out.extend_from_slice(bytes);
        }
    }

    /// Converts the bytes written so far to characters.
    pub(super) fn convert_to_text(&mut self) -> Result<(), Error> {
        if self.is_text {
            return Ok(());
        }
        self.is_text = true;
        if self.out[self.data_start..].is_ascii() {
            return Ok(());
        }
        self.spend_work(self.len() / BYTES_PER_STEP)?;
        let old = self.out.split_off(self.data_start);
        let mut converted_len = 0;
        // The frames are in the order in which their groups started, so one pass over the bytes finds all positions.
        for frame in &mut self.frames {
            let start_position = frame.start_position.clamp(converted_len, old.len());
            utf8::push_latin1_bytes(&old[converted_len..start_position], self.out);
            converted_len = start_position;
            frame.start_position = self.out.len() - self.data_start;
        }
        utf8::push_latin1_bytes(&old[converted_len..], self.out);
        Ok(())
    }

    /// Like [`Packer::convert_to_text`], before a character above 0xFF is written. After this, characters are
    /// written.
    pub(super) fn widen(&mut self) -> Result<(), Error> {
        self.convert_to_text()?;
        self.current_frame().writes_characters = true;
        Ok(())
    }

    // -- Positions --------------------------------------------------------------

    fn move_position(&mut self, task: &PackTask<'_>) -> Result<(), Error> {
        let (has_exclamation_mark, in_characters) = (task.op.has_exclamation_mark, self.has_characters());
        match task.op.letter {
            b'@' => {
                let start_position = self.current_frame().start_position;
                self.resize_output(
                    start_position,
                    i64::try_from(task.len).unwrap_or(i64::MAX),
                    in_characters && !has_exclamation_mark,
                )
            }
            b'.' => {
                let start_position = match task.len {
                    _ if task.is_star => 0,
                    0 => self.len(),
                    len => self.group_start(len - 1),
                };
                let (item, node) = self.next_item()?;
                let position = self.item_to_integer(&item, node, b'.')? as i64;
                self.resize_output(start_position, position, in_characters && !has_exclamation_mark)
            }
            b'x' if has_exclamation_mark => match self.count_units(0, in_characters)? % task.len.max(1) {
                0 => Ok(()),
                excess => self.write_zeros(task.len - excess),
            },
            b'x' => self.write_zeros(task.len),
            _ => {
                let len =
                    if has_exclamation_mark { self.count_units(0, in_characters)? % task.len.max(1) } else { task.len };
                self.shrink_output(len, in_characters)
            }
        }
    }

    /// Returns where the group starts that is this many levels further out.
    fn group_start(&self, groups: u64) -> usize {
        let back = usize::try_from(groups).unwrap_or(usize::MAX);
        let index = self.frames.len().checked_sub(1).and_then(|last| last.checked_sub(back));
        index.and_then(|index| self.frames.get(index)).map_or(0, |frame| frame.start_position)
    }

    /// Returns how many bytes or characters follow an offset.
    fn count_units(&mut self, start_position: usize, in_characters: bool) -> Result<u64, Error> {
        let bytes = self.out.get(self.data_start + start_position..).unwrap_or(&[]);
        if !in_characters {
            return Ok(bytes.len() as u64);
        }
        let count = utf8::count_characters(bytes);
        self.spend_work(self.len() / BYTES_PER_STEP)?;
        Ok(count)
    }

    /// Sets the length of the result, counted from an offset.
    fn resize_output(&mut self, start_position: usize, len: i64, in_characters: bool) -> Result<(), Error> {
        let wanted_len = len.max(0).unsigned_abs();
        if !in_characters {
            let current_len = i128::try_from(self.len()).unwrap_or(0) - i128::try_from(start_position).unwrap_or(0);
            return match u64::try_from(i128::from(len) - current_len) {
                Ok(missing_len) => self.write_zeros(missing_len),
                Err(_) => self.shrink_output(u64::try_from(current_len - i128::from(len)).unwrap_or(u64::MAX), false),
            };
        }
        let (mut end, mut remaining) = (start_position.min(self.len()), wanted_len);
        while let Some(byte) = self.out.get(self.data_start + end).filter(|_| remaining > 0) {
            end += utf8::len_from_first_byte(*byte);
            remaining -= 1;
        }
        self.spend_work(self.len() / BYTES_PER_STEP)?;
        if end > self.len() {
            return Err(numbers::malformed_error().on_path("$"));
        }
        if remaining > 0 {
            return self.write_zeros(remaining);
        }
        self.shrink_output((self.len() - end) as u64, false)?;
        // The smallest integer does not have a positive counterpart, and perl ignores it.
        self.shrink_output(len.checked_neg().map_or(0, |back| back.max(0).unsigned_abs()), true)
    }

    pub(super) fn write_zeros(&mut self, len: u64) -> Result<(), Error> {
        self.write_fill(0, len)
    }

    pub(super) fn write_fill(&mut self, byte: u8, len: u64) -> Result<(), Error> {
        self.check_output_size(len)?;
        let len = usize::try_from(len).unwrap_or(0);
        self.spend_work(len / BYTES_PER_STEP)?;
        let end = self.out.len() + len;
        self.out.resize(end, byte);
        Ok(())
    }

    /// Removes bytes or characters at the end.
    fn shrink_output(&mut self, len: u64, in_characters: bool) -> Result<(), Error> {
        let output = &self.out[self.data_start..];
        let mut end = output.len();
        if in_characters {
            for _ in 0..len {
                let start = output[..end].iter().rposition(|byte| !utf8::is_continuation(*byte));
                end = start.ok_or_else(before_start_error)?;
            }
        } else {
            end = usize::try_from(len).ok().and_then(|len| end.checked_sub(len)).ok_or_else(before_start_error)?;
        }
        self.spend_work(if in_characters { output.len() - end } else { 0 })?;
        self.out.truncate(self.data_start + end);
        // The bytes at which these groups started were removed, so the groups now start at the end.
        for frame in self.frames.iter_mut().rev().take_while(|frame| frame.start_position > end) {
            frame.start_position = end;
        }
        Ok(())
    }
}

#[cold]
fn before_start_error() -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .on_path("$")
        .expecting("a place in the result, as the template says")
        .finding("one before its start")
}
