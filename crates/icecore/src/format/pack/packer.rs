//! The machine that runs a template over a list.

use super::budget::Budget;
use super::symbol::Count;
use super::template::{MISTAKE, Op, Program};
use super::{numbers, usage, utf8};
use crate::error::{Error, ErrorKind};
use crate::format::flat::{Item, Items};
use crate::limits::Limits;
use crate::output::LossKind;

pub(super) struct Packer<'p, 'd> {
    pub(super) program: &'p Program,
    pub(super) items: Items<'d>,
    pub(super) limits: &'p Limits,
    /// Whether texts are packed as their UTF-8 bytes.
    pub(super) encodes: bool,
    pub(super) out: &'p mut Vec<u8>,
    /// Start of the packed data.
    pub(super) base: usize,
    /// Whether the result is a string of characters, stored in UTF-8.
    pub(super) is_text: bool,
    frames: Vec<Frame>,
    /// A length for `/`, instead of items.
    length: Option<u64>,
    /// Limits for the length of the result, and for the work.
    pub(super) most: usize,
    budget: Budget,
}

/// How many bytes can be filled or copied for the cost of one step.
pub(super) const QUICK: usize = 16;

/// The whole template, or a group that is being run.
struct Frame {
    start: usize,
    end: usize,
    next: usize,
    left: u64,
    until_end: bool,
    /// Offset where it started, relative to the base.
    from: usize,
    /// Whether characters are written as characters, if the result is UTF-8.
    characters: bool,
    outer_characters: bool,
    was_text: bool,
    /// Length of the result, and number of items left, when it started.
    began: (usize, usize),
    /// The count that `/` gave for the next letter.
    count: Option<u64>,
    /// The value that a group left instead of the next letter's own `/`.
    slash: Option<bool>,
}

/// The arguments of a letter.
pub(super) struct Task<'o> {
    pub(super) op: &'o Op,
    pub(super) star: bool,
    pub(super) len: u64,
}

impl<'p, 'd> Packer<'p, 'd> {
    pub(super) fn new(
        program: &'p Program,
        items: Items<'d>,
        limits: &'p Limits,
        encodes: bool,
        room: u64,
        out: &'p mut Vec<u8>,
    ) -> Packer<'p, 'd> {
        let items_size = items.size();
        let most = limits.output_from(items_size.saturating_add(program.len)).min(limits.string).min(room);
        Packer {
            program,
            items,
            limits,
            encodes,
            base: out.len(),
            out,
            is_text: false,
            frames: Vec::new(),
            length: None,
            most: usize::try_from(most).unwrap_or(usize::MAX),
            budget: Budget::new(
                items_size.saturating_add(program.len),
                "a template that goes over its result a few times",
            ),
        }
    }

    pub(super) fn run(&mut self) -> Result<(), Error> {
        self.enter(0, self.program.top, 1, false, false);
        if self.program.ops.first().is_some_and(|op| op.letter == b'U') && self.program.top > 0 {
            self.is_text = true;
        }
        while let Some(frame) = self.frames.last() {
            crate::steps::count(1);
            if frame.next == frame.end {
                self.leave();
            } else {
                self.letter()?;
            }
        }
        if self.items.left() > 0 {
            let left = self.items.left() as u64;
            self.items.lose(LossKind::Surplus);
            self.items.losses.again(LossKind::Surplus, left - 1);
        }
        Ok(())
    }

    fn enter(&mut self, start: usize, end: usize, left: u64, until_end: bool, characters: bool) {
        self.frames.push(Frame {
            start,
            end,
            next: start,
            left,
            until_end,
            from: self.len(),
            characters,
            outer_characters: characters,
            was_text: self.is_text,
            began: (self.len(), self.items.left()),
            count: None,
            slash: None,
        });
    }

