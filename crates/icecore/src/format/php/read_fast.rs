//! A fast loop for common data: leaves, lists, maps and objects, whose keys and classes
//! were seen before.
//!
//! It stops in front of anything else and consumes nothing of it: the machine in
//! [`super::read`] continues there. A reader with detail does not use it, so tests compare
//! both.

use super::read::{Frame, Machine};
use crate::document::{IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, Sink, Tape};
use crate::error::Error;

/// How many entries are read before the machine checks limits again.
const BATCH: u32 = 4096;
/// How many digits an integer may have here: 18 are below 2^63, so nothing overflows.
const DIGITS: usize = 18;
/// Digits of which every integer is a `f64`, and powers of ten that are.
const EXACT_DIGITS: usize = 15;
const POWERS: [f64; 16] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// What stopped the loop.
enum Stop {
    /// Something that the machine must look at; nothing of it was consumed.
    Here,
    /// The same, behind the key of an entry.
    Value(u16),
}

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads common content from the innermost container on. Returns whether there was any.
    #[inline]
    pub(super) fn entries(&mut self) -> Result<bool, Error> {
        let (start, nodes) = (self.tokens.at, self.sink.nodes().len());
        let stop = self.content();
        if let Stop::Value(key) = stop {
            self.value(key)?;
            return Ok(true);
        }
        Ok(self.tokens.at > start || self.sink.nodes().len() > nodes)
    }

    fn content(&mut self) -> Stop {
        let Some(mut frame) = self.frames.pop() else { return Stop::Here };
        let mut left = BATCH;
        let stop = loop {
            if frame.left == 0 {
                let is_inner = self.frames.last().is_some_and(|parent| !parent.is_payload);
                if !is_inner || self.tokens.input.get(self.tokens.at) != Some(&b'}') {
                    break Stop::Here;
                }
                self.tokens.at += 1;
                let tape = self.sink.tape();
                tape.close(frame.at, frame.count);
                if frame.is_object {
                    tape.close(frame.at - 1, 1);
                }
                let Some(parent) = self.frames.pop() else { break Stop::Here };
                frame = parent;
                // What is complete in the root may be taken away.
                if S::PARTS && self.frames.is_empty() {
                    break Stop::Here;
                }
                continue;
            }
            if left == 0 {
                break Stop::Here;
            }
            left -= 1;
            let Some((key, behind)) = self.fast_key(&mut frame) else { break Stop::Here };
            frame.left -= 1;
            frame.count += 1;
            self.tokens.at = behind;
            if let Some((node, next)) = leaf(self.tokens.input, behind, self.limits.string) {
                self.sink.tape().push(Node { key, ..node });
                self.tokens.at = next;
                continue;
            }
            match self.fast_open(key) {
                Some(inner) => self.frames.push(std::mem::replace(&mut frame, inner)),
                None => break Stop::Value(key),
            }
        };
        self.frames.push(frame);
        stop
    }

    /// The key at the next entry of this container, and where it ends.
    #[inline(always)]
    fn fast_key(&mut self, frame: &mut Frame) -> Option<(u16, usize)> {
        let (input, at) = (self.tokens.input, self.tokens.at);
        if frame.is_list {
            let (position, behind) = integer(input, at)?;
            return (position == i64::from(frame.count)).then_some((NO_KEY, behind));
        }
        let Some((start, len, behind)) = string(input, at) else {
            let (number, behind) = integer(input, at)?;
            let tape = self.sink.tape();
            if !frame.is_keyed {
                tape.push(Node { key: IS_KEY, ..Node::int(number) });
                return Some((KEY_NODE, behind));
            }
            let guess = tape.keys.guess(frame.last);
            if !tape.keys.is_integer(guess, number) {
                return None;
            }
            frame.last = guess;
            return Some((guess, behind));
        };
        // PHP makes an integer of a key like "12": the machine does that.
        let may_be_integer = !frame.is_object && matches!(input.get(start), Some(b'0'..=b'9' | b'-'));
        if len as u64 > self.limits.string || may_be_integer && is_integer(input, start, len) {
            return None;
        }
        if !frame.is_keyed {
            let short = u32::try_from(len).ok().filter(|len| *len < u32::MAX)?;
            let node = Node::string(Kind::Bytes, Location::Input(start as u64), short);
            self.sink.tape().push(Node { key: IS_KEY, ..node });
            return Some((KEY_NODE, behind));
        }
        let keys = &mut self.sink.tape().keys;
        let guess = keys.guess(frame.last);
        let is_it = if len <= 16 {
            keys.is_short(guess, input, start, len)
        } else {
            keys.is_at(guess, Kind::Bytes, 0, input, start, len)
        };
        if is_it {
            frame.last = guess;
            return Some((guess, behind));
        }
        let id = keys.recall(Kind::Bytes, 0, input, start, len);
        if id == 0 {
            return None;
        }
        keys.learn(frame.last, id);
        frame.last = id;
        Some((id, behind))
    }

    /// Opens an array or an object, if its front is a common one.
    #[inline(always)]
    fn fast_open(&mut self, key: u16) -> Option<Frame> {
        let (input, at) = (self.tokens.input, self.tokens.at);
        let has_room = self.frames.len() + 1 < self.limits.depth as usize
            && self.sink.nodes().len() + (BATCH as usize + 2) < self.limits.nodes as usize;
        match *input.get(at)? {
            b'a' if has_room => {
                let (count, behind) = number(input, at + 2).filter(|_| input[at + 1] == b':')?;
                let is_open = input.get(behind..behind + 2)? == b":{";
                if !is_open || count as usize > (input.len() - behind - 2) / 2 {
                    return None;
                }
                let first = behind + 2;
                let is_list = match input.get(first)? {
                    b'i' => true,
                    _ => count == 0 || string(input, first).is_none_or(|(start, ..)| input[start] == b'0'),
                };
                self.tokens.at = first;
                let kind = if is_list { Kind::Array } else { Kind::Map };
                let at = self.sink.tape().push(Node { key, ..Node::open(kind, 0) });
                Some(Frame { at, ..Frame::new(count, false, is_list) })
            }
            b'O' if has_room => {
                let (len, quote) = number(input, at + 2).filter(|_| input[at + 1] == b':')?;
                let start = quote + 2;
                let end = start.checked_add(len as usize)?;
                if input.get(quote..start)? != b":\"" || input.get(end..end.checked_add(2)?)? != b"\":" {
                    return None;
                }
                let class = self.seen.find(self.sink.tape(), input, start, len as usize)?;
                let (count, behind) = number(input, end + 2)?;
                if input.get(behind..behind + 2)? != b":{" || count as usize > (input.len() - behind - 2) / 2 {
                    return None;
                }
                self.tokens.at = behind + 2;
                let tape = self.sink.tape();
                tape.push(Node { key, ..Node::open(Kind::Object, class) });
                let at = tape.push(Node::open(Kind::Map, 0));
                Some(Frame { at, ..Frame::new(count, true, false) })
            }
            _ => None,
        }
    }
}

