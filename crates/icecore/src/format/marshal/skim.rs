//! Skimming of a dump.
//!
//! Symbols are kept as they are read, and so are the positions of hash keys and floats, which
//! Ruby links wherever they occur again.

mod run;

use super::number::{is_fixnum, push_long};
use super::{FORMAT, MAJOR, MINOR, ReadOptions, tag};
use crate::format::Format;
use crate::format::skim::tokens::{Run, Skimmer, Sort, Tokens};
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure};
use crate::format::tags::{Count, Part, Table};
use std::collections::HashMap;

/// How many symbols are kept, and how many strings and floats that may be linked.
const SYMBOLS: usize = 1 << 20;
const SIDES: usize = 1 << 20;
/// In [`Opened::note`]: entries with keys, entries with a default value after them, members.
const ENTRIES: u64 = 1;
const DEFAULT: u64 = 2;
const MEMBERS: u64 = 3;
/// What follows an `I` before a `u`, whose number comes after its instance variables; and
/// before a symbol.
const DUMPED: &[Part] = &[Part::Bytes(1), Part::Named, Part::Text(Count::Usual), Part::Members, Part::Number];
const ENCODED_SYMBOL: &[Part] = &[Part::Other];

pub(super) fn skim(input: Input<'_>) -> Box<dyn Skim + '_> {
    Box::new(Skimmer::new(input, Symbols::default()))
}

#[derive(Debug, Default)]
struct Symbols {
    minor: u8,
    /// Offsets and lengths of the names of symbols.
    places: Vec<(u64, u32)>,
    /// Positions of keys and floats, and how many values and symbols came before: they may be
    /// linked without being shared. In the order of their numbers.
    sides: Vec<Mark>,
    /// For an answer: how many of its values have a number, the first number in it, and the
    /// numbers of symbols and of values there.
    count: u64,
    first: u64,
    written: HashMap<u64, u64>,
    numbers: HashMap<u64, u64>,
}

impl Symbols {
    /// Returns the position of the value with this number, if it may be linked like this.
    fn side(&self, number: u64) -> Sure<Mark> {
        let found = self.sides.binary_search_by_key(&number, |side| side.numbers[0]);
        found.ok().and_then(|at| self.sides.get(at).copied()).ok_or(Unsure)
    }

    /// Notes that the value at the mark may be linked later.
    fn note(&mut self, mark: Mark) {
        let is_new = self.sides.last().is_none_or(|last| last.numbers[0] < mark.numbers[0]);
        if is_new && self.sides.len() < SIDES {
            self.sides.push(mark);
        }
    }

    fn place(&self, number: u64) -> Sure<(u64, u32)> {
        usize::try_from(number).ok().and_then(|at| self.places.get(at).copied()).ok_or(Unsure)
    }
}

#[inline]
fn long(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<i64> {
    let head = skimmer.view.byte()? as i8;
    Ok(match head {
        0 => 0,
        5..=127 => i64::from(head) - 5,
        -128..=-5 => i64::from(head) + 5,
        _ => {
            let mut word = [if head < 0 { 0xFF } else { 0 }; 8];
            for byte in word.iter_mut().take(usize::from(head.unsigned_abs())) {
                *byte = skimmer.view.byte()?;
            }
            i64::from_le_bytes(word)
        }
    })
}

#[inline]
fn count(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<u64> {
    u64::try_from(long(skimmer)?).map_err(|_| Unsure)
}

fn emit_tagged(skimmer: &mut Skimmer<'_, Symbols>, tag: u8, number: u64) {
    if let Some(bytes) = skimmer.answer() {
        bytes.push(tag);
        push_long(number as i64, bytes);
    }
}

/// Reads a symbol with its tag; returns its number.
fn symbol(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<u64> {
    let tag = skimmer.view.byte()?;
    match tag::TAGS.parts(tag) {
        [Part::Name] => new_symbol(skimmer),
        [Part::Again] => known_symbol(skimmer),
        // A symbol with an encoding.
        _ => Err(Unsure),
    }
}

fn new_symbol(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<u64> {
    let len = u32::try_from(count(skimmer)?).map_err(|_| Unsure)?;
    let at = skimmer.view.position();
    let known = skimmer.format.places.len() as u64;
    let number = match skimmer.answer().is_some() && skimmer.names < known {
        // It may be before the answer, and is read again.
        true => skimmer.format.places.binary_search_by_key(&at, |place| place.0).map_err(|_| Unsure)? as u64,
        false => skimmer.names,
    };
    if number == known {
        if skimmer.format.places.len() == SYMBOLS {
            return Err(Unsure);
        }
        skimmer.format.places.push((at, len));
    }
    skimmer.names = skimmer.names.max(number + 1);
    write_out(skimmer, number, len)?;
    Ok(number)
}

fn known_symbol(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<u64> {
    let number = count(skimmer)?;
    if number >= skimmer.names {
        return Err(Unsure);
    }
    let (at, len) = skimmer.format.place(number)?;
    if skimmer.answer().is_some() {
        let here = skimmer.view.position();
        skimmer.view.go(at);
        write_out(skimmer, number, len)?;
        skimmer.view.go(here);
    }
    Ok(number)
}

/// Reads the name of a symbol, which is next.
fn write_out(skimmer: &mut Skimmer<'_, Symbols>, number: u64, len: u32) -> Sure<()> {
    if skimmer.answer().is_none() {
        return skimmer.view.advance(u64::from(len));
    }
    if let Some(new) = skimmer.format.written.get(&number).copied() {
        emit_tagged(skimmer, b';', new);
        return skimmer.view.advance(u64::from(len));
    }
    let new = skimmer.format.written.len() as u64;
    skimmer.format.written.insert(number, new);
    emit_tagged(skimmer, b':', u64::from(len));
    skimmer.pass(u64::from(len))
}

/// Uses the text of a symbol as the key.
fn symbol_key(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<()> {
    let number = symbol(skimmer)?;
    let (at, len) = skimmer.format.place(number)?;
    let here = skimmer.view.position();
    skimmer.view.go(at);
    skimmer.key.clear();
    skimmer.view.append(u64::from(len), &mut skimmer.key)?;
    skimmer.view.go(here);
    Ok(())
}

/// Skips a string with only its encoding, or a float: values that are linked without being
/// shared.
fn pass_side(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<()> {
    let tag = skimmer.pass_byte()?;
    let has_encoding = tag == b'I';
    if !matches!(tag, b'f' | b'"' | b'I') || has_encoding && skimmer.pass_byte()? != b'"' {
        return Err(Unsure);
    }
    Symbols::number(skimmer);
    let len = Symbols::count(skimmer, tag)?;
    skimmer.pass(len)?;
    if has_encoding {
        if Symbols::count(skimmer, tag)? != 1 {
            return Err(Unsure);
        }
        encoding(skimmer)?;
    }
    Ok(())
}

/// Reads the instance variable `E` and its value.
fn encoding(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<()> {
    let number = symbol(skimmer)?;
    let (at, len) = skimmer.format.place(number)?;
    let is_known = len == 1 && skimmer.view.copy(at, at + 1)? == b"E";
    if !is_known || !matches!(skimmer.pass_byte()?, b'T' | b'F') {
        return Err(Unsure);
    }
    Ok(())
}

/// Reads the bytes of a string, after its tag, as the key.
fn string_key(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<()> {
    let len = count(skimmer)?;
    skimmer.key.clear();
    skimmer.view.append(len, &mut skimmer.key)
}

/// Reads a key of a hash.
fn next_key(skimmer: &mut Skimmer<'_, Symbols>) -> Sure<KeyOf> {
    let mark = skimmer.mark();
    let tag = skimmer.view.peek()?;
    match tag {
        b':' | b';' => symbol_key(skimmer)?,
        b'i' => {
            skimmer.view.advance(1)?;
            return long(skimmer).map(KeyOf::Int);
        }
        b'"' | b'I' => {
            skimmer.view.advance(1)?;
            skimmer.format.note(mark);
            if tag == b'I' && skimmer.view.byte()? != b'"' {
                return Err(Unsure);
            }
            skimmer.values += 1;
            string_key(skimmer)?;
            if tag == b'I' {
                if count(skimmer)? != 1 {
                    return Err(Unsure);
                }
                encoding(skimmer)?;
            }
        }
        b'@' => {
            skimmer.view.advance(1)?;
            let number = count(skimmer)?;
            let at = skimmer.format.side(number)?.at;
            let here = skimmer.view.position();
            skimmer.view.go(at);
            match skimmer.view.byte()? {
                b'"' => {}
                b'I' => skimmer.view.advance(1)?,
                _ => return Err(Unsure),
            }
            string_key(skimmer)?;
            skimmer.view.go(here);
        }
        // It may be small.
        b'l' => return Err(Unsure),
        _ => {
            skimmer.pass_value()?;
            return Ok(KeyOf::Other);
        }
    }
    Ok(KeyOf::Text)
}

impl Tokens for Symbols {
    type Options = ReadOptions;
    const FORMAT: &'static Format = &FORMAT;
    const TAGS: &'static Table = &tag::TAGS;

    fn start(skimmer: &mut Skimmer<'_, Self>) -> Sure<()> {
        match skimmer.view.array()? {
            [MAJOR, minor @ 0..=MINOR] => {
                skimmer.format.minor = minor;
                Ok(())
            }
            _ => Err(Unsure),
        }
    }

    fn open(skimmer: &mut Skimmer<'_, Self>) -> Sure<Opened> {
        let tag = skimmer.view.peek()?;
        let note = match tag::TAGS.parts(tag) {
            [Part::Number, Part::Items(_)] => 0,
            [Part::Number, Part::Entries(_)] => ENTRIES,
            [Part::Number, Part::Entries(_), Part::Value] => DEFAULT,
            [Part::Number, Part::Named, Part::Members] => MEMBERS,
            [Part::Value, Part::Members] if matches!(skimmer.view.need(2)?.get(1), Some(b'"' | b'/')) => {
                return Ok(Opened::LEAF);
            }
            [Part::Value, ..] | [Part::Named, ..] | [Part::Link] | [Part::Other] => return Err(Unsure),
            _ => return Ok(Opened::LEAF),
        };
        skimmer.view.advance(1)?;
        skimmer.values += 1;
        if note == MEMBERS {
            symbol(skimmer)?;
        }
        let count = count(skimmer)?;
        let shape = if note == 0 { Shape::List } else { Shape::Map };
        Ok(Opened { note, ..Opened::new(shape, Some(count)) })
    }

    fn next(skimmer: &mut Skimmer<'_, Self>, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if !open.step() {
            if open.note == DEFAULT {
                skimmer.pass_value()?;
            }
            return Ok(None);
        }
        Ok(Some(match open.note {
            0 => KeyOf::Item,
            MEMBERS => {
                symbol_key(skimmer)?;
                KeyOf::Text
            }
            _ => next_key(skimmer)?,
        }))
    }

    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> Sure<Vec<u8>> {
        let first = skimmer.values;
        let format = &mut skimmer.format;
        (format.first, format.count) = (first, 0);
        format.written.clear();
        format.numbers.clear();
        Ok(vec![MAJOR, format.minor])
    }

    fn parts(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> Sure<&'static [Part]> {
        match tag {
            b'I' => Ok(match skimmer.view.peek()? {
                b'u' => DUMPED,
                b':' | b';' => ENCODED_SYMBOL,
                _ => tag::TAGS.parts(tag),
            }),
            _ => Ok(tag::TAGS.parts(tag)),
        }
    }

    fn count(skimmer: &mut Skimmer<'_, Self>, _: u8) -> Sure<u64> {
        let count = count(skimmer)?;
        // Not larger than a fixnum, so it was written in its shortest form.
        if count >= 1 << 30 {
            return Err(Unsure);
        }
        if let Some(bytes) = skimmer.answer() {
            push_long(count as i64, bytes);
        }
        Ok(count)
    }

    fn integer(skimmer: &mut Skimmer<'_, Self>, _: u8) -> Sure<()> {
        let value = long(skimmer)?;
        if let Some(bytes) = skimmer.answer() {
            if !is_fixnum(value) {
                return Err(Unsure);
            }
            push_long(value, bytes);
        }
        Ok(())
    }

    fn float(skimmer: &mut Skimmer<'_, Self>, mark: Mark) -> Sure<()> {
        skimmer.format.note(mark);
        let len = Symbols::count(skimmer, b'f')?;
        skimmer.pass(len)
    }

    fn name(skimmer: &mut Skimmer<'_, Self>, _: u8, _: u64) -> Sure<()> {
        new_symbol(skimmer).map(drop)
    }

    fn again(skimmer: &mut Skimmer<'_, Self>, _: u8, _: u64) -> Sure<()> {
        known_symbol(skimmer).map(drop)
    }

    fn named(skimmer: &mut Skimmer<'_, Self>) -> Sure<()> {
        symbol(skimmer).map(drop)
    }

    fn link(skimmer: &mut Skimmer<'_, Self>, tag: u8, _: u64) -> Sure<()> {
        let number = count(skimmer)?;
        if number >= skimmer.values {
            return Err(Unsure);
        }
        if skimmer.answer().is_none() {
            return Ok(());
        }
        if let Some(new) = skimmer.format.numbers.get(&number).copied() {
            emit_tagged(skimmer, tag, new);
            return Ok(());
        }
        if number >= skimmer.format.first {
            return Err(Unsure);
        }
        let side = skimmer.format.side(number)?;
        let here = skimmer.mark();
        // Its own number is that of the mark.
        skimmer.back(side);
        pass_side(skimmer)?;
        skimmer.back(here);
        Ok(())
    }

    fn number(skimmer: &mut Skimmer<'_, Self>) {
        if skimmer.answer().is_some() {
            let format = &mut skimmer.format;
            format.numbers.insert(skimmer.values, format.count);
            format.count += 1;
        }
        skimmer.values += 1;
    }

    fn key(skimmer: &mut Skimmer<'_, Self>, _: Sort) -> Sure<()> {
        if matches!(skimmer.view.peek()?, b'"' | b'I') {
            let mark = skimmer.mark();
            skimmer.format.note(mark);
        }
        skimmer.front()
    }

    fn run(run: &mut Run<'_, Self>, _: Option<i64>) -> (usize, bool) {
        (run::over(run), false)
    }
}
