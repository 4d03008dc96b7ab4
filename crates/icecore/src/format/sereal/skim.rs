//! Skimming of Sereal: only bodies that are not compressed.
//!
//! Offsets change in an answer, and a string that a COPY takes from outside is written in
//! full.

mod run;

use super::header::{Encoding, Header, MAGIC, OLD_MAGIC};
use super::tag::{self, TRACK};
use super::{FORMAT, ReadOptions};
use crate::format::Format;
use crate::format::skim::tokens::{FrameContent, Run, Skimmer, Tokens};
use crate::format::skim::{Input, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind};
use crate::format::tags::{Part, Table};
use std::collections::HashMap;

/// Maximum length of a header that is read.
const MAX_HEADER_LEN: usize = 4096;

pub(super) fn skim(input: Input<'_>) -> Box<dyn Skim + '_> {
    Box::new(Skimmer::new(input, Offsets::default()))
}

#[derive(Debug, Default)]
struct Offsets {
    version: u8,
    /// Offset of the first byte of the body, and its position in the input.
    first_offset: u64,
    start: u64,
    /// For an answer: where its body begins, and the offset of that byte.
    body: usize,
    new_first: u64,
    /// Items in the answer, as old and new offset, in order.
    items: Vec<(u64, u64)>,
    /// Like `items`, for strings from outside.
    outside: HashMap<u64, u64>,
}

impl Offsets {
    /// Returns the position of the item with this offset. It must be before `limit`.
    fn position_of_offset(&self, offset: u64, limit: u64) -> SkimResult<u64> {
        let place = offset.checked_sub(self.first_offset).and_then(|distance| distance.checked_add(self.start));
        place.filter(|place| *place < limit).ok_or(SkimAborted)
    }

    /// Returns the offset in the answer of the item that was at `position`.
    fn offset_in_answer(&self, position: u64) -> Option<u64> {
        let found = self.items.binary_search_by_key(&position, |item| item.0).ok();
        found.map(|item| self.items[item].1).or_else(|| self.outside.get(&position).copied())
    }
}

/// Returns the offset of the next byte that is written to the answer.
fn next_answer_offset(skimmer: &mut Skimmer<'_, Offsets>) -> Option<u64> {
    let len = skimmer.answer_bytes()?.len();
    Some((len - skimmer.format.body) as u64 + skimmer.format.new_first)
}

#[inline]
fn read_varint(skimmer: &mut Skimmer<'_, Offsets>) -> SkimResult<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let byte = skimmer.view.read_byte()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(SkimAborted)
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Writes the string at `place`, which is outside of the answer, in full.
fn write_string_in_full(skimmer: &mut Skimmer<'_, Offsets>, place: u64) -> SkimResult<()> {
    let resume_position = skimmer.view.position();
    skimmer.view.seek_to(place);
    let tag = skimmer.view.read_byte()? & !TRACK;
    if let Some(offset) = next_answer_offset(skimmer) {
        skimmer.format.outside.insert(place, offset);
    }
    skimmer.emit_bytes(&[tag]);
    let [parts @ Part::Text(_)] = tag::TAGS.parts_of_tag(tag) else { return Err(SkimAborted) };
    let mark = skimmer.mark_position();
    skimmer.pass_parts(std::slice::from_ref(parts), tag, mark)?;
    skimmer.view.seek_to(resume_position);
    Ok(())
}

/// Returns the next byte that is not PAD, without the tracking bit.
fn next_tag(skimmer: &mut Skimmer<'_, Offsets>) -> SkimResult<u8> {
    loop {
        match skimmer.view.read_byte()? & !TRACK {
            tag::PAD => {}
            tag => return Ok(tag),
        }
    }
}

/// Reads the next string as the key.
fn take_key(skimmer: &mut Skimmer<'_, Offsets>) -> SkimResult<()> {
    let position = skimmer.view.position();
    let mut tag = next_tag(skimmer)?;
    let mut back = None;
    if tag == tag::COPY {
        let offset = read_varint(skimmer)?;
        back = Some(skimmer.view.position());
        let place = skimmer.format.position_of_offset(offset, position)?;
        skimmer.view.seek_to(place);
        tag = skimmer.view.read_byte()? & !TRACK;
    }
    let len = match tag {
        96..=127 => u64::from(tag & 31),
        tag::BINARY | tag::STR_UTF8 => read_varint(skimmer)?,
        _ => return Err(SkimAborted),
    };
    skimmer.key.clear();
    skimmer.view.read_into(len, &mut skimmer.key)?;
    if let Some(back) = back {
        skimmer.view.seek_to(back);
    }
    Ok(())
}

impl Tokens for Offsets {
    type Options = ReadOptions;
    const FORMAT: &'static Format = &FORMAT;
    const TAGS: &'static Table = &tag::TAGS;
    const IS_FLAT: bool = true;

    fn enter_root(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<()> {
        let len = usize::try_from(skimmer.view.len()).unwrap_or(usize::MAX);
        let head = skimmer.view.require_bytes(len.min(MAX_HEADER_LEN))?;
        let header =
            Header::read(&head[..head.len().min(MAX_HEADER_LEN)], &ReadOptions::default()).map_err(|_| SkimAborted)?;
        if header.encoding != Encoding::Raw || header.has_user_header {
            return Err(SkimAborted);
        }
        let format = &mut skimmer.format;
        (format.version, format.first_offset, format.start) =
            (header.version, header.first_offset(), header.end as u64);
        skimmer.view.seek_to(format.start);
        Ok(())
    }

    fn enter_value(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<SkimmedContainer> {
        let mark = skimmer.mark_position();
        let mut tag = next_tag(skimmer)?;
        let is_object = matches!(tag, tag::OBJECT | tag::OBJECTV);
        if is_object {
            match tag {
                tag::OBJECT => take_key(skimmer)?,
                _ => drop(read_varint(skimmer)?),
            }
            tag = next_tag(skimmer)?;
        }
        let (kind, count) = match tag {
            64..=79 => (SkimmedKind::List, u64::from(tag & 15)),
            80..=95 => (SkimmedKind::Map, u64::from(tag & 15)),
            tag::REFN => match next_tag(skimmer)? {
                tag::ARRAY => (SkimmedKind::List, read_varint(skimmer)?),
                tag::HASH => (SkimmedKind::Map, read_varint(skimmer)?),
                _ => return Err(SkimAborted),
            },
            0..=39 | 52 | 53 | 56..=59 | 96..=127 if !is_object => {
                skimmer.return_to(mark);
                return Ok(SkimmedContainer::LEAF);
            }
            _ => return Err(SkimAborted),
        };
        Ok(SkimmedContainer::new(kind, Some(count)))
    }

    fn next_value(skimmer: &mut Skimmer<'_, Self>, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>> {
        if !open.take_next_item() {
            return Ok(None);
        }
        if open.kind == SkimmedKind::List {
            return Ok(Some(SkimmedKey::Item));
        }
        take_key(skimmer)?;
        Ok(Some(SkimmedKey::Text))
    }

    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<Vec<u8>> {
        let format = &mut skimmer.format;
        let mut bytes = if format.version < 3 { OLD_MAGIC.to_vec() } else { MAGIC.to_vec() };
        bytes.extend([format.version, 0]);
        format.body = bytes.len();
        format.new_first = if format.version == 1 { bytes.len() as u64 } else { 1 };
        format.items.clear();
        format.outside.clear();
        Ok(bytes)
    }

    fn parts_of_tag(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<&'static [Part]> {
        if let Some(offset) = next_answer_offset(skimmer) {
            // Something after the answer may refer to it, and bless it.
            if tag & TRACK != 0 {
                return Err(SkimAborted);
            }
            let position = skimmer.view.position() - 1;
            skimmer.format.items.push((position, offset));
        }
        Ok(tag::TAGS.parts_of_tag(tag & !TRACK))
    }

    fn read_count(skimmer: &mut Skimmer<'_, Self>, _: u8) -> SkimResult<u64> {
        let value = read_varint(skimmer)?;
        if let Some(bytes) = skimmer.answer_bytes() {
            push_varint(bytes, value);
        }
        Ok(value)
    }

    fn read_integer(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<()> {
        Offsets::read_count(skimmer, tag).map(drop)
    }

    fn read_name(_: &mut Skimmer<'_, Self>, _: u8, _: u64) -> SkimResult<()> {
        Err(SkimAborted)
    }

    fn read_name_number(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> SkimResult<()> {
        let offset = read_varint(skimmer)?;
        let place = skimmer.format.position_of_offset(offset, start)?;
        let moved = skimmer.format.offset_in_answer(place);
        let Some(bytes) = skimmer.answer_bytes() else { return Ok(()) };
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
            _ => return Err(SkimAborted),
        }
        write_string_in_full(skimmer, place)
    }

    fn read_link(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> SkimResult<()> {
        Offsets::read_name_number(skimmer, tag, start)
    }

    fn read_key(skimmer: &mut Skimmer<'_, Self>, _: FrameContent) -> SkimResult<()> {
        skimmer.pass_value_beginning()
    }

    fn run_fast_loop(run: &mut Run<'_, Self>, _: Option<i64>) -> (usize, bool) {
        (run::skip_run(run), false)
    }
}
