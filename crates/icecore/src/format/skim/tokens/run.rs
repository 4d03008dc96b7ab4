//! The quick loop over tokens. The careful way takes what it leaves, one token at a time.

use super::super::{Mark, Sure, ahead};
use super::{Frame, Skimmer, Sort, Tokens};
use crate::format::tags::{Class, Count, Part, Table};

/// Whether all tags of a class give their values a number.
const fn has_number(table: &Table, classes: &[Class; 256], class: Class) -> bool {
    let mut tag = 0;
    while tag < 256 {
        if classes[tag] as u8 == class as u8 {
            return matches!(table.parts(tag as u8), [Part::Number, ..] | [.., Part::Number]);
        }
        tag += 1;
    }
    false
}

/// The bits of the tags of a class that are a count.
const fn low_bits(table: &Table, classes: &[Class; 256], class: Class) -> u8 {
    let mut tag = 0;
    while tag < 256 {
        if classes[tag] as u8 == class as u8
            && let [Part::Text(Count::Low(mask)) | Part::Items(Count::Low(mask)) | Part::Entries(Count::Low(mask))] =
                table.parts(tag as u8)
        {
            return *mask;
        }
        tag += 1;
    }
    0
}

impl<F: Tokens> Skimmer<'_, F> {
    /// Goes over values, keys and names until only so many containers are open, or to a token that
    /// is rare or not whole in view; only the bytes of a string may end beyond it. With `SEEK` it
    /// also stops after a key of the outermost container that is this integer, and returns `true`.
    pub(super) fn run<const SEEK: bool>(&mut self, floor: usize, sought: i64) -> Sure<bool> {
        match F::HAS_ORDERS && self.format.is_big() {
            true => self.run_ordered::<SEEK, true>(floor, sought),
            false => self.run_ordered::<SEEK, false>(floor, sought),
        }
    }

    #[inline(always)]
    fn run_ordered<const SEEK: bool, const BIG: bool>(&mut self, floor: usize, sought: i64) -> Sure<bool> {
        macro_rules! numbered {
            ($class:ident) => {
                const { has_number(F::TAGS, F::CLASSES, Class::$class) as u64 }
            };
        }
        macro_rules! low {
            ($head:ident, $class:ident) => {
                usize::from($head[0] & const { low_bits(F::TAGS, F::CLASSES, Class::$class) })
            };
        }
        let base = self.view.position();
        let Skimmer { view, open, format, .. } = self;
        let (bytes, mut names) = (view.rest(), self.names);
        let (mut at, mut values) = (0, self.values);
        let Some(Frame { mut sort, mut left }) = open.pop() else { return Ok(false) };
        if sort == Sort::Rest {
            open.push(Frame { sort, left });
            return Ok(false);
        }
        let mut is_found = false;
        let is_open = loop {
            // A key is taken in the same turn as its value, if it is a usual one.
            if F::KEYS_ARE_LAST && sort != Sort::Values && !left.is_multiple_of(2) {
                let Some(head) = ahead::<9>(bytes, at) else { break true };
                let Some(len) = format.key_len::<BIG>(sort, head) else { break true };
                (at, left) = (at + len, left - 1);
            }
            if left == 0 {
                if open.len() <= floor {
                    break false;
                }
                let Some(below) = open.pop() else { break false };
                Frame { sort, left } = below;
                if sort == Sort::Rest {
                    break true;
                }
                continue;
            }
            let Some(mut head) = ahead::<9>(bytes, at) else { break true };
            let mut class = F::CLASSES[usize::from(head[0])];
            let mut is_key = !F::IS_FLAT && !F::KEYS_ARE_LAST && sort != Sort::Values && left.is_multiple_of(2);
            if is_key && class == Class::Again {
                let mark = Mark { at: base + at as u64, numbers: [values, names] };
                let Some(len) = format.again_len(head, mark) else { break true };
                (at, left, is_key) = (at + len, left - 1, false);
                let Some(next) = ahead::<9>(bytes, at) else { break true };
                head = next;
                class = F::CLASSES[usize::from(head[0])];
            }
            if is_key && !F::is_key(sort, class, head[0]) {
                break true;
            }
            macro_rules! or_leave {
                ($option:expr) => {
                    match $option {
                        Some(value) => value,
                        None => break true,
                    }
                };
            }
            let mark = |values, names| Mark { at: base + at as u64, numbers: [values, names] };
            let (inside, len) = match class {
                Class::Tag => {
                    values += numbered!(Tag);
                    (at, left) = (at + 1, left - 1);
                    continue;
                }
                Class::Integer => {
                    if SEEK && is_key && open.len() <= floor && F::integer_of(head) == Some(sought) {
                        is_found = true;
                    }
                    let len = or_leave!(format.integer_len(head));
                    values += numbered!(Integer);
                    (at, left) = (at + len, left - 1);
                    if SEEK && is_found {
                        break true;
                    }
                    continue;
                }
                Class::Byte => {
                    values += numbered!(Byte);
                    (at, left) = (at + 2, left - 1);
                    continue;
                }
                Class::Four => {
                    values += numbered!(Four);
                    (at, left) = (at + 5, left - 1);
                    continue;
                }
                Class::Eight => {
                    values += numbered!(Eight);
                    (at, left) = (at + 9, left - 1);
                    continue;
                }
                Class::Float => {
                    let len = or_leave!(format.float_len(head));
                    format.note_value(mark(values, names));
                    values += numbered!(Float);
                    (at, left) = (at + len, left - 1);
                    continue;
                }
                Class::ShortText => {
                    values += numbered!(ShortText);
                    (at, left) = (at + 2 + usize::from(head[1]), left - 1);
                    continue;
                }
                Class::Text => {
                    let (count, len) = or_leave!(format.count_of::<BIG>(head));
                    if is_key {
                        format.note_value(mark(values, names));
                    }
                    values += numbered!(Text);
                    (at, left) = (at + len + count, left - 1);
                    continue;
                }
                Class::Name => {
                    let len = or_leave!(format.name_len(head, mark(values, names)));
                    names += 1;
                    (at, left) = (at + len, left - 1);
                    continue;
                }
                Class::LowText => {
                    (at, left) = (at + 1 + low!(head, LowText), left - 1);
                    continue;
                }
                Class::Again => {
                    let len = or_leave!(format.again_len(head, mark(values, names)));
                    (at, left) = (at + len, left - 1);
                    continue;
                }
                Class::Link => {
                    let len = or_leave!(format.link_len(head, mark(values, names)));
                    (at, left) = (at + len, left - 1);
                    continue;
                }
                Class::Value => {
                    values += numbered!(Value);
                    at += 1;
                    continue;
                }
                Class::TwoValues if F::IS_FLAT => {
                    (at, left) = (at + 1, left + 1);
                    continue;
                }
                Class::Blessed => {
                    at += or_leave!(format.blessed_len(head, mark(values, names)));
                    continue;
                }
                Class::Owner => {
                    let end = or_leave!(format.encoded(bytes, at, names));
                    if is_key {
                        format.note_value(mark(values, names));
                    }
                    values += 1;
                    (at, left) = (end, left - 1);
                    continue;
                }
                Class::Items => {
                    let (count, len) = or_leave!(format.count_of::<BIG>(head));
                    values += numbered!(Items);
                    (Frame::values(count as u64), len)
                }
                Class::Entries => {
                    let (count, len) = or_leave!(format.count_of::<BIG>(head));
                    values += numbered!(Entries);
                    (Frame::pairs(Sort::Entries, count as u64), len)
                }
                Class::LowItems => (Frame::values(low!(head, LowItems) as u64), 1),
                Class::LowEntries => (Frame::pairs(Sort::Entries, low!(head, LowEntries) as u64), 1),
                Class::FlagEntries => {
                    let flagged = or_leave!(ahead::<9>(bytes, at + 1));
                    let (count, len) = or_leave!(format.count_of::<BIG>(flagged));
                    values += numbered!(FlagEntries);
                    (Frame::pairs(Sort::FlagEntries, count as u64), 1 + len)
                }
                Class::Object => {
                    let (count, end) = or_leave!(format.object(bytes, at, names));
                    values += numbered!(Object);
                    (Frame::pairs(Sort::Members, count as u64), end - at)
                }
                _ => break true,
            };
            at += len;
            if F::IS_FLAT {
                left = left - 1 + inside.left;
                continue;
            }
            open.push(Frame { sort, left: left - 1 });
            Frame { sort, left } = inside;
        };
        if is_open {
            open.push(Frame { sort, left });
        }
        (self.values, self.names) = (values, names);
        self.view.advance(at as u64)?;
        Ok(is_found)
    }
}
