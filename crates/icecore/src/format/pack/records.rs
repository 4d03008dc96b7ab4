//! Fast loops for groups that repeat a string. Other groups are left to the machines.

use super::layout::{Layout, Value};
use super::packer::Packer;
use super::read::Machine;
use super::symbol::is_space;
use super::template::Fast;
use crate::document::{Kind, Location, Sink};

impl<S: Sink> Machine<'_, S> {
    /// Reads complete records. Returns whether they cover the input; if not, `left` is
    /// the limit of further ones.
    pub(super) fn records(&mut self, fast: Fast, left: &mut u64) -> bool {
        let (start, most) = (self.at, self.data.len());
        if self.frame().characters || self.room(self.left() + 1).is_err() || self.limits.string < most as u64 {
            return false;
        }
        let count = match fast {
            Fast::Prefixed(layout, trims) => match (layout.value, layout.size, layout.big) {
                // The common ones, for which the compiler knows the length.
                (Value::Uint, 4, true) => {
                    self.prefixed(trims, |bytes: &[u8; 4]| Some(u32::from_be_bytes(*bytes) as usize))
                }
                (Value::Int, 4, false) => {
                    self.prefixed(trims, |bytes: &[u8; 4]| usize::try_from(i32::from_le_bytes(*bytes)).ok())
                }
                (Value::Uint, 4, false) => {
                    self.prefixed(trims, |bytes: &[u8; 4]| Some(u32::from_le_bytes(*bytes) as usize))
                }
                (Value::Uint, 2, true) => {
                    self.prefixed(trims, |bytes: &[u8; 2]| Some(usize::from(u16::from_be_bytes(*bytes))))
                }
                _ => 0,
            },
            Fast::Fixed(len, trims) => self.fixed(len, trims),
        };
        self.high = self.high.max(self.at);
        *left = left.saturating_sub(count).max(1);
        self.at > start && self.at == most
    }

    #[inline(always)]
    fn prefixed<const N: usize>(&mut self, trims: bool, length: impl Fn(&[u8; N]) -> Option<usize>) -> u64 {
        let data = self.data;
        let tape = self.sink.tape();
        let (mut at, mut count) = (self.at, 0);
        while let Some((head, rest)) = data[at..].split_first_chunk::<N>() {
            let Some(len) = length(head) else { break };
            let string = &rest[..len.min(rest.len())];
            let start = at + N;
            at = start + string.len();
            let kept = if trims { trimmed(string) } else { string.len() };
            let node = tape.placed(Kind::Bytes, Location::Input(start as u64), kept);
            tape.push(node);
            count += 1;
        }
        self.at = at;
        count
    }

    fn fixed(&mut self, len: usize, trims: bool) -> u64 {
        let data = self.data;
        let tape = self.sink.tape();
        let (mut at, mut count) = (self.at, 0);
        for string in data[at..].chunks_exact(len) {
            let kept = if trims { trimmed(string) } else { len };
            let node = tape.placed(Kind::Bytes, Location::Input(at as u64), kept);
            tape.push(node);
            at += len;
            count += 1;
        }
        self.at = at;
        count
    }
}

/// Returns the length of a string without blanks and nulls at its end.
#[inline]
pub(super) fn trimmed(mut string: &[u8]) -> usize {
    // Eight spaces at once: most fields are padded with spaces.
    while let Some((front, b"        ")) = string.split_last_chunk::<8>() {
        string = front;
    }
    while let [front @ .., last] = string {
        if *last != 0 && !is_space(*last) {
            break;
        }
        string = front;
    }
    string.len()
}

impl Packer<'_, '_> {
    /// Packs items of a list while they are strings and integers that fit.
    pub(super) fn records(&mut self, fast: Fast) {
        if !self.is_plain() {
            return;
        }
        let most = self.base.saturating_add(self.most);
        let takes_text = self.encodes || !self.program.counts_bytes;
        let mut digits = itoa::Buffer::new();
        let mut count = 0;
        for node in self.items.run(usize::MAX) {
            let string = match node.kind {
                Kind::Bytes => self.items.bytes(node),
                Kind::Text if takes_text => match self.items.bytes(node) {
                    text if self.encodes || text.is_ascii() => text,
                    _ => break,
                },
                Kind::Int => digits.format(node.payload as i64).as_bytes(),
                _ => break,
            };
            let field = match fast {
                Fast::Prefixed(..) => string.len().saturating_add(16),
                Fast::Fixed(len, _) => len,
            };
            if self.out.len().saturating_add(field) > most {
                break;
            }
            match fast {
                Fast::Prefixed(layout, _) => {
                    let Some((bytes, size)) = length(layout, string.len()) else { break };
                    if size == 4 {
                        // The compiler knows this length.
                        self.out.extend_from_slice(&bytes[..4]);
                    } else {
                        self.out.extend_from_slice(&bytes[..size]);
                    }
                    self.out.extend_from_slice(string);
                }
                Fast::Fixed(len, trims) => {
                    let Some(padding) = len.checked_sub(string.len()) else { break };
                    self.out.extend_from_slice(string);
                    let end = self.out.len() + padding;
                    self.out.resize(end, if trims { b' ' } else { 0 });
                }
            }
            count += 1;
        }
        self.items.skip(count);
    }
}

/// Returns a length as bytes, if it fits.
#[inline]
fn length(layout: Layout, len: usize) -> Option<([u8; 8], usize)> {
    let bits = 8 * layout.size as u32 - u32::from(layout.value == Value::Int);
    let len = u64::try_from(len).ok().filter(|len| bits >= 64 || *len < 1 << bits)?;
    let bytes = if layout.big { (len << (64 - 8 * layout.size as u32)).to_be_bytes() } else { len.to_le_bytes() };
    Some((bytes, layout.size))
}
