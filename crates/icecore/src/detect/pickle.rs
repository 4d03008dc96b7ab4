//! Detects Python's pickle by a walk over its opcodes. It does not run them.

use super::Sample;
use super::walk::{ByteWalk, Rejection, WalkResult, is_integer, is_number};
use crate::format::{Certainty, Guess};

pub(super) fn detect_pickle(sample: &Sample<'_>) -> Option<Guess> {
    let declared = match sample.bytes {
        [0x80, protocol @ 2..=5, ..] => Some(*protocol),
        [b'(' | b']' | b'}' | b')' | b'c' | b'I' | b'F' | b'L' | b'S' | b'V' | b'N', ..] => None,
        [b'K' | b'M' | b'J' | b'G' | b'U' | b'T' | b'X', ..] => None,
        _ => return None,
    };
    let mut run = PickleWalk::new(sample.bytes);
    let mut count = 0u64;
    let end = loop {
        match run.walk_pickle() {
            Ok(()) => count += 1,
            stop => break stop,
        }
        if run.walk.is_at_end() {
            break Ok(());
        }
    };
    let certainty = match (end, declared) {
        (Ok(()), Some(_)) => Certainty::Sure,
        (Ok(()), None) if run.opcodes >= 6 => Certainty::Likely,
        (Ok(()), None) if run.opcodes >= 3 => Certainty::Possible,
        (Err(Rejection::End), Some(_)) if run.opcodes >= 4 => Certainty::Likely,
        (Err(Rejection::End), None) if !sample.is_complete && run.opcodes >= 1000 => Certainty::Likely,
        _ => return None,
    };
    let protocol = declared.unwrap_or(u8::from(run.binary));
    let mut variant = format!("protocol {protocol}");
    if count > 1 {
        variant.push_str(&format!(", {count} pickles"));
    }
    Some(Guess { certainty, variant })
}

struct PickleWalk<'a> {
    walk: ByteWalk<'a>,
    /// Number of values on the stack of the pickle machine.
    depth: usize,
    /// Depths of the marks on the stack.
    marks: Vec<usize>,
    opcodes: u64,
    /// Whether an opcode occurred that protocol 0 does not have.
    binary: bool,
}

impl<'a> PickleWalk<'a> {
    fn new(input: &'a [u8]) -> PickleWalk<'a> {
        PickleWalk { walk: ByteWalk::new(input), depth: 0, marks: Vec::new(), opcodes: 0, binary: false }
    }

    /// Pops values from the stack and pushes others.
    fn pop_and_push(&mut self, off: usize, on: usize) -> WalkResult<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let remaining = self.depth.checked_sub(off).filter(|remaining| *remaining >= floor).ok_or(Rejection::Wrong)?;
        self.depth = remaining + on;
        Ok(())
    }

    /// Pops everything down to the mark. At least `below` values must be under the mark.
    fn pop_to_mark(&mut self, below: usize, on: usize) -> WalkResult<()> {
        self.depth = self.marks.pop().ok_or(Rejection::Wrong)?;
        self.pop_and_push(below, below + on)
    }

    fn read_line(&mut self, is_right: impl Fn(&[u8]) -> bool) -> WalkResult<()> {
        let line = self.walk.read_until(b'\n')?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if is_right(line) { Ok(()) } else { Err(Rejection::Wrong) }
    }

    fn skip_bytes(&mut self, len: u64) -> WalkResult<()> {
        self.walk.read_bytes(len).map(drop)
    }

    /// Skips bytes that follow their length.
    fn skip_sized(&mut self, size: u64) -> WalkResult<()> {
        let len = self.walk.read_uint_le(size)?;
        self.skip_bytes(len)
    }

    /// Walks over one pickle, up to its end.
    fn walk_pickle(&mut self) -> WalkResult<()> {
        self.depth = 0;
        self.marks.clear();
        loop {
            let opcode = self.walk.read_u8()?;
            if opcode == b'.' {
                return if self.depth == 1 && self.marks.is_empty() { Ok(()) } else { Err(Rejection::Wrong) };
            }
            self.opcodes += 1;
            self.skip_argument(opcode)?;
            self.apply_effect(opcode)?;
        }
    }

    /// Skips the argument of the opcode.
    fn skip_argument(&mut self, opcode: u8) -> WalkResult<()> {
        let is_name = |line: &[u8]| {
            !line.is_empty() && line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._<>".contains(byte))
        };
        self.binary |= !b"(.012FILNPRSVabcdgilpst".contains(&opcode);
        match opcode {
            b'I' | b'p' | b'g' => self.read_line(is_integer),
            b'L' => self.read_line(|line| is_integer(line.strip_suffix(b"L").unwrap_or(line))),
            b'F' => self.read_line(is_number),
            b'S' => self.read_line(|line| {
                matches!(line, [first @ (b'\'' | b'"'), .., last] if first == last) && line.len() >= 2
            }),
            b'V' | b'P' => self.read_line(|_| true),
            b'c' | b'i' => {
                self.read_line(is_name)?;
                self.read_line(is_name)
            }
            b'K' | b'h' | b'q' | 0x80 | 0x82 => self.skip_bytes(1),
            b'M' | 0x83 => self.skip_bytes(2),
            b'J' | b'j' | b'r' | 0x84 => self.skip_bytes(4),
            b'G' | 0x95 => self.skip_bytes(8),
            b'U' | b'C' | 0x8a | 0x8c => self.skip_sized(1),
            b'T' | b'X' | b'B' | 0x8b => self.skip_sized(4),
            0x8d | 0x8e | 0x96 => self.skip_sized(8),
            _ => Ok(()),
        }
    }

    /// Applies the effect of the opcode on the stack.
    fn apply_effect(&mut self, opcode: u8) -> WalkResult<()> {
        match opcode {
            b'(' => {
                self.marks.push(self.depth);
                Ok(())
            }
            b'F'
            | b'I'
            | b'J'
            | b'K'
            | b'L'
            | b'M'
            | b'N'
            | b'P'
            | b'S'
            | b'T'
            | b'U'
            | b'V'
            | b'X'
            | b'G'
            | b'B'
            | b'C'
            | b'}'
            | b']'
            | b')'
            | b'g'
            | b'h'
            | b'j'
            | b'c'
            | 0x82..=0x84
            | 0x88..=0x8f
            | 0x96
            | 0x97 => self.pop_and_push(0, 1),
            b'd' | b'l' | b't' | b'o' | b'i' | 0x91 => self.pop_to_mark(0, 1),
            b'e' | b'u' | 0x90 => self.pop_to_mark(1, 0),
            b'1' => self.pop_to_mark(0, 0),
            b'0' if self.marks.last() == Some(&self.depth) => self.pop_to_mark(0, 0),
            b'0' => self.pop_and_push(1, 0),
            b'2' => self.pop_and_push(1, 2),
            b'Q' | 0x85 | 0x98 => self.pop_and_push(1, 1),
            b'R' | b'a' | b'b' | 0x81 | 0x86 | 0x93 => self.pop_and_push(2, 1),
            b's' | 0x87 | 0x92 => self.pop_and_push(3, 1),
            b'p' | b'q' | b'r' | 0x94 => self.pop_and_push(1, 1),
            0x80 | 0x95 => Ok(()),
            _ => Err(Rejection::Wrong),
        }
    }
}