/// Classes that this document named, and whose names were looked at: by a little hash.
#[derive(Debug, Default)]
pub(super) struct Seen([u16; 8]);

impl Seen {
    fn place(input: &[u8], start: usize, len: usize) -> usize {
        let last = input.get((start + len).wrapping_sub(1)).copied().unwrap_or(0);
        (len ^ usize::from(last)) & 7
    }

    #[inline(always)]
    fn find(&self, tape: &Tape, input: &[u8], start: usize, len: usize) -> Option<u32> {
        let id = self.0[Seen::place(input, start, len)];
        tape.classes.is_at(id, Kind::Bytes, 0, input, start, len).then_some(u32::from(id))
    }

    /// Remembers a class whose name is right.
    pub(super) fn add(&mut self, input: &[u8], start: usize, len: usize, class: u32) {
        self.0[Seen::place(input, start, len)] = class as u16;
    }
}

#[inline(never)]
fn is_integer(input: &[u8], start: usize, len: usize) -> bool {
    input.get(start..start + len).is_none_or(|bytes| super::text::integer_key(bytes).is_some())
}

/// The leaf at `at`, if it is one of the common ones, and where it ends.
#[inline(always)]
fn leaf(input: &[u8], at: usize, longest: u64) -> Option<(Node, usize)> {
    match *input.get(at)? {
        b's' => {
            let (start, len, next) = string(input, at)?;
            let short = u32::try_from(len).ok().filter(|len| *len < u32::MAX && u64::from(*len) <= longest)?;
            Some((Node::string(Kind::Bytes, Location::Input(start as u64), short), next))
        }
        b'i' => {
            let (value, next) = integer(input, at)?;
            Some((Node::int(value), next))
        }
        b'N' => (*input.get(at + 1)? == b';').then_some((Node::leaf(Kind::Null, 0), at + 2)),
        b'b' => match input.get(at + 1..at + 4)? {
            b":0;" => Some((Node::leaf(Kind::Bool, 0), at + 4)),
            b":1;" => Some((Node::leaf(Kind::Bool, 1), at + 4)),
            _ => None,
        },
        b'd' => float(input, at),
        _ => None,
    }
}

