//! Skims a dump: a stack says what is still to come of the values that are open.
//!
//! Symbols are kept as they come, and so is where the keys of hashes and floats stand, which
//! Ruby links wherever they come again. An answer is written anew as a dump of its own.

mod run;

use super::number::push_long;
use super::{FORMAT, MAJOR, MINOR, ReadOptions};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View};
use run::Run;
use std::collections::HashMap;

/// How many symbols, and how many strings and floats that may be linked, are kept.
const SYMBOLS: usize = 1 << 20;
const SIDES: usize = 1 << 20;
/// In [`Opened::note`]: entries with keys, those with a default value behind them, members.
const ENTRIES: u64 = 1;
const DEFAULT: u64 = 2;
const MEMBERS: u64 = 3;

#[derive(Debug)]
pub(super) struct Skimmer<'i> {
    view: View<'i>,
    key: Vec<u8>,
    minor: u8,
    /// How many objects, and how many symbols, have numbers so far.
    numbers: u64,
    symbols: u64,
    /// Where the names of symbols stand, how long they are, and whether they are plain.
    names: Vec<(u64, u32, bool)>,
    /// Where keys and floats stand, by number; and how many symbols there were then.
    sides: Vec<Side>,
    open: Vec<Open>,
    out: Option<Out>,
}

/// What may be linked without sharing: a key of a hash, or a float.
#[derive(Clone, Copy, Debug)]
struct Side {
    number: u64,
    mark: Mark,
}

/// A value that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    sort: Sort,
    /// How many values are still to come; of entries and members two each.
    left: u64,
}

impl Open {
    fn values(count: u64) -> Open {
        Open { sort: Sort::Values, left: count }
    }

