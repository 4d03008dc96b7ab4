//! Skimming of igbinary.
//!
//! A repeated string is only a number, so the skimmer must find a string by its number. It keeps the position of
//! every sixteenth string. To find another one, it scans the bytes after the nearest kept position.

mod run;

use super::{FORMAT, ReadOptions, tag};
use crate::format::Format;
use crate::format::skim::tokens::{FrameContent, Run, Skimmer, Tokens};
use crate::format::skim::{Input, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind};
use crate::format::tags::{Part, Table};
use std::collections::HashMap;

/// Distance between the numbers of strings whose positions are kept.
const STRING_INTERVAL: u64 = 16;
/// Number of looked-up strings that are remembered.
const MAX_KNOWN: usize = 1024;

pub(super) fn create_skimmer(input: Input<'_>) -> Box<dyn Skim + '_> {
    Box::new(Skimmer::new(
        input,
        StringPositions {
            looked_up: vec![KnownString { number: u64::MAX, offset: 0, len: 0 }; MAX_KNOWN],
            ..StringPositions::default()
        },
    ))
}

/// A string that was looked up.
#[derive(Clone, Debug)]
struct KnownString {
    number: u64,
    offset: u64,
    len: u64,
}

#[derive(Debug, Default)]
struct StringPositions {
    /// Positions of the tags of every sixteenth string.
    tag_samples: Vec<u64>,
    /// Strings that were looked up.
    looked_up: Vec<KnownString>,
    /// Number of bytes that were scanned to find strings.
    scanned_bytes: u64,
    /// Numbers of the strings that were written to the answer: the key is the number in the input, the value the number
    /// in the answer.
    numbers_in_answer: HashMap<u64, u64>,
    /// Number that the first value of the answer has in the input.
    first_value_number: u64,
}

/// Reads the number after a tag. The tag determines its width.
#[inline]
fn read_number(skimmer: &mut Skimmer<'_, StringPositions>, tag: u8) -> SkimResult<u64> {
    let view = &mut skimmer.view;
    match number_width(tag) {
        1 => view.read_byte().map(u64::from),
        2 => view.read_array().map(|bytes| u64::from(u16::from_be_bytes(bytes))),
        4 => view.read_array().map(|bytes| u64::from(u32::from_be_bytes(bytes))),
        _ => view.read_array().map(u64::from_be_bytes),
    }
}

/// Returns the number of bytes of the number after a tag.
const fn number_width(tag: u8) -> u8 {
    match tag {
        0x01 | 0x06 | 0x07 | 0x0e | 0x11 | 0x14 | 0x17 | 0x1a | 0x1d | 0x22 => 1,
        0x02 | 0x08 | 0x09 | 0x0f | 0x12 | 0x15 | 0x18 | 0x1b | 0x1e | 0x23 => 2,
        0x03 | 0x0a | 0x0b | 0x10 | 0x13 | 0x16 | 0x19 | 0x1c | 0x1f | 0x24 => 4,
        _ => 8,
    }
}

/// Writes the narrowest tag for a number, and the number. `first_tag` is the tag for numbers of one byte.
fn push_number(bytes: &mut Vec<u8>, first_tag: u8, number: u64) {
    let tag = tag::narrowest_for(first_tag, number);
    bytes.push(tag);
    let wide = (number as u32).to_be_bytes();
    bytes.extend_from_slice(&wide[4 - (1 << (tag - first_tag))..]);
}

/// Returns the tag of a short string that is written in full: of a class name if `tag` is for a class name, otherwise of
/// any other string.
fn full_string_tag(tag: u8) -> u8 {
    match tag {
        0x17..=0x1c => tag::OBJECT,
        _ => tag::STRING,
    }
}

/// Returns position and length of the string with this number.
fn find_string(skimmer: &mut Skimmer<'_, StringPositions>, number: u64) -> SkimResult<(u64, u64)> {
    if number >= skimmer.name_count {
        return Err(SkimAborted);
    }
    let slot = number as usize % MAX_KNOWN;
    if let Some(known) = skimmer.format.looked_up.get(slot)
        && known.number == number
    {
        return Ok((known.offset, known.len));
    }
    let place =
        usize::try_from(number / STRING_INTERVAL).ok().and_then(|index| skimmer.format.tag_samples.get(index).copied());
    let saved_position = skimmer.view.position();
    skimmer.view.seek_to(place.ok_or(SkimAborted)?);
    let mut remaining = number % STRING_INTERVAL;
    let (offset, len) = loop {
        let before = skimmer.view.position();
        let tag = skimmer.view.read_byte()?;
        match tag::TAGS.parts_of_tag(tag) {
            [Part::Name, ..] => {
                let len = read_number(skimmer, tag)?;
                if remaining == 0 {
                    break (skimmer.view.position(), len);
                }
                remaining -= 1;
                skimmer.view.advance(len)?;
            }
            parts => skip_parts(skimmer, tag, parts)?,
        }
        // Each lookup scans bytes again. If the lookups scan much more than the document has, it is faster to read
        // it.
        skimmer.format.scanned_bytes += skimmer.view.position() - before;
        if skimmer.format.scanned_bytes > (1 << 20) + 4 * skimmer.view.len() {
            return Err(SkimAborted);
        }
    };
    skimmer.view.seek_to(saved_position);
    if let Some(known) = skimmer.format.looked_up.get_mut(slot) {
        *known = KnownString { number, offset, len };
    }
    Ok((offset, len))
}

/// Skips what follows a tag without a string, up to the next tag.
fn skip_parts(skimmer: &mut Skimmer<'_, StringPositions>, tag: u8, parts: &[Part]) -> SkimResult<()> {
    for part in parts {
        match part {
            Part::Bytes(count) => skimmer.view.advance(u64::from(*count))?,
            Part::Text(_) => {
                let len = read_number(skimmer, tag)?;
                skimmer.view.advance(len)?;
            }
            Part::Integer | Part::Again | Part::Link | Part::Entries(_) => drop(read_number(skimmer, tag)?),
            Part::Number | Part::Body | Part::InBody | Part::Named => {}
            _ => return Err(SkimAborted),
        }
    }
    Ok(())
}

/// Skips a string whose bytes are next, and writes it in full to an answer.
fn copy_full_string(
    skimmer: &mut Skimmer<'_, StringPositions>,
    first_tag: u8,
    number: u64,
    len: u64,
) -> SkimResult<()> {
    let number_in_answer = skimmer.format.numbers_in_answer.len() as u64;
    if let Some(bytes) = skimmer.answer_bytes() {
        if len > u64::from(u32::MAX) {
            return Err(SkimAborted);
        }
        push_number(bytes, first_tag, len);
        skimmer.format.numbers_in_answer.insert(number, number_in_answer);
    }
    skimmer.pass_bytes(len)
}

impl Tokens for StringPositions {
    type Options = ReadOptions;
    const FORMAT: &'static Format = &FORMAT;
    const TAGS: &'static Table = &tag::TAGS;
    const SEEKS_INTEGERS: bool = true;

    fn enter_root(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<()> {
        match skimmer.view.read_array()? {
            [0, 0, 0, 1 | 2] => Ok(()),
            _ => Err(SkimAborted),
        }
    }

    fn enter_value(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<SkimmedContainer> {
        let mark = skimmer.mark_position();
        let mut offset = mark.offset;
        let mut tag = skimmer.view.read_byte()?;
        if tag == tag::REFERENCE {
            offset = skimmer.view.position();
            tag = skimmer.view.read_byte()?;
        }
        let kind = match tag::TAGS.parts_of_tag(tag) {
            [Part::Link] => return Err(SkimAborted),
            [Part::Number, Part::Entries(_)] => SkimmedKind::Either,
            [part @ (Part::Name | Part::Again), .., Part::Body] => {
                match part {
                    Part::Name => StringPositions::read_name(skimmer, tag, offset)?,
                    _ => StringPositions::read_name_number(skimmer, tag, offset)?,
                }
                tag = skimmer.view.read_byte()?;
                match tag::TAGS.parts_of_tag(tag) {
                    [Part::Number, Part::Entries(_)] => SkimmedKind::Map,
                    _ => return Err(SkimAborted),
                }
            }
            _ => {
                skimmer.return_to(mark);
                return Ok(SkimmedContainer::LEAF);
            }
        };
        skimmer.value_count += 1;
        let count = read_number(skimmer, tag)?;
        Ok(SkimmedContainer::new(kind, Some(count)))
    }

    fn next_value(skimmer: &mut Skimmer<'_, Self>, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>> {
        if !open.take_next_item() {
            return Ok(None);
        }
        let start = skimmer.view.position();
        let tag = skimmer.view.read_byte()?;
        skimmer.key.clear();
        match tag::TAGS.parts_of_tag(tag) {
            [] if tag == tag::EMPTY => {}
            [Part::Again] => {
                let number = read_number(skimmer, tag)?;
                let (string_offset, len) = find_string(skimmer, number)?;
                let saved_position = skimmer.view.position();
                skimmer.view.seek_to(string_offset);
                skimmer.view.read_into(len, &mut skimmer.key)?;
                skimmer.view.seek_to(saved_position);
            }
            [Part::Name] => {
                let len = read_number(skimmer, tag)?;
                skimmer.format.number_string(start, &mut skimmer.name_count);
                skimmer.view.read_into(len, &mut skimmer.key)?;
            }
            [Part::Integer] => {
                let mut head = [tag, 0, 0, 0, 0, 0, 0, 0, 0];
                for byte in head.iter_mut().skip(1).take(usize::from(number_width(tag))) {
                    *byte = skimmer.view.read_byte()?;
                }
                return decode_integer(&head).map(|number| Some(SkimmedKey::Int(number))).ok_or(SkimAborted);
            }
            // A null in the place of a key is an entry without a value. Only the reader handles it.
            _ => return Err(SkimAborted),
        }
        Ok(Some(SkimmedKey::Text))
    }

    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<Vec<u8>> {
        skimmer.format.numbers_in_answer.clear();
        skimmer.format.first_value_number = skimmer.value_count;
        Ok(vec![0, 0, 0, 2])
    }

    fn read_count(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<u64> {
        let count = read_number(skimmer, tag)?;
        skimmer.emit_bytes(&count.to_be_bytes()[8 - usize::from(number_width(tag))..]);
        Ok(count)
    }

    fn read_integer(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<()> {
        skimmer.pass_bytes(u64::from(number_width(tag)))
    }

    fn read_name(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> SkimResult<()> {
        let len = read_number(skimmer, tag)?;
        let number = skimmer.name_count;
        skimmer.format.number_string(start, &mut skimmer.name_count);
        copy_full_string(skimmer, full_string_tag(tag), number, len)
    }

    fn read_name_number(skimmer: &mut Skimmer<'_, Self>, tag: u8, _: u64) -> SkimResult<()> {
        let number = read_number(skimmer, tag)?;
        if number >= skimmer.name_count {
            return Err(SkimAborted);
        }
        let number_in_answer = skimmer.format.numbers_in_answer.get(&number).copied();
        let Some(bytes) = skimmer.answer_bytes() else { return Ok(()) };
        let first_tag = full_string_tag(tag);
        if let Some(new_number) = number_in_answer {
            push_number(bytes, if first_tag == tag::OBJECT { tag::OBJECT_ID } else { tag::STRING_ID }, new_number);
            return Ok(());
        }
        let (string_offset, len) = find_string(skimmer, number)?;
        let saved_position = skimmer.view.position();
        skimmer.view.seek_to(string_offset);
        copy_full_string(skimmer, first_tag, number, len)?;
        skimmer.view.seek_to(saved_position);
        Ok(())
    }

    fn read_link(skimmer: &mut Skimmer<'_, Self>, tag: u8, _: u64) -> SkimResult<()> {
        let number = read_number(skimmer, tag)?;
        let first = skimmer.format.first_value_number;
        if let Some(bytes) = skimmer.answer_bytes() {
            let row = if tag < tag::OBJECT_REF { tag::ARRAY_REF } else { tag::OBJECT_REF };
            push_number(bytes, row, number.checked_sub(first).ok_or(SkimAborted)?);
        }
        Ok(())
    }

    fn read_name_token(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<()> {
        let offset = skimmer.view.position();
        let tag = skimmer.view.read_byte()?;
        match tag::TAGS.parts_of_tag(tag) {
            [Part::Name] => StringPositions::read_name(skimmer, tag, offset),
            [Part::Again] => StringPositions::read_name_number(skimmer, tag, offset),
            [] if tag == tag::EMPTY => {
                skimmer.emit_bytes(&[tag]);
                Ok(())
            }
            _ => Err(SkimAborted),
        }
    }

    fn read_body(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<()> {
        if tag == tag::REFERENCE {
            let is_leaf = match tag::TAGS.parts_of_tag(skimmer.view.peek()?) {
                [Part::Body] => return Err(SkimAborted),
                parts => !parts.iter().any(|part| matches!(part, Part::Number | Part::Link)),
            };
            skimmer.pass_value_beginning()?;
            skimmer.value_count += u64::from(is_leaf);
            return Ok(());
        }
        let mark = skimmer.mark_position();
        let tag = skimmer.view.read_byte()?;
        skimmer.emit_bytes(&[tag]);
        match tag::TAGS.parts_of_tag(tag) {
            // The object and its body have one number together, and it was already assigned.
            [Part::Number, parts @ ..] | [Part::InBody, parts @ ..] => skimmer.pass_parts(parts, tag, mark).map(drop),
            _ => Err(SkimAborted),
        }
    }

    fn read_key(skimmer: &mut Skimmer<'_, Self>, _: FrameContent) -> SkimResult<()> {
        let tag = skimmer.view.peek()?;
        match tag::TAGS.parts_of_tag(tag) {
            [Part::Integer] => skimmer.pass_value_beginning(),
            _ => StringPositions::read_name_token(skimmer),
        }
    }

    fn run_fast_loop(run: &mut Run<'_, Self>, sought: Option<i64>) -> (usize, bool) {
        run::skip_entries(run, sought)
    }
}

/// Returns the integer of a token, if it is one.
fn decode_integer(head: &[u8; 9]) -> Option<i64> {
    let size = tag::integer_size(head[0])?;
    let magnitude = u64::from_be_bytes(*head.last_chunk()?) >> (64 - 8 * size);
    match head[0] & 1 {
        1 => 0i64.checked_sub_unsigned(magnitude),
        _ => i64::try_from(magnitude).ok(),
    }
}

impl StringPositions {
    /// Assigns the next number to the string whose tag is at `offset`.
    #[inline(always)]
    fn number_string(&mut self, offset: u64, name_count: &mut u64) {
        if name_count.is_multiple_of(STRING_INTERVAL) && self.tag_samples.len() as u64 == *name_count / STRING_INTERVAL
        {
            self.tag_samples.push(offset);
        }
        *name_count += 1;
    }
}
