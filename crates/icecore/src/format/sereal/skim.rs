//! Skimming of Sereal: only bodies that are not compressed.
//!
//! Offsets change in an answer, and a string that a COPY takes from outside is written in
//! full.

mod run;

use super::header::{Encoding, Header, MAGIC, OLD_MAGIC};
use super::tag::{self, TRACK};
use super::{FORMAT, ReadOptions};
use crate::format::Format;
use crate::format::skim::tokens::{Run, Skimmer, Sort, Tokens};
use crate::format::skim::{Input, KeyOf, Opened, Shape, Skim, Sure, Unsure};
use crate::format::tags::{Part, Table};
use std::collections::HashMap;

/// Longest header that is read.
const HEADER: usize = 4096;

pub(super) fn skim(input: Input<'_>) -> Box<dyn Skim + '_> {
    Box::new(Skimmer::new(input, Offsets::default()))
}

#[derive(Debug, Default)]
struct Offsets {
    version: u8,
    /// Offset of the first byte of the body, and its position in the input.
    first: u64,
    start: u64,
    /// For an answer: where its body begins, and the offset of that byte.
    body: usize,
    new_first: u64,
    /// Items in the answer, as old and new offset, in order.
    items: Vec<(u64, u64)>,
    /// The same for strings from outside.
    outside: HashMap<u64, u64>,
}

impl Offsets {
    /// Returns the position of the item with this offset, which must be before `at`.
    fn place(&self, offset: u64, at: u64) -> Sure<u64> {
        let place = offset.checked_sub(self.first).and_then(|by| by.checked_add(self.start));
        place.filter(|place| *place < at).ok_or(Unsure)
    }

    /// Returns the offset in the answer of the item that was at `at`.
    fn moved(&self, at: u64) -> Option<u64> {
        let found = self.items.binary_search_by_key(&at, |item| item.0).ok();
        found.map(|item| self.items[item].1).or_else(|| self.outside.get(&at).copied())
    }
}

/// Returns the offset of the next byte that is written to the answer.
fn new_offset(skimmer: &mut Skimmer<'_, Offsets>) -> Option<u64> {
    let len = skimmer.answer()?.len();
    Some((len - skimmer.format.body) as u64 + skimmer.format.new_first)
}

#[inline]
fn varint(skimmer: &mut Skimmer<'_, Offsets>) -> Sure<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let byte = skimmer.view.byte()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Unsure)
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Writes the string at `place`, which is outside of the answer, in full.
fn write_out(skimmer: &mut Skimmer<'_, Offsets>, place: u64) -> Sure<()> {
    let here = skimmer.view.position();
    skimmer.view.go(place);
    let tag = skimmer.view.byte()? & !TRACK;
    if let Some(offset) = new_offset(skimmer) {
        skimmer.format.outside.insert(place, offset);
    }
    skimmer.emit(&[tag]);
    let [parts @ Part::Text(_)] = tag::TAGS.parts(tag) else { return Err(Unsure) };
    let mark = skimmer.mark();
    skimmer.follow(std::slice::from_ref(parts), tag, mark)?;
    skimmer.view.go(here);
    Ok(())
}

/// Returns the next byte that is not PAD, without the tracking bit.
fn next_tag(skimmer: &mut Skimmer<'_, Offsets>) -> Sure<u8> {
    loop {
        match skimmer.view.byte()? & !TRACK {
            tag::PAD => {}
            tag => return Ok(tag),
        }
    }
}

/// Reads the next string as the key.
fn take_key(skimmer: &mut Skimmer<'_, Offsets>) -> Sure<()> {
    let at = skimmer.view.position();
    let mut tag = next_tag(skimmer)?;
    let mut back = None;
    if tag == tag::COPY {
        let offset = varint(skimmer)?;
        back = Some(skimmer.view.position());
        let place = skimmer.format.place(offset, at)?;
        skimmer.view.go(place);
        tag = skimmer.view.byte()? & !TRACK;
    }
    let len = match tag {
        96..=127 => u64::from(tag & 31),
        tag::BINARY | tag::STR_UTF8 => varint(skimmer)?,
        _ => return Err(Unsure),
    };
    skimmer.key.clear();
    skimmer.view.append(len, &mut skimmer.key)?;
    if let Some(back) = back {
        skimmer.view.go(back);
    }
    Ok(())
}

impl Tokens for Offsets {
    type Options = ReadOptions;
    const FORMAT: &'static Format = &FORMAT;
    const TAGS: &'static Table = &tag::TAGS;
    const IS_FLAT: bool = true;

    fn start(skimmer: &mut Skimmer<'_, Self>) -> Sure<()> {
        let len = usize::try_from(skimmer.view.len()).unwrap_or(usize::MAX);
        let head = skimmer.view.need(len.min(HEADER))?;
        let header = Header::read(&head[..head.len().min(HEADER)], &ReadOptions::default()).map_err(|_| Unsure)?;
        if header.encoding != Encoding::Raw || header.has_user_header {
            return Err(Unsure);
        }
        let format = &mut skimmer.format;
        (format.version, format.first, format.start) = (header.version, header.first(), header.end as u64);
        skimmer.view.go(format.start);
        Ok(())
    }

    fn open(skimmer: &mut Skimmer<'_, Self>) -> Sure<Opened> {
        let mark = skimmer.mark();
        let mut tag = next_tag(skimmer)?;
        let is_object = matches!(tag, tag::OBJECT | tag::OBJECTV);
        if is_object {
            match tag {
                tag::OBJECT => take_key(skimmer)?,
                _ => drop(varint(skimmer)?),
            }
            tag = next_tag(skimmer)?;
        }
        let (shape, count) = match tag {
            64..=79 => (Shape::List, u64::from(tag & 15)),
            80..=95 => (Shape::Map, u64::from(tag & 15)),
            tag::REFN => match next_tag(skimmer)? {
                tag::ARRAY => (Shape::List, varint(skimmer)?),
                tag::HASH => (Shape::Map, varint(skimmer)?),
                _ => return Err(Unsure),
            },
            0..=39 | 52 | 53 | 56..=59 | 96..=127 if !is_object => {
                skimmer.back(mark);
                return Ok(Opened::LEAF);
            }
            _ => return Err(Unsure),
        };
        Ok(Opened::new(shape, Some(count)))
    }

    fn next(skimmer: &mut Skimmer<'_, Self>, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if !open.step() {
            return Ok(None);
        }
        if open.shape == Shape::List {
            return Ok(Some(KeyOf::Item));
        }
        take_key(skimmer)?;
        Ok(Some(KeyOf::Text))
    }

    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> Sure<Vec<u8>> {
        let format = &mut skimmer.format;
        let mut bytes = if format.version < 3 { OLD_MAGIC.to_vec() } else { MAGIC.to_vec() };
        bytes.extend([format.version, 0]);
        format.body = bytes.len();
        format.new_first = if format.version == 1 { bytes.len() as u64 } else { 1 };
        format.items.clear();
        format.outside.clear();
        Ok(bytes)
    }

    fn parts(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<&'static [Part]> {
        if let Some(offset) = new_offset(skimmer) {
            // Something after the answer may refer to it, and bless it.
            if tag & TRACK != 0 {
                return Err(Unsure);
            }
            let at = skimmer.view.position() - 1;
            skimmer.format.items.push((at, offset));
        }
        Ok(tag::TAGS.parts(tag & !TRACK))
    }

    fn count(skimmer: &mut Skimmer<'_, Self>, _: u8) -> Sure<u64> {
        let value = varint(skimmer)?;
        if let Some(bytes) = skimmer.answer() {
            push_varint(bytes, value);
        }
        Ok(value)
    }

    fn integer(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<()> {
        Offsets::count(skimmer, tag).map(drop)
    }

    fn name(_: &mut Skimmer<'_, Self>, _: u8, _: u64) -> Sure<()> {
        Err(Unsure)
    }

    fn again(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> Sure<()> {
        let offset = varint(skimmer)?;
        let place = skimmer.format.place(offset, start)?;
        let moved = skimmer.format.moved(place);
        let Some(bytes) = skimmer.answer() else { return Ok(()) };
        if let Some(moved) = moved {
            bytes.push(tag);
            push_varint(bytes, moved);
            return Ok(());
        }
        match tag & !TRACK {
            tag::COPY => {}
            tag::OBJECTV => bytes.push(tag::OBJECT),
            tag::OBJECTV_FREEZE => bytes.push(tag::OBJECT_FREEZE),
            // The target is outside.
            _ => return Err(Unsure),
        }
        write_out(skimmer, place)
    }

    fn link(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> Sure<()> {
        Offsets::again(skimmer, tag, start)
    }

    fn key(skimmer: &mut Skimmer<'_, Self>, _: Sort) -> Sure<()> {
        skimmer.front()
    }

    fn run(run: &mut Run<'_, Self>, _: Option<i64>) -> (usize, bool) {
        (run::over(run), false)
    }
}