    fn pairs(sort: Sort, count: u64) -> Open {
        Open { sort, left: 2 * count }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Values,
    /// Keys and values.
    Entries,
    /// The same, with a default value behind them.
    Default,
    /// Names and values.
    Members,
    /// A value behind which its instance variables stand.
    Owner,
    /// Those of what a class dumped, which has its number behind them.
    Dumped,
}

/// A value that is written anew.
#[derive(Debug)]
struct Out {
    bytes: Vec<u8>,
    first: u64,
    /// How many objects have a number there.
    count: u64,
    symbols: HashMap<u64, u64>,
    /// Numbers there of what was linked from outside, and of what stands in the answer
    /// behind such.
    numbers: HashMap<u64, u64>,
    most: u64,
}

impl<'i> Skimmer<'i> {
    pub(super) fn new(input: Input<'i>) -> Skimmer<'i> {
        Skimmer {
            view: View::new(input),
            key: Vec::new(),
            minor: MINOR,
            numbers: 0,
            symbols: 0,
            names: Vec::new(),
            sides: Vec::new(),
            open: Vec::new(),
            out: None,
        }
    }

    #[inline]
    fn long(&mut self) -> Sure<i64> {
        let head = self.view.byte()? as i8;
        Ok(match head {
            0 => 0,
            5..=127 => i64::from(head) - 5,
            -128..=-5 => i64::from(head) + 5,
            _ => {
                let mut word = [if head < 0 { 0xFF } else { 0 }; 8];
                for byte in word.iter_mut().take(usize::from(head.unsigned_abs())) {
                    *byte = self.view.byte()?;
                }
                i64::from_le_bytes(word)
            }
        })
    }

    #[inline]
    fn count(&mut self) -> Sure<u64> {
        u64::try_from(self.long()?).map_err(|_| Unsure)
    }

    fn emit(&mut self, bytes: &[u8]) {
        if let Some(out) = &mut self.out {
            out.bytes.extend_from_slice(bytes);
        }
    }

    fn emit_long(&mut self, value: i64) {
        if let Some(out) = &mut self.out {
            push_long(value, &mut out.bytes);
        }
    }

    #[inline]
    fn pass(&mut self, count: u64) -> Sure<()> {
        match &mut self.out {
            None => self.view.advance(count),
            Some(out) if (out.bytes.len() as u64).saturating_add(count) > out.most => Err(Unsure),
            Some(out) => self.view.append(count, &mut out.bytes),
        }
    }

    #[inline]
    fn pass_count(&mut self) -> Sure<u64> {
        let count = self.count()?;
        // No larger than a fixnum, so it is written as it was meant.
        if count >= 1 << 30 {
            return Err(Unsure);
        }
        self.emit_long(count as i64);
        Ok(count)
    }

    /// A length and that many bytes.
    #[inline]
    fn pass_bytes(&mut self) -> Sure<()> {
        let len = self.pass_count()?;
        self.pass(len)
    }

    /// The object that comes here gets its number.
    #[inline]
    fn number(&mut self) {
        if let Some(out) = &mut self.out {
            out.numbers.insert(self.numbers, out.count);
            out.count += 1;
        }
        self.numbers += 1;
    }

    /// A symbol: its number. `is_bare`: no instance variables follow.
    fn symbol(&mut self) -> Sure<u64> {
        let tag = self.view.byte()?;
        match tag {
            b':' => {
                let len = self.count()?;
                let len = u32::try_from(len).map_err(|_| Unsure)?;
                let at = self.view.position();
                let number = match self.out.is_some() && self.symbols < self.names.len() as u64 {
                    // It may stand before the answer, and be read once more.
                    true => self.names.binary_search_by_key(&at, |name| name.0).map_err(|_| Unsure)? as u64,
                    false => self.symbols,
                };
                if number == self.names.len() as u64 {
                    if self.names.len() == SYMBOLS {
                        return Err(Unsure);
                    }
                    self.names.push((at, len, true));
                }
                self.symbols = self.symbols.max(number + 1);
                self.name(number, len)?;
                Ok(number)
            }
            b';' => {
                let number = self.count()?;
                let name = usize::try_from(number).ok().and_then(|at| self.names.get(at).copied());
                let (at, len, is_plain) = name.filter(|_| number < self.symbols).ok_or(Unsure)?;
                if self.out.is_some() {
                    if !is_plain {
                        return Err(Unsure);
                    }
                    let here = self.view.position();
                    self.view.go(at);
                    self.name(number, len)?;
                    self.view.go(here);
                }
                Ok(number)
            }
            // One in an encoding.
            _ => Err(Unsure),
        }
    }

    /// The name of a symbol, which comes next.
    fn name(&mut self, number: u64, len: u32) -> Sure<()> {
        let Some(out) = &mut self.out else { return self.view.advance(u64::from(len)) };
        if let Some(new) = out.symbols.get(&number).copied() {
            out.bytes.push(b';');
            push_long(new as i64, &mut out.bytes);
            return self.view.advance(u64::from(len));
        }
        let new = out.symbols.len() as u64;
        out.symbols.insert(number, new);
        out.bytes.push(b':');
        push_long(i64::from(len), &mut out.bytes);
        self.pass(u64::from(len))
    }

    /// The text of a symbol as the key.
    fn symbol_key(&mut self) -> Sure<()> {
        let number = self.symbol()?;
        let (at, len, _) = usize::try_from(number).ok().and_then(|at| self.names.get(at).copied()).ok_or(Unsure)?;
        let here = self.view.position();
        self.view.go(at);
        self.key.clear();
        self.view.append(u64::from(len), &mut self.key)?;
        self.view.go(here);
        Ok(())
    }

    /// A link, behind its tag.
    fn link(&mut self) -> Sure<()> {
        let number = self.count()?;
        if number >= self.numbers {
            return Err(Unsure);
        }
        let Some(out) = &mut self.out else { return Ok(()) };
        if let Some(new) = out.numbers.get(&number).copied() {
            out.bytes.push(b'@');
            push_long(new as i64, &mut out.bytes);
            return Ok(());
        }
        if number >= out.first {
            return Err(Unsure);
        }
        let side = self.sides.binary_search_by_key(&number, |side| side.number).map_err(|_| Unsure)?;
        let side = *self.sides.get(side).ok_or(Unsure)?;
        let here = self.mark();
        // Its own number is that of the mark.
        self.back(side.mark);
        self.flat()?;
        self.back(here);
        Ok(())
    }

    /// A string with no more than its encoding, or a float: what is kept aside.
    fn flat(&mut self) -> Sure<()> {
        let tag = self.view.byte()?;
        self.emit(&[tag]);
        match tag {
            b'f' | b'"' => {
                self.number();
                self.pass_bytes()
            }
            b'I' => {
                if self.pass_tag()? != b'"' {
                    return Err(Unsure);
                }
                self.number();
                self.pass_bytes()?;
                if self.pass_count()? != 1 {
                    return Err(Unsure);
                }
                self.encoding()
            }
            _ => Err(Unsure),
        }
    }

    fn pass_tag(&mut self) -> Sure<u8> {
        let tag = self.view.byte()?;
        self.emit(&[tag]);
        Ok(tag)
    }

    /// The instance variable `E`, and its value.
    fn encoding(&mut self) -> Sure<()> {
        let number = self.symbol()?;
        let (at, len, _) = usize::try_from(number).ok().and_then(|at| self.names.get(at).copied()).ok_or(Unsure)?;
        let is_known = len == 1 && self.view.copy(at, at + 1)? == b"E";
        if !is_known || !matches!(self.pass_tag()?, b'T' | b'F') {
            return Err(Unsure);
        }
        Ok(())
    }

    /// A value: a leaf whole, of a container the front.
    fn front(&mut self) -> Sure<()> {
        let mark = self.mark();
        let tag = self.view.peek()?;
        if matches!(tag, b':' | b';') {
            return self.symbol().map(drop);
        }
        self.view.advance(1)?;
        if tag == b'@' {
            return self.link();
        }
        self.emit(&[tag]);
        match tag {
            b'0' | b'T' | b'F' => {}
            b'i' => {
                let value = self.long()?;
                self.emit_long(value);
                if !super::number::is_fixnum(value) && self.out.is_some() {
                    return Err(Unsure);
                }
            }
            b'f' => {
                note_side(&mut self.sides, mark);
                self.number();
                self.pass_bytes()?;
            }
            b'"' | b'c' | b'm' | b'M' => {
                self.number();
                self.pass_bytes()?;
            }
            b'/' => {
                self.number();
                self.pass_bytes()?;
                self.pass(1)?;
            }
            b'l' => {
                self.number();
                self.pass(1)?;
                let len = self.pass_count()?;
                self.pass(2 * len)?;
            }
            b'[' => {
                self.number();
                let count = self.pass_count()?;
                self.open.push(Open::values(count));
            }
            b'{' | b'}' => {
                self.number();
                let count = self.pass_count()?;
                let sort = if tag == b'}' { Sort::Default } else { Sort::Entries };
                self.open.push(Open::pairs(sort, count));
            }
            b'o' | b'S' => {
                self.number();
                self.symbol()?;
                let count = self.pass_count()?;
                self.open.push(Open::pairs(Sort::Members, count));
            }
            b'U' | b'd' => {
                self.symbol()?;
                self.number();
                self.open.push(Open::values(1));
            }
            b'u' => {
                self.symbol()?;
                self.pass_bytes()?;
                self.number();
            }
            b'C' | b'e' => {
                self.symbol()?;
                self.open.push(Open::values(1));
            }
            b'I' => match self.view.peek()? {
                b':' | b';' => return Err(Unsure),
                b'u' => {
                    self.pass(1)?;
                    self.symbol()?;
                    self.pass_bytes()?;
                    let count = self.pass_count()?;
                    self.open.push(Open::pairs(Sort::Dumped, count));
                }
                b'"' => {
                    self.pass(1)?;
                    self.number();
                    self.pass_bytes()?;
                    let count = self.pass_count()?;
                    self.open.push(Open::pairs(Sort::Members, count));
                }
                _ => self.open.extend([Open { sort: Sort::Owner, left: 0 }, Open::values(1)]),
            },
            _ => return Err(Unsure),
        }
        Ok(())
    }

    /// A key of a hash, whole or its front.
    fn entry_key(&mut self) -> Sure<()> {
        if matches!(self.view.peek()?, b'"' | b'I') {
            let mark = self.mark();
            note_side(&mut self.sides, mark);
        }
        self.front()
    }

    fn pass_value(&mut self) -> Sure<()> {
        self.open.clear();
        self.front()?;
        self.drain()
    }

    /// Goes on until nothing is open.
    fn drain(&mut self) -> Sure<()> {
        loop {
            if self.out.is_none() {
                let base = self.view.position();
                let Skimmer { open, sides, numbers, symbols, view, .. } = self;
                let mut run = Run { open, sides, numbers: *numbers, symbols: *symbols };
                let passed = run.over(view.rest(), base);
                *numbers = run.numbers;
                view.advance(passed as u64)?;
            }
            let Some(open) = self.open.last_mut() else { return Ok(()) };
            let is_name = open.left.is_multiple_of(2);
            match (open.sort, open.left) {
                (Sort::Owner, _) => {
                    let count = self.pass_count()?;
                    self.open.pop();
                    self.open.push(Open::pairs(Sort::Members, count));
                }
                (Sort::Default, 0) => *open = Open::values(1),
                (Sort::Dumped, 0) => {
                    self.open.pop();
                    self.number();
                }
                (_, 0) => drop(self.open.pop()),
                (sort, _) => {
                    open.left -= 1;
                    match sort {
                        Sort::Entries | Sort::Default if is_name => self.entry_key()?,
                        Sort::Members | Sort::Dumped if is_name => drop(self.symbol()?),
                        _ => self.front()?,
                    }
                }
            }
        }
    }

    /// The bytes of a string, behind its tag, as the key.
    fn string_key(&mut self) -> Sure<()> {
        let len = self.count()?;
        self.key.clear();
        self.view.append(len, &mut self.key)
    }

    /// A key of a hash.
    fn next_key(&mut self) -> Sure<KeyOf> {
        let mark = self.mark();
        match self.view.peek()? {
            b':' | b';' => self.symbol_key()?,
            b'i' => {
                self.view.advance(1)?;
                return self.long().map(KeyOf::Int);
            }
            b'"' => {
                self.view.advance(1)?;
                note_side(&mut self.sides, mark);
                self.number();
                self.string_key()?;
            }
            b'I' => {
                self.view.advance(1)?;
                note_side(&mut self.sides, mark);
                if self.view.byte()? != b'"' {
                    return Err(Unsure);
                }
                self.number();
                self.string_key()?;
                if self.count()? != 1 {
                    return Err(Unsure);
                }
                self.encoding()?;
            }
            b'@' => {
                self.view.advance(1)?;
                let number = self.count()?;
                let side = self.sides.binary_search_by_key(&number, |side| side.number).map_err(|_| Unsure)?;
                let at = self.sides.get(side).ok_or(Unsure)?.mark.at;
                let here = self.view.position();
                self.view.go(at);
                match self.view.byte()? {
                    b'"' => {}
                    b'I' => self.view.advance(1)?,
                    _ => return Err(Unsure),
                }
                self.string_key()?;
                self.view.go(here);
            }
            // It may be small.
            b'l' => return Err(Unsure),
            _ => {
                self.open.clear();
                self.entry_key()?;
                self.drain()?;
                return Ok(KeyOf::Other);
            }
        }
        Ok(KeyOf::Text)
    }
}

/// What begins at the mark may be linked later.
fn note_side(sides: &mut Vec<Side>, mark: Mark) {
    let number = mark.numbers[0];
    let is_new = sides.last().is_none_or(|last| last.number < number);
    if is_new && sides.len() < SIDES {
        sides.push(Side { number, mark });
    }
}

impl Skim for Skimmer<'_> {
    fn start(&mut self) -> Sure<()> {
        match self.view.array()? {
            [MAJOR, minor @ 0..=MINOR] => {
                self.minor = minor;
                Ok(())
            }
            _ => Err(Unsure),
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.view.is_at_end()
    }

    fn mark(&self) -> Mark {
        Mark { at: self.view.position(), numbers: [self.numbers, self.symbols] }
    }

    fn back(&mut self, mark: Mark) {
        self.view.go(mark.at);
        [self.numbers, self.symbols] = mark.numbers;
    }

    fn open(&mut self) -> Sure<Opened> {
        let tag = self.view.peek()?;
        let note = match tag {
            b'[' => 0,
            b'{' => ENTRIES,
            b'}' => DEFAULT,
            b'o' | b'S' => MEMBERS,
            b'0' | b'T' | b'F' | b'i' | b':' | b';' | b'f' | b'l' | b'"' | b'/' | b'c' | b'm' | b'M' => {
                return Ok(Opened::LEAF);
            }
            b'I' if matches!(self.view.need(2)?.get(1), Some(b'"' | b'/')) => return Ok(Opened::LEAF),
            _ => return Err(Unsure),
        };
        self.view.advance(1)?;
        self.number();
        if note == MEMBERS {
            self.symbol()?;
        }
        let count = self.count()?;
        let shape = if note == 0 { Shape::List } else { Shape::Map };
        Ok(Opened { note, ..Opened::new(shape, Some(count)) })
    }

    fn next(&mut self, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if !open.step() {
            if open.note == DEFAULT {
                self.pass_value()?;
            }
            return Ok(None);
        }
        Ok(Some(match open.note {
            0 => KeyOf::Item,
            MEMBERS => {
                self.symbol_key()?;
                KeyOf::Text
            }
            _ => self.next_key()?,
        }))
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn skip(&mut self) -> Sure<()> {
        self.pass_value()
    }

    fn skip_items(&mut self, open: &mut Opened, count: u64) -> Sure<bool> {
        let there = open.take(count);
        self.open.clear();
        self.open.push(Open::values(there));
        self.drain()?;
        Ok(there == count)
    }

    fn take(&mut self, limits: &Limits) -> Sure<Document<'static>> {
        let most = limits.expanded_from(usize::try_from(self.view.len()).unwrap_or(usize::MAX));
        self.out = Some(Out {
            bytes: vec![MAJOR, self.minor],
            first: self.numbers,
            count: 0,
            symbols: HashMap::new(),
            numbers: HashMap::new(),
            most,
        });
        self.pass_value()?;
        let bytes = self.out.take().ok_or(Unsure)?.bytes;
        let outcome = ReadOptions::default().read(&bytes, Request::new(limits));
        outcome.whole(&bytes, &FORMAT).map(Document::into_owned).map_err(|_| Unsure)
    }
}
