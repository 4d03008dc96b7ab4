//! The quick loop over values and keys. The careful way takes what it leaves, one at a time.

use super::super::tag::{self, hash};
use super::{FLAG_HASH, HASH, Open};
use crate::format::skim::ahead;
use crate::format::tags::Class;

/// The longest string that it passes over.
const LONG: u32 = 1 << 28;

static CLASSES: [Class; 256] = tag::TAGS.classes();

/// What the loop knows and moves on.
pub(super) struct Run<'s> {
    pub(super) open: &'s mut Vec<Open>,
    pub(super) numbers: &'s mut u64,
    pub(super) classes: u64,
    /// How long an integer and a float are, with the tag.
    pub(super) sizes: (usize, usize),
}

impl Run<'_> {
    /// Goes over values and keys until nothing is open, or in front of one that is rare or not
    /// whole in view; only the bytes of a string may end behind it.
    #[inline(always)]
    pub(super) fn over(&mut self, bytes: &[u8], n32: impl Fn([u8; 4]) -> u32) -> usize {
        let Some(mut top) = self.open.pop() else { return 0 };
        let (mut at, mut numbers) = (0, *self.numbers);
        let (integer, double) = self.sizes;
        loop {
            if top.is_key {
                let Some(head) = ahead::<5>(bytes, at) else { break };
                let [first, a, b, c, d] = *head;
                let (len, front) = match top.note {
                    HASH => (n32([first, a, b, c]), 4),
                    _ if first & hash::KEY_IS_SV != 0 => break,
                    _ => (n32([a, b, c, d]), 5),
                };
                if len > LONG {
                    break;
                }
                at += front + len as usize;
                top.is_key = false;
            }
            if top.left == 0 {
                let Some(below) = self.open.pop() else {
                    *self.numbers = numbers;
                    return at;
                };
                top = below;
                continue;
            }
            let Some(head) = ahead::<6>(bytes, at) else { break };
            let [tag, first, a, b, c, d] = *head;
            let word = || n32([first, a, b, c]);
            let len = match CLASSES[usize::from(tag)] {
                Class::Tag => 1,
                Class::Byte => 2,
                Class::Four => 5,
                Class::Integer => integer,
                Class::Float => double,
                Class::ShortText => 2 + usize::from(first),
                Class::Text if word() <= LONG => 5 + word() as usize,
                Class::Items => {
                    (at, numbers) = (at + 5, numbers + 1);
                    self.enter(&mut top, Open::new(u64::from(word()), 0));
                    continue;
                }
                Class::Entries => {
                    (at, numbers) = (at + 5, numbers + 1);
                    self.enter(&mut top, Open::new(u64::from(word()), HASH));
                    continue;
                }
                Class::FlagEntries => {
                    (at, numbers) = (at + 6, numbers + 1);
                    self.enter(&mut top, Open::new(u64::from(n32([a, b, c, d])), FLAG_HASH));
                    continue;
                }
                Class::Value => {
                    (at, numbers) = (at + 1, numbers + 1);
                    continue;
                }
                Class::Blessed if first < 0x80 && u64::from(first) < self.classes => {
                    at += 2;
                    continue;
                }
                // It has no number of its own.
                Class::Link => {
                    at += 5;
                    top.begin();
                    continue;
                }
                _ => break,
            };
            (at, numbers) = (at + len, numbers + 1);
            top.begin();
        }
        self.open.push(top);
        *self.numbers = numbers;
        at
    }

    /// Goes into a container that is a value of the one on top.
    #[inline(always)]
    fn enter(&mut self, top: &mut Open, inside: Open) {
        top.begin();
        self.open.push(*top);
        *top = inside;
    }
}
