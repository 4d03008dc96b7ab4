//! A fast loop for common data: leaves below keys that were seen before, and items of
//! lists.
//!
//! It stops in front of anything else and consumes nothing of it: the machine in
//! [`super::read`] continues there. A reader with detail does not use it, so tests compare
//! both.

use super::read::Machine;
use crate::document::{Kind, Location, NO_KEY, Node, Sink};
use crate::error::Error;

/// How many entries are read before the machine checks limits again.
const BATCH: u32 = 4096;
/// How many digits an integer may have here: 18 are below 2^63, so nothing overflows.
const DIGITS: usize = 18;

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads common entries of the innermost container. Returns whether there were any.
    #[inline]
    pub(super) fn entries(&mut self) -> Result<bool, Error> {
        let Some(frame) = self.frames.last().copied() else { return Ok(false) };
        let input = self.tokens.input;
        let longest = self.limits.string;
        let mut at = self.tokens.at;
        let most = frame.left.min(BATCH);
        let mut taken = 0;
        let mut rest = None;
        while taken < most {
            let (key, behind) = if frame.is_list {
                match integer(input, at) {
                    Some((position, behind)) if position == i64::from(frame.count + taken) => (NO_KEY, behind),
                    _ => break,
                }
            } else if frame.is_keyed {
                let Some((start, len, behind)) = string(input, at) else { break };
                // PHP makes an integer of a key like "12": the machine decides that.
                if !frame.is_object && matches!(input.get(start), Some(b'0'..=b'9' | b'-')) {
                    break;
                }
                let id = self.sink.tape().keys.recall(Kind::Bytes, 0, input, start, len);
                if id == 0 || len as u64 > longest {
                    break;
                }
                (id, behind)
            } else {
                break;
            };
            let Some((node, next)) = leaf(input, behind, longest) else {
                // The key is consumed: the machine reads its value below.
                rest = Some(key);
                at = behind;
                break;
            };
            self.sink.tape().push(Node { key, ..node });
            at = next;
            taken += 1;
        }
        self.tokens.at = at;
        let begun = taken + u32::from(rest.is_some());
        if let Some(frame) = self.frames.last_mut() {
            frame.left -= begun;
            frame.count += begun;
        }
        if let Some(key) = rest {
            self.value(key)?;
        }
        Ok(begun > 0)
    }
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
        _ => None,
    }
}

/// The integer at `at` and where it ends.
#[inline(always)]
pub(super) fn integer(input: &[u8], at: usize) -> Option<(i64, usize)> {
    let rest = input.get(at..)?;
    let [b'i', b':', rest @ ..] = rest else { return None };
    let (negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut value = 0i64;
    for (count, byte) in digits.iter().take(DIGITS + 1).enumerate() {
        match byte {
            b'0'..=b'9' if count < DIGITS => value = value * 10 + i64::from(byte - b'0'),
            b';' if count > 0 => {
                let end = at + 3 + count + usize::from(negative);
                return Some((if negative { -value } else { value }, end));
            }
            _ => return None,
        }
    }
    None
}

/// The string at `at`: where its bytes start, how many there are, and where it
/// ends.
#[inline(always)]
pub(super) fn string(input: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let rest = input.get(at..)?;
    let [b's', b':', digits @ ..] = rest else { return None };
    let mut len = 0usize;
    for (count, byte) in digits.iter().take(10).enumerate() {
        match byte {
            b'0'..=b'9' if count < 9 => len = len * 10 + usize::from(byte - b'0'),
            b':' if count > 0 => {
                let behind = digits.get(count + 1..)?;
                let is_closed =
                    *behind.first()? == b'"' && behind.get(len.checked_add(1)?..len.checked_add(3)?)? == b"\";";
                let start = at + 4 + count;
                return is_closed.then_some((start, len, start + len + 2));
            }
            _ => return None,
        }
    }
    None
}
