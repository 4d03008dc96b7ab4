//! Skims igbinary: values are passed over by counting what is in them.
//!
//! Strings have numbers, by which later ones name them. Where every sixteenth of them stands
//! is kept; the others are found from there. An answer is written anew as a document of its
//! own, with the strings that it names in it.

mod run;

use super::{FORMAT, ReadOptions, tag};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View};
use run::Run;
use std::collections::HashMap;

/// Of so many strings the place of one is kept.
const EVERY: u64 = 16;
/// How many strings that were looked up are remembered.
const KNOWN: usize = 1024;

#[derive(Debug)]
pub(super) struct Skimmer<'i> {
    view: View<'i>,
    key: Vec<u8>,
    /// How many strings, and how many values with a number, stood before.
    strings: u64,
    numbers: u64,
    /// Where every sixteenth string has its tag.
    places: Vec<u64>,
    /// Strings that were looked up: number, place and length.
    known: Vec<(u64, u64, u64)>,
    /// How many bytes were gone over to find strings.
    work: u64,
    /// Entries that are still to come, of each container that is open.
    left: Vec<u64>,
    out: Option<Out>,
}

/// A value that is written anew.
#[derive(Debug)]
struct Out {
    bytes: Vec<u8>,
    /// The numbers of strings there.
    strings: HashMap<u64, u64>,
    /// The first number of a value in it.
    first: u64,
    /// How long it may get.
    most: u64,
}

