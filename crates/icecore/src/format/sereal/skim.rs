//! Skims a body that is not compressed: items are passed over by counting what is still to
//! come.
//!
//! An answer is written anew as a document of its own: offsets in it move, and a string that
//! a COPY takes from outside is written out.

mod run;

use super::header::{Encoding, Header, MAGIC, OLD_MAGIC};
use super::tag::{self, TRACK};
use super::{FORMAT, ReadOptions};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View};
use std::collections::HashMap;

/// How long a header may be that is looked at.
const HEADER: usize = 4096;

#[derive(Debug)]
pub(super) struct Skimmer<'i> {
    view: View<'i>,
    key: Vec<u8>,
    version: u8,
    /// The offset that the first byte of the body has, and where that stands.
    first: u64,
    start: u64,
    out: Option<Out>,
}

/// A value that is written anew.
#[derive(Debug)]
struct Out {
    bytes: Vec<u8>,
    /// Where its body begins, and which offset that has.
    body: usize,
    first: u64,
    /// Where items stand that were written, by where they stood; those in order.
    items: Vec<(u64, u64)>,
    /// The same of strings from outside.
    outside: HashMap<u64, u64>,
    most: u64,
}

impl Out {
    /// The offset of what is written next.
    fn offset(&self) -> u64 {
        (self.bytes.len() - self.body) as u64 + self.first
    }

    /// The offset of what stood there.
    fn moved(&self, at: u64) -> Option<u64> {
        let found = self.items.binary_search_by_key(&at, |item| item.0).ok();
        found.map(|item| self.items[item].1).or_else(|| self.outside.get(&at).copied())
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

impl<'i> Skimmer<'i> {
    pub(super) fn new(input: Input<'i>) -> Skimmer<'i> {
        Skimmer { view: View::new(input), key: Vec::new(), version: 5, first: 1, start: 0, out: None }
    }

    #[inline]
    fn varint(&mut self) -> Sure<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.view.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Unsure)
    }

    /// Where the item with this offset stands, which is before `at`.
    fn place(&self, offset: u64, at: u64) -> Sure<u64> {
        let place = offset.checked_sub(self.first).and_then(|by| by.checked_add(self.start));
        place.filter(|place| *place < at).ok_or(Unsure)
    }

    /// Goes over so many bytes, which are the same in an answer.
    #[inline]
    fn pass(&mut self, count: u64) -> Sure<()> {
        match &mut self.out {
            None => self.view.advance(count),
            Some(out) if (out.bytes.len() as u64).saturating_add(count) > out.most => Err(Unsure),
            Some(out) => self.view.append(count, &mut out.bytes),
        }
    }

    /// A varint that is the same in an answer.
    fn pass_varint(&mut self) -> Sure<u64> {
        let value = self.varint()?;
        if let Some(out) = &mut self.out {
            out.varint(value);
        }
        Ok(value)
    }

    fn emit(&mut self, byte: u8) {
        if let Some(out) = &mut self.out {
            out.bytes.push(byte);
        }
    }

    /// One item; says how many more come with it.
    #[inline]
    fn item(&mut self) -> Sure<u64> {
        let at = self.view.position();
        let byte = self.view.byte()?;
        if let Some(out) = &mut self.out {
            // Something behind the answer may refer to it, and bless it.
            if byte & TRACK != 0 {
                return Err(Unsure);
            }
            let offset = out.offset();
            out.items.push((at, offset));
        }
        let tag = byte & !TRACK;
        if matches!(tag, tag::REFP | tag::ALIAS | tag::COPY | tag::OBJECTV | tag::OBJECTV_FREEZE) {
            return self.offset(byte, at);
        }
        self.emit(byte);
        Ok(match tag {
            0..=31 | tag::UNDEF | tag::NO | tag::YES | tag::CANONICAL_UNDEF | tag::FALSE | tag::TRUE => 0,
            96..=127 => {
                self.pass(u64::from(tag & 31))?;
                0
            }
            tag::VARINT | tag::ZIGZAG => {
                self.pass_varint()?;
                0
            }
            tag::BINARY | tag::STR_UTF8 => {
                let len = self.pass_varint()?;
                self.pass(len)?;
                0
            }
            64..=79 => u64::from(tag & 15),
            80..=95 => 2 * u64::from(tag & 15),
            tag::FLOAT => self.pass(4).map(|()| 0)?,
            tag::DOUBLE => self.pass(8).map(|()| 0)?,
            tag::LONG_DOUBLE | tag::FLOAT_128 => self.pass(16).map(|()| 0)?,
            tag::REFN | tag::WEAKEN | tag::PAD => 1,
            tag::ARRAY => self.pass_varint()?,
            tag::HASH => self.pass_varint()?.checked_mul(2).ok_or(Unsure)?,
            tag::OBJECT | tag::OBJECT_FREEZE | tag::REGEXP => 2,
            _ => return Err(Unsure),
        })
    }

    /// So many items, with all that is in them.
    fn items(&mut self, count: u64) -> Sure<()> {
        let mut pending = count;
        while pending > 0 {
            if self.out.is_none() {
                let offset = self.view.position().wrapping_sub(self.start).wrapping_add(self.first);
                let passed = run::over(self.view.rest(), &mut pending, offset);
                self.view.advance(passed as u64)?;
                if pending == 0 {
                    break;
                }
            }
            let more = self.item()?;
            pending = (pending - 1).checked_add(more).ok_or(Unsure)?;
        }
        Ok(())
    }

    /// An item with an offset.
    fn offset(&mut self, byte: u8, at: u64) -> Sure<u64> {
        let tag = byte & !TRACK;
        let offset = self.varint()?;
        let place = self.place(offset, at)?;
        let more = u64::from(matches!(tag, tag::OBJECTV | tag::OBJECTV_FREEZE));
        let Some(out) = &mut self.out else { return Ok(more) };
        if let Some(moved) = out.moved(place) {
            out.bytes.push(byte);
            out.varint(moved);
            return Ok(more);
        }
        match tag {
            tag::COPY => self.string(place)?,
            tag::OBJECTV => {
                self.emit(tag::OBJECT);
                self.string(place)?;
            }
            tag::OBJECTV_FREEZE => {
                self.emit(tag::OBJECT_FREEZE);
                self.string(place)?;
            }
            // What it refers to is outside.
            _ => return Err(Unsure),
        }
        Ok(more)
    }

    /// Writes out the string that stands at `place`, outside of the answer.
    fn string(&mut self, place: u64) -> Sure<()> {
        let here = self.view.position();
        self.view.go(place);
        let tag = self.view.byte()? & !TRACK;
        if !matches!(tag, tag::BINARY | tag::STR_UTF8 | 96..=127) {
            return Err(Unsure);
        }
        if let Some(out) = &mut self.out {
            let offset = out.offset();
            out.outside.insert(place, offset);
            out.bytes.push(tag);
        }
        let len = if tag >= tag::SHORT_BINARY { u64::from(tag & 31) } else { self.pass_varint()? };
        self.pass(len)?;
        self.view.go(here);
        Ok(())
    }

    /// The next byte that is not PAD, without the bit for tracking.
    fn tag(&mut self) -> Sure<u8> {
        loop {
            match self.view.byte()? & !TRACK {
                tag::PAD => {}
                tag => return Ok(tag),
            }
        }
    }

    /// Takes the string that comes next as the key.
    fn text(&mut self) -> Sure<()> {
        let at = self.view.position();
        let mut tag = self.tag()?;
        let mut back = None;
        if tag == tag::COPY {
            let offset = self.varint()?;
            back = Some(self.view.position());
            let place = self.place(offset, at)?;
            self.view.go(place);
            tag = self.view.byte()? & !TRACK;
        }
        let len = match tag {
            96..=127 => u64::from(tag & 31),
            tag::BINARY | tag::STR_UTF8 => self.varint()?,
            _ => return Err(Unsure),
        };
        self.key.clear();
        self.view.append(len, &mut self.key)?;
        if let Some(back) = back {
            self.view.go(back);
        }
        Ok(())
    }
}

impl Skim for Skimmer<'_> {
    fn start(&mut self) -> Sure<()> {
        let len = usize::try_from(self.view.len()).unwrap_or(usize::MAX);
        let head = self.view.need(len.min(HEADER))?;
        let header = Header::read(&head[..head.len().min(HEADER)], &ReadOptions::default()).map_err(|_| Unsure)?;
        if header.encoding != Encoding::Raw || header.has_user_header {
            return Err(Unsure);
        }
        (self.version, self.first, self.start) = (header.version, header.first(), header.end as u64);
        self.view.go(self.start);
        Ok(())
    }