    /// Ends a group: runs it again, or returns to the outer one.
    fn leave(&mut self) {
        let (len, items, is_text) = (self.len(), self.items.left(), self.is_text);
        let Some(frame) = self.frames.last_mut() else { return };
        // After the conversion to text, bytes are characters.
        frame.outer_characters |= is_text != frame.was_text;
        frame.left = frame.left.saturating_sub(1);
        // If it used no item and added no byte, the same would happen again.
        let is_stuck = !is_text && frame.began == (len, items);
        if frame.left > 0 && !(frame.until_end && items == 0) && !is_stuck {
            frame.next = frame.start;
            frame.characters = frame.outer_characters;
            (frame.from, frame.began, frame.was_text) = (len, (len, items), is_text);
            (frame.count, frame.slash) = (None, None);
            return;
        }
        let characters = frame.outer_characters;
        self.frames.pop();
        if let Some(outer) = self.frames.last_mut() {
            outer.characters = characters;
            outer.slash = Some(false);
        }
    }

    fn letter(&mut self) -> Result<(), Error> {
        self.spend(1)?;
        let program = self.program;
        let items = self.items.left() as u64;
        let frame = self.frame();
        let op = &program.ops[frame.next];
        let following = (frame.next + 1 < frame.end).then(|| &program.ops[frame.next + 1]);
        let (said, slash) = (frame.count.take(), frame.slash.take().unwrap_or(op.slash));
        frame.next += 1;
        let star = said.is_none() && op.count == Count::Star;
        let len = match (said, op.count) {
            (Some(count), _) | (None, Count::Number(count)) => count,
            (None, Count::Star) if matches!(op.letter, b'@' | b'X' | b'x' | b'u') => 0,
            (None, Count::Star) => items,
            (None, _) => 1,
        };
        if op.letter == MISTAKE {
            return Err(program.mistake(op));
        }
        if slash {
            let Some(following) = following else {
                return Err(self.template_error(op, "a letter after `/`", "the end"));
            };
            if following.letter == MISTAKE {
                return Err(program.mistake(following));
            }
            let count = self.length_of(following)?;
            self.length = Some(count);
            self.frame().count = Some(count);
        }
        let task = Task { op, star, len };
        let done = self.pack(&task, slash);
        self.length = None;
        done
    }

    /// Returns the length before `/`: of the next item, or the number of remaining
    /// items.
    fn length_of(&mut self, op: &Op) -> Result<u64, Error> {
        let items = self.items.left() as u64;
        Ok(match (op.letter, op.count) {
            (b'a' | b'A' | b'Z', Count::Number(count)) => count,
            (b'a' | b'A' | b'Z', _) => {
                let len = match self.items.peek()? {
                    Some(item) => self.chars_of(&item)?.len() as u64,
                    None => 0,
                };
                len + u64::from(op.letter == b'Z')
            }
            (_, Count::Number(count)) => count.min(items),
            _ => items,
        })
    }

    fn pack(&mut self, task: &Task<'_>, slash: bool) -> Result<(), Error> {
        let op = task.op;
        match op.letter {
            b'(' if task.len == 0 => {
                self.frame().slash = Some(slash);
                Ok(())
            }
            b'(' => {
                let mut len = task.len;
                if let Some(fast) = op.fast.filter(|_| task.star) {
                    self.records(fast);
                    len = self.items.left() as u64;
                    if len == 0 {
                        self.frame().slash = Some(false);
                        return Ok(());
                    }
                }
                let characters = self.frame().characters;
                self.enter(op.body.0, op.body.1, len, task.star, characters);
                Ok(())
            }
            b'a' | b'A' | b'Z' => self.string(task),
            b'b' | b'B' | b'h' | b'H' => self.digits(task),
            b'u' => self.uuencode(task),
            b'C' if task.len == 0 => {
                let is_text = self.is_text;
                self.frame().characters = is_text;
                Ok(())
            }
            b'U' if task.len == 0 => {
                self.become_text()?;
                self.frame().characters = false;
                Ok(())
            }
            b'W' | b'U' => self.characters(task),
            b'w' => self.compressed(task.len),
            b'x' | b'X' | b'@' | b'.' => self.go(task),
            b'%' => Err(self.template_error(op, "no sum while packing", "`%`")),
            b'p' | b'P' => Err(super::pointer(op)),
            _ => self.numbers(task),
        }
    }