impl<'i> Skimmer<'i> {
    pub(super) fn new(input: Input<'i>) -> Skimmer<'i> {
        Skimmer {
            view: View::new(input),
            key: Vec::new(),
            strings: 0,
            numbers: 0,
            places: Vec::new(),
            known: vec![(u64::MAX, 0, 0); KNOWN],
            work: 0,
            left: Vec::new(),
            out: None,
        }
    }

    /// A number of one of the three widths of a tag.
    #[inline]
    fn sized(&mut self, tag: u8, first: u8) -> Sure<u64> {
        match tag - first {
            0 => self.view.byte().map(u64::from),
            1 => self.view.array().map(|bytes| u64::from(u16::from_be_bytes(bytes))),
            _ => self.view.array().map(|bytes| u64::from(u32::from_be_bytes(bytes))),
        }
    }

    fn emit(&mut self, bytes: &[u8]) {
        if let Some(out) = &mut self.out {
            out.bytes.extend_from_slice(bytes);
        }
    }

    /// Goes over so many bytes, which are the same in an answer.
    fn pass(&mut self, count: u64) -> Sure<()> {
        match &mut self.out {
            Some(out) if (out.bytes.len() as u64).saturating_add(count) > out.most => Err(Unsure),
            Some(out) => self.view.append(count, &mut out.bytes),
            None => self.view.advance(count),
        }
    }

    /// The length of a string that stands here, whose tag was read.
    fn length(&mut self, tag: u8, first: u8) -> Sure<u64> {
        match tag {
            tag::STRING64 => self.view.array().map(u64::from_be_bytes),
            _ => self.sized(tag, first),
        }
    }

    /// A string is written out here: it gets a number. `at` is where its tag stands.
    fn number(&mut self, at: u64) -> u64 {
        let number = self.strings;
        if number.is_multiple_of(EVERY) && self.places.len() as u64 == number / EVERY {
            self.places.push(at);
        }
        self.strings += 1;
        number
    }

    /// Where the string with this number stands, and how long it is.
    fn string(&mut self, number: u64) -> Sure<(u64, u64)> {
        if number >= self.strings {
            return Err(Unsure);
        }
        let slot = number as usize % KNOWN;
        if let Some((known, at, len)) = self.known.get(slot)
            && *known == number
        {
            return Ok((*at, *len));
        }
        let place = usize::try_from(number / EVERY).ok().and_then(|at| self.places.get(at).copied());
        let here = self.view.position();
        self.view.go(place.ok_or(Unsure)?);
        let mut left = number % EVERY;
        let (at, len) = loop {
            let before = self.view.position();
            let tag = self.view.byte()?;
            let len = match tag {
                0x11..=0x13 | tag::STRING64 => self.length(tag, tag::STRING)?,
                0x17..=0x19 => self.sized(tag, tag::OBJECT)?,
                _ => {
                    self.rest(tag)?;
                    self.work(before)?;
                    continue;
                }
            };
            if left == 0 {
                break (self.view.position(), len);
            }
            left -= 1;
            self.view.advance(len)?;
            self.work(before)?;
        };
        self.view.go(here);
        if let Some(known) = self.known.get_mut(slot) {
            *known = (number, at, len);
        }
        Ok((at, len))
    }

    /// Strings are looked up so often that reading all is better.
    fn work(&mut self, before: u64) -> Sure<()> {
        self.work += self.view.position() - before;
        if self.work > (1 << 20) + 4 * self.view.len() { Err(Unsure) } else { Ok(()) }
    }

    /// What follows a tag that is no string's.
    fn rest(&mut self, tag: u8) -> Sure<()> {
        match tag {
            tag::NULL | tag::FALSE | tag::TRUE | tag::EMPTY | tag::REFERENCE | tag::ENUM => Ok(()),
            tag::FLOAT => self.view.advance(8),
            0x01..=0x03 => self.sized(tag, tag::ARRAY_REF).map(drop),
            0x0e..=0x10 => self.sized(tag, tag::STRING_ID).map(drop),
            0x14..=0x16 => self.sized(tag, tag::ARRAY).map(drop),
            0x1a..=0x1c => self.sized(tag, tag::OBJECT_ID).map(drop),
            0x22..=0x24 => self.sized(tag, tag::OBJECT_REF).map(drop),
            0x1d..=0x1f => {
                let len = self.sized(tag, tag::PAYLOAD)?;
                self.view.advance(len)
            }
            _ => self.view.advance(tag::int_size(tag).ok_or(Unsure)? as u64),
        }
    }

    /// A string or the name of a class, whose tag was read: `written` is the tag of one that
    /// is written out, `again` of one that was there before.
    fn text(&mut self, tag: u8, at: u64, written: u8, again: u8) -> Sure<()> {
        if tag >= again && tag < again + 3 {
            let number = self.sized(tag, again)?;
            if number >= self.strings {
                return Err(Unsure);
            }
            let Some(out) = &mut self.out else { return Ok(()) };
            if let Some(new) = out.strings.get(&number).copied() {
                push_sized(&mut out.bytes, again, new);
                return Ok(());
            }
            let (at, len) = self.string(number)?;
            let here = self.view.position();
            self.view.go(at);
            self.write_out(written, number, len)?;
            self.view.go(here);
            return Ok(());
        }
        let len = self.length(tag, written)?;
        let number = self.number(at);
        match self.out {
            Some(_) => self.write_out(written, number, len),
            None => self.view.advance(len),
        }
    }

    /// Writes a string, whose bytes come next.
    fn write_out(&mut self, written: u8, number: u64, len: u64) -> Sure<()> {
        if let Some(out) = &mut self.out {
            let new = out.strings.len() as u64;
            out.strings.insert(number, new);
            if len > u64::from(u32::MAX) {
                return Err(Unsure);
            }
            push_sized(&mut out.bytes, written, len);
        }
        self.pass(len)
    }

    fn key_token(&mut self) -> Sure<()> {
        let at = self.view.position();
        let tag = self.view.byte()?;
        match tag {
            tag::EMPTY => self.emit(&[tag]),
            0x0e..=0x13 | tag::STRING64 => self.text(tag, at, tag::STRING, tag::STRING_ID)?,
            _ => {
                let size = tag::int_size(tag).ok_or(Unsure)?;
                self.emit(&[tag]);
                self.pass(size as u64)?;
            }
        }
        Ok(())
    }

    /// A value: a leaf whole, of a container the front.
    fn front(&mut self) -> Sure<()> {
        let mut at = self.view.position();
        let mut tag = self.view.byte()?;
        let is_reference = tag == tag::REFERENCE;
        if is_reference {
            self.emit(&[tag]);
            at = self.view.position();
            tag = self.view.byte()?;
        }
        match tag {
            tag::NULL | tag::FALSE | tag::TRUE | tag::EMPTY => self.emit(&[tag]),
            0x0e..=0x13 | tag::STRING64 => self.text(tag, at, tag::STRING, tag::STRING_ID)?,
            0x14..=0x16 => {
                self.array(tag)?;
                self.numbers += 1;
                return Ok(());
            }
            0x17..=0x1c => return self.object(tag, at),
            0x01..=0x03 => return self.again(tag, tag::ARRAY_REF),
            0x22..=0x24 => return self.again(tag, tag::OBJECT_REF),
            tag::FLOAT => {
                self.emit(&[tag]);
                self.pass(8)?;
            }
            _ => {
                let size = tag::int_size(tag).ok_or(Unsure)?;
                self.emit(&[tag]);
                self.pass(size as u64)?;
            }
        }
        self.numbers += u64::from(is_reference);
        Ok(())
    }

    /// Goes on until only so many containers are open.
    fn drain(&mut self, floor: usize) -> Sure<()> {
        while self.left.len() > floor {
            if self.out.is_none() {
                self.run(floor, None)?;
            }
            let is_open = self.left.len() > floor;
            match self.left.last_mut().filter(|_| is_open) {
                None => {}
                Some(0) => drop(self.left.pop()),
                Some(left) => {
                    *left -= 1;
                    self.key_token()?;
                    self.front()?;
                }
            }
        }
        Ok(())
    }

    /// Goes quickly over entries, as [`Run::over`] does; whether one under the number comes next.
    fn run(&mut self, floor: usize, sought: Option<i64>) -> Sure<bool> {
        let base = self.view.position();
        let mut run =
            Run { left: &mut self.left, places: &mut self.places, strings: self.strings, numbers: self.numbers };
        let (passed, is_found) = run.over(self.view.rest(), base, floor, sought);
        (self.strings, self.numbers) = (run.strings, run.numbers);
        self.view.advance(passed as u64)?;
        Ok(is_found)
    }

    fn array(&mut self, tag: u8) -> Sure<()> {
        let count = self.sized(tag, tag::ARRAY)?;
        if let Some(out) = &mut self.out {
            push_sized(&mut out.bytes, tag::ARRAY, count);
        }
        self.left.push(count);
        Ok(())
    }

    fn object(&mut self, tag: u8, at: u64) -> Sure<()> {
        self.text(tag, at, tag::OBJECT, tag::OBJECT_ID)?;
        self.numbers += 1;
        let at = self.view.position();
        match self.view.byte()? {
            tag @ 0x14..=0x16 => self.array(tag),
            tag @ 0x1d..=0x1f => {
                let len = self.sized(tag, tag::PAYLOAD)?;
                if let Some(out) = &mut self.out {
                    push_sized(&mut out.bytes, tag::PAYLOAD, len);
                }
                self.pass(len)
            }
            tag::ENUM => {
                self.emit(&[tag::ENUM]);
                match self.view.byte()? {
                    tag::EMPTY => self.emit(&[tag::EMPTY]),
                    tag @ (0x0e..=0x13 | tag::STRING64) => self.text(tag, at + 1, tag::STRING, tag::STRING_ID)?,
                    _ => return Err(Unsure),
                }
                Ok(())
            }
            _ => Err(Unsure),
        }
    }

    /// A value that was there before.
    fn again(&mut self, tag: u8, first: u8) -> Sure<()> {
        let number = self.sized(tag, first)?;
        if let Some(out) = &mut self.out {
            let new = number.checked_sub(out.first).ok_or(Unsure)?;
            push_sized(&mut out.bytes, first, new);
        }
        Ok(())
    }
}

/// A tag and a number that may be as wide as it needs.
fn push_sized(bytes: &mut Vec<u8>, first: u8, number: u64) {
    let tag = tag::narrowest(first, number);
    bytes.push(tag);
    let wide = (number as u32).to_be_bytes();
    bytes.extend_from_slice(&wide[4 - (1 << (tag - first))..]);
}

/// The integer of a token that is one.
fn int(head: &[u8; 9]) -> Option<i64> {
    let size = tag::int_size(head[0])?;
    let magnitude = head[1..=size].iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    match head[0] & 1 {
        1 => 0i64.checked_sub_unsigned(magnitude),
        _ => i64::try_from(magnitude).ok(),
    }
}

impl Skim for Skimmer<'_> {
    fn start(&mut self) -> Sure<()> {
        match self.view.array()? {
            [0, 0, 0, 1 | 2] => Ok(()),
            _ => Err(Unsure),
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.view.is_at_end()
    }

    fn mark(&self) -> Mark {
        Mark { at: self.view.position(), numbers: [self.strings, self.numbers] }
    }

    fn back(&mut self, mark: Mark) {
        self.view.go(mark.at);
        [self.strings, self.numbers] = mark.numbers;
    }

    fn open(&mut self) -> Sure<Opened> {
        let mark = self.mark();
        let mut at = mark.at;
        let mut tag = self.view.byte()?;
        if tag == tag::REFERENCE {
            at = self.view.position();
            tag = self.view.byte()?;
        }
        let shape = match tag {
            0x01..=0x03 | 0x22..=0x24 => return Err(Unsure),
            0x14..=0x16 => Shape::Either,
            0x17..=0x1c => {
                self.text(tag, at, tag::OBJECT, tag::OBJECT_ID)?;
                tag = self.view.byte()?;
                match tag {
                    0x14..=0x16 => Shape::Map,
                    _ => return Err(Unsure),
                }
            }
            _ => {
                self.back(mark);
                return Ok(Opened::LEAF);
            }
        };
        self.numbers += 1;
        let count = self.sized(tag, tag::ARRAY)?;
        Ok(Opened::new(shape, Some(count)))
    }

    fn next(&mut self, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if !open.step() {
            return Ok(None);
        }
        let at = self.view.position();
        let tag = self.view.byte()?;
        self.key.clear();
        match tag {
            tag::EMPTY => {}
            0x0e..=0x10 => {
                let number = self.sized(tag, tag::STRING_ID)?;
                let (at, len) = self.string(number)?;
                let here = self.view.position();
                self.view.go(at);
                self.view.append(len, &mut self.key)?;
                self.view.go(here);
            }
            0x11..=0x13 | tag::STRING64 => {
                let len = self.length(tag, tag::STRING)?;
                self.number(at);
                self.view.append(len, &mut self.key)?;
            }
            // An entry that was left out has no value.
            _ => {
                let mut head = [tag, 0, 0, 0, 0, 0, 0, 0, 0];
                for byte in head.iter_mut().skip(1).take(tag::int_size(tag).ok_or(Unsure)?) {
                    *byte = self.view.byte()?;
                }
                return int(&head).map(|number| Some(KeyOf::Int(number))).ok_or(Unsure);
            }
        }
        Ok(Some(KeyOf::Text))
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn skip(&mut self) -> Sure<()> {
        self.left.clear();
        self.front()?;
        self.drain(0)
    }

    fn find_int(&mut self, open: &mut Opened, number: i64) -> Sure<bool> {
        let count = open.count.ok_or(Unsure)?;
        loop {
            self.left.clear();
            self.left.push(count - open.read);
            let is_found = self.run(0, Some(number))?;
            self.drain(1)?;
            open.read = count - self.left.first().copied().unwrap_or(0);
            if is_found {
                return Ok(true);
            }
            match self.next(open)? {
                None => return Ok(false),
                Some(KeyOf::Int(known)) if known == number => return Ok(true),
                Some(_) => self.skip()?,
            }
        }
    }

    fn take(&mut self, limits: &Limits) -> Sure<Document<'static>> {
        let most = limits.expanded_from(usize::try_from(self.view.len()).unwrap_or(usize::MAX));
        let bytes = vec![0, 0, 0, 2];
        self.out = Some(Out { bytes, strings: HashMap::new(), first: self.numbers, most });
        self.skip()?;
        let bytes = self.out.take().ok_or(Unsure)?.bytes;
        let outcome = ReadOptions::default().read(&bytes, Request::new(limits));
        outcome.whole(&bytes, &FORMAT).map(Document::into_owned).map_err(|_| Unsure)
    }
}
