//! The quick loop over entries. The careful way takes what it leaves, one at a time.

use super::super::tag;
use super::{EVERY, int};
use crate::format::skim::ahead;

/// The longest string that it passes over.
const LONG: u32 = 1 << 28;

/// What the quick loop knows and moves on.
pub(super) struct Run<'s> {
    pub(super) left: &'s mut Vec<u64>,
    pub(super) places: &'s mut Vec<u64>,
    pub(super) strings: u64,
    pub(super) numbers: u64,
}

/// What a token is for the quick loop, and how long it is.
enum Token {
    Leaf(usize),
    /// A string that is written out.
    Text(usize),
    /// A number of a string.
    Again(usize, u32),
    Array(usize, u32),
    Other,
}

impl Token {
    #[inline(always)]
    fn of(head: &[u8; 9]) -> Token {
        let [tag, a, b, c, d, ..] = *head;
        let wide = |width: u8| match width {
            0 => u32::from(a),
            1 => u32::from(u16::from_be_bytes([a, b])),
            _ => u32::from_be_bytes([a, b, c, d]),
        };
        match tag {
            tag::NULL | tag::FALSE | tag::TRUE | tag::EMPTY => Token::Leaf(1),
            0x06 | 0x07 => Token::Leaf(2),
            0x08 | 0x09 => Token::Leaf(3),
            0x0a | 0x0b => Token::Leaf(5),
            tag::FLOAT | tag::INT64 | tag::INT64_NEGATIVE => Token::Leaf(9),
            0x0e => Token::Again(2, wide(0)),
            0x0f => Token::Again(3, wide(1)),
            0x10 => Token::Again(5, wide(2)),
            0x11 => Token::Text(2 + wide(0) as usize),
            0x12 => Token::Text(3 + wide(1) as usize),
            0x13 if wide(2) <= LONG => Token::Text(5 + wide(2) as usize),
            0x14 => Token::Array(2, wide(0)),
            0x15 => Token::Array(3, wide(1)),
            0x16 => Token::Array(5, wide(2)),
            _ => Token::Other,
        }
    }
}

impl Run<'_> {
    /// Goes over entries until only so many containers are open, or in front of an entry that
    /// has something rare or is not whole in view; only the bytes of a string may end behind
    /// it. Stops behind the key of an entry of the outermost container that has the integer
    /// that is sought.
    pub(super) fn over(&mut self, bytes: &[u8], base: u64, floor: usize, sought: Option<i64>) -> (usize, bool) {
        if self.left.len() <= floor {
            return (0, false);
        }
        let mut top = self.left.pop().unwrap_or(0);
        let (mut at, mut is_found) = (0, false);
        loop {
            if top == 0 {
                if self.left.len() == floor {
                    return (at, false);
                }
                top = self.left.pop().unwrap_or(0);
                continue;
            }
            let Some(head) = ahead::<9>(bytes, at) else { break };
            let mut behind = at;
            let mut texts = 0;
            match Token::of(head) {
                // An array's keys are integers and strings, and no value is left out.
                Token::Leaf(len) if head[0] > tag::TRUE && head[0] != tag::FLOAT => {
                    if sought.is_some() && self.left.is_empty() && int(head) == sought {
                        (at, top, is_found) = (at + len, top - 1, true);
                        break;
                    }
                    behind += len;
                }
                Token::Text(len) => {
                    texts = 1;
                    behind += len;
                }
                Token::Again(len, number) if u64::from(number) < self.strings => behind += len,
                _ => break,
            }
            let Some(head) = ahead::<9>(bytes, behind) else { break };
            let value = behind;
            let mut array = None;
            match Token::of(head) {
                Token::Leaf(len) => behind += len,
                Token::Text(len) => {
                    behind += len;
                    if texts == 1 {
                        self.string(base + at as u64);
                    }
                    self.string(base + value as u64);
                    texts = 0;
                }
                Token::Again(len, number) if u64::from(number) < self.strings + texts => behind += len,
                Token::Array(len, count) => {
                    behind += len;
                    array = Some(count);
                }
                _ => break,
            }
            if texts == 1 {
                self.string(base + at as u64);
            }
            top -= 1;
            at = behind;
            if let Some(count) = array {
                self.numbers += 1;
                self.left.push(top);
                top = u64::from(count);
            }
        }
        self.left.push(top);
        (at, is_found)
    }

    /// A string that is written out gets its number.
    #[inline(always)]
    fn string(&mut self, at: u64) {
        if self.strings.is_multiple_of(EVERY) && self.places.len() as u64 == self.strings / EVERY {
            self.places.push(at);
        }
        self.strings += 1;
    }
}