    #[cold]
    pub(super) fn template_error(&self, op: &Op, expected: &'static str, found: &'static str) -> Error {
        usage(format!("{expected} at position {} of the template", op.at)).finding(found)
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a frame, while a letter is at work")
    }

    /// Whether characters of a text are written, not its bytes.
    pub(super) fn has_characters(&self) -> bool {
        self.is_text && self.frames.last().is_some_and(|frame| frame.characters)
    }

    /// Returns the length of the result so far.
    pub(super) fn len(&self) -> usize {
        self.out.len() - self.base
    }

    pub(super) fn spend(&mut self, work: usize) -> Result<(), Error> {
        self.budget.spend(work)
    }

    /// Checks that this many more bytes are allowed.
    pub(super) fn room(&mut self, more: u64) -> Result<(), Error> {
        let most = self.most as u64;
        match (self.len() as u64).checked_add(more) {
            Some(len) if len <= most => Ok(()),
            _ => Err(Error::new(ErrorKind::Limit)
                .expecting(format!("at most {most} bytes from so few items"))
                .finding("a template that asks for more")
                .helping("raise the limits `growth`, `output` and `string` if the template is trusted")),
        }
    }

    /// Returns the next item and its node. After the last one, items are empty.
    pub(super) fn next(&mut self) -> Result<(Item<'d>, u32), Error> {
        if let Some(length) = self.length {
            let item = i64::try_from(length).map_or(Item::Uint(length), Item::Int);
            return Ok((item, self.items.place()));
        }
        let at = self.items.place();
        match self.items.take()? {
            Some(item) => {
                if matches!(item, Item::Null) {
                    self.items.lose_at(LossKind::Null, at);
                } else if matches!(item, Item::Bool(_)) {
                    self.items.lose_at(LossKind::Bool, at);
                }
                Ok((item, at))
            }
            None => {
                self.items.lose_at(LossKind::Missing, at);
                Ok((Item::Bytes(&[]), at))
            }
        }
    }

    /// Whether nodes may be taken directly from the list.
    pub(super) fn is_plain(&self) -> bool {
        self.length.is_none() && !self.has_characters()
    }

