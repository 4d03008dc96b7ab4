//! Tight loops for what most data is made of: leaves in arrays and hashes.
//!
//! Each loop takes what it knows and leaves the rest, byte for byte, to the
//! machine in [`super::read`].

use super::numbers::Numbered;
use super::read::{Inside, Machine, NONE};
use super::tag;
use crate::document::{Kind, NO_KEY, Node, Sink};
use crate::error::Error;

/// As in `read`: see there.
const KEYED: u32 = 256;
const IDS: usize = 65_000;

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// The leaf at `at`, if it is one of the common ones, and where it ends.
    #[inline(always)]
    fn leaf_at(&self, at: usize) -> Option<(Node, usize)> {
        let input = self.scan.input;
        let (tag, rest) = input.get(at..)?.split_first()?;
        match *tag {
            tag::BYTE => Some((Node::int(i64::from(*rest.first()?) - 128), at + 2)),
            tag::SCALAR | tag::UTF8STR => {
                let len = *rest.first()?;
                if rest.len() <= usize::from(len) || u64::from(len) > self.limits.string {
                    return None;
                }
                let kind = if *tag == tag::SCALAR { Kind::Bytes } else { Kind::Text };
                let place = crate::document::Place::Input(at as u64 + 2);
                Some((Node::string(kind, place, u32::from(len)), at + 2 + usize::from(len)))
            }
            tag::INTEGER if self.little && self.image.iv == 8 => {
                Some((Node::int(i64::from_le_bytes(*rest.first_chunk()?)), at + 9))
            }
            tag::NETINT => Some((Node::int(i64::from(i32::from_be_bytes(*rest.first_chunk()?))), at + 5)),
            tag::DOUBLE if self.little && self.image.nv == 8 => {
                Some((Node::float(f64::from_le_bytes(*rest.first_chunk()?)), at + 9))
            }
            tag::UNDEF => Some((Node::leaf(Kind::Null, 0), at + 1)),
            _ => None,
        }
    }

    /// Takes the leaves at the front of what is left of an array.
    #[inline]
    pub(super) fn items(&mut self) -> Result<(), Error> {
        if S::DETAIL {
            return Ok(());
        }
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let mut left = frame.left;
        // Bounded, so that the limit on nodes is looked at now and then.
        let most = left.min(4096);
        let mut taken = 0;
        while taken < most {
            let Some((node, next)) = self.leaf_at(self.scan.at) else { break };
            let at = self.sink.tape().push(node);
            self.numbers.give(Numbered::Variable(at));
            self.scan.at = next;
            taken += 1;
        }
        left -= taken;
        if let Some(frame) = self.frames.last_mut() {
            frame.left = left;
            frame.count += taken;
        }
        Ok(())
    }

    /// Takes the entries with a leaf as value at the front of what is left of
    /// a hash.
    #[inline]
    pub(super) fn entries(&mut self) -> Result<(), Error> {
        if S::DETAIL {
            return Ok(());
        }
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        if frame.inside != Inside::Hash || frame.left + frame.count > KEYED {
            return Ok(());
        }
        let depth = self.frames.len();
        let mut left = frame.left;
        let mut last = frame.last_key;
        while left > 0 {
            let Some((node, at)) = self.leaf_at(self.scan.at) else { break };
            let Some(raw) = self.scan.input.get(at..).and_then(|rest| rest.first_chunk::<4>()) else { break };
            let len = if self.little { u32::from_le_bytes(*raw) } else { u32::from_be_bytes(*raw) };
            let (start, len) = (at + 4, len as usize);
            let tape = self.sink.tape();
            let guess = tape.keys.guess(last);
            let id = if guess != NO_KEY && tape.keys.is_at(guess, Kind::Bytes, 0, self.scan.input, start, len) {
                guess
            } else {
                if tape.keys.len() + depth >= IDS || len as u64 > self.limits.string {
                    break;
                }
                let Some(bytes) = start.checked_add(len).and_then(|end| self.scan.input.get(start..end)) else {
                    break;
                };
                let Some(id) = tape.intern_key(Node::leaf(Kind::Bytes, 0), bytes) else { break };
                tape.keys.learn(last, id);
                id
            };
            let at = tape.push(Node { key: id, ..node });
            self.numbers.give(Numbered::Variable(at));
            self.scan.at = start + len;
            last = id;
            left -= 1;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.count += frame.left - left;
            frame.left = left;
            frame.last_key = last;
            frame.value = NONE;
        }
        Ok(())
    }
}