/// The integer at `at` and where it ends.
#[inline(always)]
pub(super) fn integer(input: &[u8], at: usize) -> Option<(i64, usize)> {
    let rest = input.get(at..)?;
    let (negative, digits) = match rest {
        [b'i', b':', b'-', digits @ ..] => (true, digits),
        [b'i', b':', digits @ ..] => (false, digits),
        _ => return None,
    };
    let mut value = 0i64;
    for (count, byte) in digits.iter().take(DIGITS + 1).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let is_end = *byte == b';' && count > 0;
            let end = at + 3 + count + usize::from(negative);
            return is_end.then_some((if negative { -value } else { value }, end));
        }
        if count == DIGITS {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    None
}

/// Up to nine digits at `at`, and where they end.
#[inline(always)]
fn number(input: &[u8], at: usize) -> Option<(u32, usize)> {
    let mut value = 0;
    for (count, byte) in input.get(at..)?.iter().take(10).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (count > 0).then_some((value, at + count));
        }
        if count == 9 {
            return None;
        }
        value = value * 10 + u32::from(digit);
    }
    None
}

/// The float at `at` and where it ends: digits with a point in them, and an exponent.
#[inline(always)]
fn float(input: &[u8], at: usize) -> Option<(Node, usize)> {
    let rest = input.get(at..)?;
    let (negative, digits) = match rest {
        [b'd', b':', b'-', digits @ ..] => (true, digits),
        [b'd', b':', digits @ ..] => (false, digits),
        _ => return None,
    };
    let (mut value, mut count, mut fraction, mut is_fraction) = (0u64, 0, 0, false);
    for (index, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 && count < EXACT_DIGITS {
            value = value * 10 + u64::from(digit);
            count += 1;
            fraction += usize::from(is_fraction);
        } else if *byte == b'.' && !is_fraction && index > 0 {
            is_fraction = true;
        } else if *byte == b';' && count > 0 {
            // Both are exact, so the quotient is the nearest float.
            let float = value as f64 / POWERS[fraction];
            let end = at + 3 + index + usize::from(negative);
            return Some((Node::float(if negative { -float } else { float }), end));
        } else {
            return long_float(rest).map(|(float, len)| (Node::float(float), at + len));
        }
    }
    None
}

/// A float with more digits, or an exponent: its text is of the usual form.
fn long_float(rest: &[u8]) -> Option<(f64, usize)> {
    let text = rest.get(2..)?;
    let len = text.iter().take(40).position(|byte| *byte == b';')?;
    let text = &text[..len];
    if !super::text::is_float(text) {
        return None;
    }
    Some((std::str::from_utf8(text).ok()?.parse().ok()?, len + 3))
}

/// The string at `at`: where its bytes start, how many there are, and where it
/// ends.
#[inline(always)]
pub(super) fn string(input: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let rest = input.get(at..)?;
    let [b's', b':', digits @ ..] = rest else { return None };
    let (len, front) = match digits {
        [a @ b'0'..=b'9', b':', b'"', ..] => (usize::from(a - b'0'), 5),
        [a @ b'0'..=b'9', b @ b'0'..=b'9', b':', b'"', ..] => (usize::from(a - b'0') * 10 + usize::from(b - b'0'), 6),
        _ => {
            let (len, end) = number(input, at + 2)?;
            if input.get(end..end + 2)? != b":\"" {
                return None;
            }
            (len as usize, end + 2 - at)
        }
    };
    let start = at + front;
    let end = start + len;
    (input.get(end..end + 2)? == b"\";").then_some((start, len, end + 2))
}