    fn is_at_end(&mut self) -> bool {
        self.view.is_at_end()
    }

    fn mark(&self) -> Mark {
        Mark { at: self.view.position(), ..Mark::default() }
    }

    fn back(&mut self, mark: Mark) {
        self.view.go(mark.at);
    }

    fn open(&mut self) -> Sure<Opened> {
        let mark = self.mark();
        let mut tag = self.tag()?;
        let mut is_object = false;
        match tag {
            tag::OBJECT => {
                self.text()?;
                (tag, is_object) = (self.tag()?, true);
            }
            tag::OBJECTV => {
                self.varint()?;
                (tag, is_object) = (self.tag()?, true);
            }
            _ => {}
        }
        let (shape, count) = match tag {
            64..=79 => (Shape::List, u64::from(tag & 15)),
            80..=95 => (Shape::Map, u64::from(tag & 15)),
            tag::REFN => match self.tag()? {
                tag::ARRAY => (Shape::List, self.varint()?),
                tag::HASH => (Shape::Map, self.varint()?),
                _ => return Err(Unsure),
            },
            0..=39 | 52 | 53 | 56..=59 | 96..=127 if !is_object => {
                self.back(mark);
                return Ok(Opened::LEAF);
            }
            _ => return Err(Unsure),
        };
        Ok(Opened::new(shape, Some(count)))
    }

    fn next(&mut self, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if !open.step() {
            return Ok(None);
        }
        if open.shape == Shape::List {
            return Ok(Some(KeyOf::Item));
        }
        self.text()?;
        Ok(Some(KeyOf::Text))
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn skip(&mut self) -> Sure<()> {
        self.items(1)
    }

    fn skip_items(&mut self, open: &mut Opened, count: u64) -> Sure<bool> {
        let there = open.take(count);
        self.items(there)?;
        Ok(there == count)
    }

    fn take(&mut self, limits: &Limits) -> Sure<Document<'static>> {
        let mut bytes = if self.version < 3 { OLD_MAGIC.to_vec() } else { MAGIC.to_vec() };
        bytes.extend([self.version, 0]);
        let body = bytes.len();
        let most = limits.expanded_from(usize::try_from(self.view.len()).unwrap_or(usize::MAX));
        let first = if self.version == 1 { body as u64 } else { 1 };
        self.out = Some(Out { bytes, body, first, items: Vec::new(), outside: HashMap::new(), most });
        self.skip()?;
        let bytes = self.out.take().ok_or(Unsure)?.bytes;
        let outcome = ReadOptions::default().read(&bytes, Request::new(limits));
        outcome.whole(&bytes, &FORMAT).map(Document::into_owned).map_err(|_| Unsure)
    }
}