    /// Writes bytes, or characters below 256.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.has_characters() {
            utf8::push_bytes(bytes, self.out);
        } else {
            self.out.extend_from_slice(bytes);
        }
    }

    /// Converts the bytes written so far to characters.
    pub(super) fn become_text(&mut self) -> Result<(), Error> {
        if self.is_text {
            return Ok(());
        }
        self.is_text = true;
        if self.out[self.base..].is_ascii() {
            return Ok(());
        }
        self.spend(self.len() / QUICK)?;
        let old = self.out.split_off(self.base);
        let mut done = 0;
        // Groups start in ascending order.
        for frame in &mut self.frames {
            let from = frame.from.clamp(done, old.len());
            utf8::push_bytes(&old[done..from], self.out);
            done = from;
            frame.from = self.out.len() - self.base;
        }
        utf8::push_bytes(&old[done..], self.out);
        Ok(())
    }

    /// The same, before a character that is not a byte is written: from then on
    /// characters are written.
    pub(super) fn widen(&mut self) -> Result<(), Error> {
        self.become_text()?;
        self.frame().characters = true;
        Ok(())
    }

    // -- Going elsewhere --------------------------------------------------------

    fn go(&mut self, task: &Task<'_>) -> Result<(), Error> {
        let (shriek, characters) = (task.op.shriek, self.has_characters());
        match task.op.letter {
            b'@' => {
                let from = self.frame().from;
                self.resize(from, i64::try_from(task.len).unwrap_or(i64::MAX), characters && !shriek)
            }
            b'.' => {
                let from = match task.len {
                    _ if task.star => 0,
                    0 => self.len(),
                    len => self.start_of(len - 1),
                };
                let (item, at) = self.next()?;
                let place = self.integer(&item, at, b'.')? as i64;
                self.resize(from, place, characters && !shriek)
            }
            b'x' if shriek => match self.count(0, characters)? % task.len.max(1) {
                0 => Ok(()),
                over => self.zeros(task.len - over),
            },
            b'x' => self.zeros(task.len),
            _ => {
                let len = if shriek { self.count(0, characters)? % task.len.max(1) } else { task.len };
                self.shrink(len, characters)
            }
        }
    }

    /// Returns where the group starts that is this many levels further out.
    fn start_of(&self, groups: u64) -> usize {
        let back = usize::try_from(groups).unwrap_or(usize::MAX);
        let at = self.frames.len().checked_sub(1).and_then(|last| last.checked_sub(back));
        at.and_then(|at| self.frames.get(at)).map_or(0, |frame| frame.from)
    }

    /// Returns how many bytes or characters follow an offset.
    fn count(&mut self, from: usize, characters: bool) -> Result<u64, Error> {
        let bytes = self.out.get(self.base + from..).unwrap_or(&[]);
        if !characters {
            return Ok(bytes.len() as u64);
        }
        let count = utf8::count(bytes);
        self.spend(self.len() / QUICK)?;
        Ok(count)
    }

    /// Sets the length of the result, counted from an offset.
    fn resize(&mut self, from: usize, len: i64, characters: bool) -> Result<(), Error> {
        let more = len.max(0).unsigned_abs();
        if !characters {
            let there = i128::try_from(self.len()).unwrap_or(0) - i128::try_from(from).unwrap_or(0);
            return match u64::try_from(i128::from(len) - there) {
                Ok(more) => self.zeros(more),
                Err(_) => self.shrink(u64::try_from(there - i128::from(len)).unwrap_or(u64::MAX), false),
            };
        }
        let (mut end, mut left) = (from.min(self.len()), more);
        while let Some(byte) = self.out.get(self.base + end).filter(|_| left > 0) {
            end += utf8::skip(*byte);
            left -= 1;
        }
        self.spend(self.len() / QUICK)?;
        if end > self.len() {
            return Err(numbers::malformed().on_path("$"));
        }
        if left > 0 {
            return self.zeros(left);
        }
        self.shrink((self.len() - end) as u64, false)?;
        // Perl ignores the smallest integer.
        self.shrink(len.checked_neg().map_or(0, |back| back.max(0).unsigned_abs()), true)
    }

    pub(super) fn zeros(&mut self, len: u64) -> Result<(), Error> {
        self.fill(0, len)
    }

    pub(super) fn fill(&mut self, byte: u8, len: u64) -> Result<(), Error> {
        self.room(len)?;
        let len = usize::try_from(len).unwrap_or(0);
        self.spend(len / QUICK)?;
        let end = self.out.len() + len;
        self.out.resize(end, byte);
        Ok(())
    }

    /// Removes bytes or characters at the end.
    fn shrink(&mut self, len: u64, characters: bool) -> Result<(), Error> {
        let there = &self.out[self.base..];
        let mut end = there.len();
        if characters {
            for _ in 0..len {
                let start = there[..end].iter().rposition(|byte| !utf8::is_continuation(*byte));
                end = start.ok_or_else(before)?;
            }
        } else {
            end = usize::try_from(len).ok().and_then(|len| end.checked_sub(len)).ok_or_else(before)?;
        }
        self.spend(if characters { there.len() - end } else { 0 })?;
        self.out.truncate(self.base + end);
        // Groups that start after the end now start at the end.
        for frame in self.frames.iter_mut().rev().take_while(|frame| frame.from > end) {
            frame.from = end;
        }
        Ok(())
    }
}

#[cold]
fn before() -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .on_path("$")
        .expecting("a place in the result, as the template says")
        .finding("one before its start")
}
