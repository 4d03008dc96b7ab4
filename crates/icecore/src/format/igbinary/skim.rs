//! Skimming of igbinary.
//!
//! Strings have numbers, which later strings use. The position of every sixteenth string
//! is kept; the others are found from there.

mod run;

use super::{FORMAT, ReadOptions, tag};
use crate::format::Format;
use crate::format::skim::tokens::{Run, Skimmer, Sort, Tokens};
use crate::format::skim::{Input, KeyOf, Opened, Shape, Skim, Sure, Unsure};
use crate::format::tags::{Part, Table};
use std::collections::HashMap;

/// The position of one string in this many is kept.
const EVERY: u64 = 16;
/// How many strings that were looked up are remembered.
const KNOWN: usize = 1024;

pub(super) fn skim(input: Input<'_>) -> Box<dyn Skim + '_> {
    Box::new(Skimmer::new(input, Strings { known: vec![(u64::MAX, 0, 0); KNOWN], ..Strings::default() }))
}

#[derive(Debug, Default)]
struct Strings {
    /// Positions of the tags of every sixteenth string.
    places: Vec<u64>,
    /// Strings that were looked up: number, position and length.
    known: Vec<(u64, u64, u64)>,
    /// How many bytes were scanned to find strings.
    work: u64,
    /// For an answer: the numbers of strings in it, and the first number of a value in
    /// it.
    written: HashMap<u64, u64>,
    first: u64,
}

/// Reads a number of the width that the tag gives.
#[inline]
fn sized(skimmer: &mut Skimmer<'_, Strings>, tag: u8) -> Sure<u64> {
    let view = &mut skimmer.view;
    match width(tag) {
        1 => view.byte().map(u64::from),
        2 => view.array().map(|bytes| u64::from(u16::from_be_bytes(bytes))),
        4 => view.array().map(|bytes| u64::from(u32::from_be_bytes(bytes))),
        _ => view.array().map(u64::from_be_bytes),
    }
}

/// Returns the number of bytes of the number after a tag.
const fn width(tag: u8) -> u8 {
    match tag {
        0x01 | 0x06 | 0x07 | 0x0e | 0x11 | 0x14 | 0x17 | 0x1a | 0x1d | 0x22 => 1,
        0x02 | 0x08 | 0x09 | 0x0f | 0x12 | 0x15 | 0x18 | 0x1b | 0x1e | 0x23 => 2,
        0x03 | 0x0a | 0x0b | 0x10 | 0x13 | 0x16 | 0x19 | 0x1c | 0x1f | 0x24 => 4,
        _ => 8,
    }
}

fn push_sized(bytes: &mut Vec<u8>, first: u8, number: u64) {
    let tag = tag::narrowest(first, number);
    bytes.push(tag);
    let wide = (number as u32).to_be_bytes();
    bytes.extend_from_slice(&wide[4 - (1 << (tag - first))..]);
}

/// Returns the first tag of the row of strings or of class names that this tag belongs
/// to.
fn written_out(tag: u8) -> u8 {
    match tag {
        0x17..=0x1c => tag::OBJECT,
        _ => tag::STRING,
    }
}

/// Returns position and length of the string with this number.
fn string(skimmer: &mut Skimmer<'_, Strings>, number: u64) -> Sure<(u64, u64)> {
    if number >= skimmer.names {
        return Err(Unsure);
    }
    let slot = number as usize % KNOWN;
    if let Some((known, at, len)) = skimmer.format.known.get(slot)
        && *known == number
    {
        return Ok((*at, *len));
    }
    let place = usize::try_from(number / EVERY).ok().and_then(|at| skimmer.format.places.get(at).copied());
    let here = skimmer.view.position();
    skimmer.view.go(place.ok_or(Unsure)?);
    let mut left = number % EVERY;
    let (at, len) = loop {
        let before = skimmer.view.position();
        let tag = skimmer.view.byte()?;
        match tag::TAGS.parts(tag) {
            [Part::Name, ..] => {
                let len = sized(skimmer, tag)?;
                if left == 0 {
                    break (skimmer.view.position(), len);
                }
                left -= 1;
                skimmer.view.advance(len)?;
            }
            parts => pass_front(skimmer, tag, parts)?,
        }
        // After too many lookups, reading the whole document is better.
        skimmer.format.work += skimmer.view.position() - before;
        if skimmer.format.work > (1 << 20) + 4 * skimmer.view.len() {
            return Err(Unsure);
        }
    };
    skimmer.view.go(here);
    if let Some(known) = skimmer.format.known.get_mut(slot) {
        *known = (number, at, len);
    }
    Ok((at, len))
}

/// Skips what follows a tag without a string, up to the next tag.
fn pass_front(skimmer: &mut Skimmer<'_, Strings>, tag: u8, parts: &[Part]) -> Sure<()> {
    for part in parts {
        match part {
            Part::Bytes(count) => skimmer.view.advance(u64::from(*count))?,
            Part::Text(_) => {
                let len = sized(skimmer, tag)?;
                skimmer.view.advance(len)?;
            }
            Part::Integer | Part::Again | Part::Link | Part::Entries(_) => drop(sized(skimmer, tag)?),
            Part::Number | Part::Body | Part::InBody | Part::Named => {}
            _ => return Err(Unsure),
        }
    }
    Ok(())
}

/// Skips a string whose bytes are next, and writes it in full to an answer.
fn write_out(skimmer: &mut Skimmer<'_, Strings>, written: u8, number: u64, len: u64) -> Sure<()> {
    let new = skimmer.format.written.len() as u64;
    if let Some(bytes) = skimmer.answer() {
        if len > u64::from(u32::MAX) {
            return Err(Unsure);
        }
        push_sized(bytes, written, len);
        skimmer.format.written.insert(number, new);
    }
    skimmer.pass(len)
}

impl Tokens for Strings {
    type Options = ReadOptions;
    const FORMAT: &'static Format = &FORMAT;
    const TAGS: &'static Table = &tag::TAGS;
    const SEEKS_INTEGERS: bool = true;

    fn start(skimmer: &mut Skimmer<'_, Self>) -> Sure<()> {
        match skimmer.view.array()? {
            [0, 0, 0, 1 | 2] => Ok(()),
            _ => Err(Unsure),
        }
    }

    fn open(skimmer: &mut Skimmer<'_, Self>) -> Sure<Opened> {
        let mark = skimmer.mark();
        let mut at = mark.at;
        let mut tag = skimmer.view.byte()?;
        if tag == tag::REFERENCE {
            at = skimmer.view.position();
            tag = skimmer.view.byte()?;
        }
        let shape = match tag::TAGS.parts(tag) {
            [Part::Link] => return Err(Unsure),
            [Part::Number, Part::Entries(_)] => Shape::Either,
            [part @ (Part::Name | Part::Again), .., Part::Body] => {
                match part {
                    Part::Name => Strings::name(skimmer, tag, at)?,
                    _ => Strings::again(skimmer, tag, at)?,
                }
                tag = skimmer.view.byte()?;
                match tag::TAGS.parts(tag) {
                    [Part::Number, Part::Entries(_)] => Shape::Map,
                    _ => return Err(Unsure),
                }
            }
            _ => {
                skimmer.back(mark);
                return Ok(Opened::LEAF);
            }
        };
        skimmer.values += 1;
        let count = sized(skimmer, tag)?;
        Ok(Opened::new(shape, Some(count)))
    }

    fn next(skimmer: &mut Skimmer<'_, Self>, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if !open.step() {
            return Ok(None);
        }
        let at = skimmer.view.position();
        let tag = skimmer.view.byte()?;
        skimmer.key.clear();
        match tag::TAGS.parts(tag) {
            [] if tag == tag::EMPTY => {}
            [Part::Again] => {
                let number = sized(skimmer, tag)?;
                let (at, len) = string(skimmer, number)?;
                let here = skimmer.view.position();
                skimmer.view.go(at);
                skimmer.view.append(len, &mut skimmer.key)?;
                skimmer.view.go(here);
            }
            [Part::Name] => {
                let len = sized(skimmer, tag)?;
                skimmer.format.note(at, &mut skimmer.names);
                skimmer.view.append(len, &mut skimmer.key)?;
            }
            [Part::Integer] => {
                let mut head = [tag, 0, 0, 0, 0, 0, 0, 0, 0];
                for byte in head.iter_mut().skip(1).take(usize::from(width(tag))) {
                    *byte = skimmer.view.byte()?;
                }
                return int(&head).map(|number| Some(KeyOf::Int(number))).ok_or(Unsure);
            }
            // An omitted entry has no value.
            _ => return Err(Unsure),
        }
        Ok(Some(KeyOf::Text))
    }

    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> Sure<Vec<u8>> {
        skimmer.format.written.clear();
        skimmer.format.first = skimmer.values;
        Ok(vec![0, 0, 0, 2])
    }

    fn count(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<u64> {
        let count = sized(skimmer, tag)?;
        skimmer.emit(&count.to_be_bytes()[8 - usize::from(width(tag))..]);
        Ok(count)
    }

    fn integer(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<()> {
        skimmer.pass(u64::from(width(tag)))
    }

    fn name(skimmer: &mut Skimmer<'_, Self>, tag: u8, start: u64) -> Sure<()> {
        let len = sized(skimmer, tag)?;
        let number = skimmer.names;
        skimmer.format.note(start, &mut skimmer.names);
        write_out(skimmer, written_out(tag), number, len)
    }

    fn again(skimmer: &mut Skimmer<'_, Self>, tag: u8, _: u64) -> Sure<()> {
        let number = sized(skimmer, tag)?;
        if number >= skimmer.names {
            return Err(Unsure);
        }
        let known = skimmer.format.written.get(&number).copied();
        let Some(bytes) = skimmer.answer() else { return Ok(()) };
        let written = written_out(tag);
        if let Some(new) = known {
            push_sized(bytes, if written == tag::OBJECT { tag::OBJECT_ID } else { tag::STRING_ID }, new);
            return Ok(());
        }
        let (at, len) = string(skimmer, number)?;
        let here = skimmer.view.position();
        skimmer.view.go(at);
        write_out(skimmer, written, number, len)?;
        skimmer.view.go(here);
        Ok(())
    }

    fn link(skimmer: &mut Skimmer<'_, Self>, tag: u8, _: u64) -> Sure<()> {
        let number = sized(skimmer, tag)?;
        let first = skimmer.format.first;
        if let Some(bytes) = skimmer.answer() {
            let row = if tag < tag::OBJECT_REF { tag::ARRAY_REF } else { tag::OBJECT_REF };
            push_sized(bytes, row, number.checked_sub(first).ok_or(Unsure)?);
        }
        Ok(())
    }

    fn named(skimmer: &mut Skimmer<'_, Self>) -> Sure<()> {
        let at = skimmer.view.position();
        let tag = skimmer.view.byte()?;
        match tag::TAGS.parts(tag) {
            [Part::Name] => Strings::name(skimmer, tag, at),
            [Part::Again] => Strings::again(skimmer, tag, at),
            [] if tag == tag::EMPTY => {
                skimmer.emit(&[tag]);
                Ok(())
            }
            _ => Err(Unsure),
        }
    }

    fn body(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<()> {
        if tag == tag::REFERENCE {
            let is_leaf = match tag::TAGS.parts(skimmer.view.peek()?) {
                [Part::Body] => return Err(Unsure),
                parts => !parts.iter().any(|part| matches!(part, Part::Number | Part::Link)),
            };
            skimmer.front()?;
            skimmer.values += u64::from(is_leaf);
            return Ok(());
        }
        let mark = skimmer.mark();
        let tag = skimmer.view.byte()?;
        skimmer.emit(&[tag]);
        match tag::TAGS.parts(tag) {
            // The object already has a number.
            [Part::Number, parts @ ..] | [Part::InBody, parts @ ..] => skimmer.follow(parts, tag, mark).map(drop),
            _ => Err(Unsure),
        }
    }

    fn key(skimmer: &mut Skimmer<'_, Self>, _: Sort) -> Sure<()> {
        let tag = skimmer.view.peek()?;
        match tag::TAGS.parts(tag) {
            [Part::Integer] => skimmer.front(),
            _ => Strings::named(skimmer),
        }
    }

    fn run(run: &mut Run<'_, Self>, sought: Option<i64>) -> (usize, bool) {
        run::over(run, sought)
    }
}

/// Returns the integer of a token, if it is one.
fn int(head: &[u8; 9]) -> Option<i64> {
    let size = tag::int_size(head[0])?;
    let magnitude = u64::from_be_bytes(*head.last_chunk()?) >> (64 - 8 * size);
    match head[0] & 1 {
        1 => 0i64.checked_sub_unsigned(magnitude),
        _ => i64::try_from(magnitude).ok(),
    }
}

impl Strings {
    /// Gives the next number to the string whose tag is here.
    #[inline(always)]
    fn note(&mut self, at: u64, names: &mut u64) {
        if names.is_multiple_of(EVERY) && self.places.len() as u64 == *names / EVERY {
            self.places.push(at);
        }
        *names += 1;
    }
}
