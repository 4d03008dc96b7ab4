//! Skimming of a dump.
//!
//! The skimmer keeps the symbols that it reads, because later ones are only numbers. It also keeps the positions of
//! hash keys and floats, because Ruby writes a link wherever one of them occurs again.

mod run;

use super::number::{is_fixnum, push_integer};
use super::{FORMAT, MAJOR, MINOR, ReadOptions, tag};
use crate::format::Format;
use crate::format::skim::tokens::{FrameContent, Run, Skimmer, Tokens};
use crate::format::skim::{Input, Mark, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind};
use crate::format::tags::{Count, Part, Table};
use std::collections::HashMap;

/// Number of symbols that are kept, and of strings and floats that may be linked.
const MAX_SYMBOLS: usize = 1 << 20;
const MAX_LINKABLE_VALUES: usize = 1 << 20;
/// Values of [`SkimmedContainer::skimmer_data`]: entries with keys, entries with a default value after them, members.
const ENTRIES: u64 = 1;
const DEFAULT: u64 = 2;
const MEMBERS: u64 = 3;
/// The parts after the tag `I` if the next tag is `u`, and if it is the tag of a symbol. A value with `u` gets its
/// number only after its instance variables.
const DUMPED: &[Part] = &[Part::Bytes(1), Part::Named, Part::Text(Count::Usual), Part::Members, Part::Number];
const ENCODED_SYMBOL: &[Part] = &[Part::Other];

pub(super) fn make_skimmer(input: Input<'_>) -> Box<dyn Skim + '_> {
    Box::new(Skimmer::new(input, SkimState::default()))
}

#[derive(Debug, Default)]
struct SkimState {
    minor: u8,
    /// Offsets and lengths of the names of symbols.
    symbol_names: Vec<(u64, u32)>,
    /// The marks of hash keys and floats, in ascending order of their value numbers. Ruby writes a link to such a value
    /// even if the program does not share it.
    linkable_values: Vec<Mark>,
    /// For an answer: how many of its values have a number so far.
    answer_value_count: u64,
    /// For an answer: the first number in it.
    first_number: u64,
    /// For an answer: the new number of each symbol in it.
    symbol_numbers: HashMap<u64, u64>,
    /// For an answer: the new number of each value in it.
    value_numbers: HashMap<u64, u64>,
}

impl SkimState {
    /// Returns the mark of the hash key or float with this number.
    fn find_linkable(&self, number: u64) -> SkimResult<Mark> {
        let found = self.linkable_values.binary_search_by_key(&number, |linkable| linkable.numbers[0]);
        found.ok().and_then(|index| self.linkable_values.get(index).copied()).ok_or(SkimAborted)
    }

    /// Records that a hash key or float is at the mark: it may be linked later.
    fn record_linkable(&mut self, mark: Mark) {
        let is_new = self.linkable_values.last().is_none_or(|last| last.numbers[0] < mark.numbers[0]);
        if is_new && self.linkable_values.len() < MAX_LINKABLE_VALUES {
            self.linkable_values.push(mark);
        }
    }

    fn symbol_place(&self, number: u64) -> SkimResult<(u64, u32)> {
        usize::try_from(number).ok().and_then(|index| self.symbol_names.get(index).copied()).ok_or(SkimAborted)
    }
}

#[inline]
fn read_integer(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<i64> {
    let head = skimmer.view.read_byte()? as i8;
    Ok(match head {
        0 => 0,
        5..=127 => i64::from(head) - 5,
        -128..=-5 => i64::from(head) + 5,
        _ => {
            let mut word = [if head < 0 { 0xFF } else { 0 }; 8];
            for byte in word.iter_mut().take(usize::from(head.unsigned_abs())) {
                *byte = skimmer.view.read_byte()?;
            }
            i64::from_le_bytes(word)
        }
    })
}

#[inline]
fn read_count(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<u64> {
    u64::try_from(read_integer(skimmer)?).map_err(|_| SkimAborted)
}

fn emit_tagged(skimmer: &mut Skimmer<'_, SkimState>, tag: u8, number: u64) {
    if let Some(bytes) = skimmer.answer_bytes() {
        bytes.push(tag);
        push_integer(number as i64, bytes);
    }
}

/// Reads a symbol with its tag; returns its number.
fn read_symbol(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<u64> {
    let tag = skimmer.view.read_byte()?;
    match tag::TAGS.parts_of_tag(tag) {
        [Part::Name] => read_new_symbol(skimmer),
        [Part::Again] => read_known_symbol(skimmer),
        // A symbol with an encoding is left to the reader.
        _ => Err(SkimAborted),
    }
}

fn read_new_symbol(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<u64> {
    let len = u32::try_from(read_count(skimmer)?).map_err(|_| SkimAborted)?;
    let name_position = skimmer.view.position();
    let known = skimmer.format.symbol_names.len() as u64;
    let number = match skimmer.answer_bytes().is_some() && skimmer.name_count < known {
        // The skimmer went back to copy a value, and meets a symbol that it already keeps: its position shows which.
        true => skimmer
            .format
            .symbol_names
            .binary_search_by_key(&name_position, |place| place.0)
            .map_err(|_| SkimAborted)? as u64,
        false => skimmer.name_count,
    };
    if number == known {
        if skimmer.format.symbol_names.len() == MAX_SYMBOLS {
            return Err(SkimAborted);
        }
        skimmer.format.symbol_names.push((name_position, len));
    }
    skimmer.name_count = skimmer.name_count.max(number + 1);
    pass_symbol_name(skimmer, number, len)?;
    Ok(number)
}

fn read_known_symbol(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<u64> {
    let number = read_count(skimmer)?;
    if number >= skimmer.name_count {
        return Err(SkimAborted);
    }
    let (name_position, len) = skimmer.format.symbol_place(number)?;
    if skimmer.answer_bytes().is_some() {
        let position = skimmer.view.position();
        skimmer.view.seek_to(name_position);
        pass_symbol_name(skimmer, number, len)?;
        skimmer.view.seek_to(position);
    }
    Ok(number)
}

/// Skips the name of a symbol. Writes the symbol to the answer, if there is one: with its name the first time, later
/// as a number.
fn pass_symbol_name(skimmer: &mut Skimmer<'_, SkimState>, number: u64, len: u32) -> SkimResult<()> {
    if skimmer.answer_bytes().is_none() {
        return skimmer.view.advance(u64::from(len));
    }
    if let Some(new) = skimmer.format.symbol_numbers.get(&number).copied() {
        emit_tagged(skimmer, b';', new);
        return skimmer.view.advance(u64::from(len));
    }
    let new = skimmer.format.symbol_numbers.len() as u64;
    skimmer.format.symbol_numbers.insert(number, new);
    emit_tagged(skimmer, b':', u64::from(len));
    skimmer.pass_bytes(u64::from(len))
}

/// Uses the text of a symbol as the key.
fn read_symbol_key(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<()> {
    let number = read_symbol(skimmer)?;
    let (name_position, len) = skimmer.format.symbol_place(number)?;
    let position = skimmer.view.position();
    skimmer.view.seek_to(name_position);
    skimmer.key.clear();
    skimmer.view.read_into(u64::from(len), &mut skimmer.key)?;
    skimmer.view.seek_to(position);
    Ok(())
}

/// Passes a hash key or a float that a link in the answer names, and so copies it to the answer. A string may have its
/// encoding, but no other instance variables.
fn copy_linkable(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<()> {
    let tag = skimmer.pass_byte()?;
    let has_encoding = tag == b'I';
    if !matches!(tag, b'f' | b'"' | b'I') || has_encoding && skimmer.pass_byte()? != b'"' {
        return Err(SkimAborted);
    }
    SkimState::count_value(skimmer);
    let len = SkimState::read_count(skimmer, tag)?;
    skimmer.pass_bytes(len)?;
    if has_encoding {
        if SkimState::read_count(skimmer, tag)? != 1 {
            return Err(SkimAborted);
        }
        read_encoding(skimmer)?;
    }
    Ok(())
}

/// Reads the instance variable `E` and its value.
fn read_encoding(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<()> {
    let number = read_symbol(skimmer)?;
    let (name_position, len) = skimmer.format.symbol_place(number)?;
    let is_encoding = len == 1 && skimmer.view.copy_range(name_position, name_position + 1)? == b"E";
    if !is_encoding || !matches!(skimmer.pass_byte()?, b'T' | b'F') {
        return Err(SkimAborted);
    }
    Ok(())
}

/// Reads the bytes of a string, after its tag, as the key.
fn read_string_key(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<()> {
    let len = read_count(skimmer)?;
    skimmer.key.clear();
    skimmer.view.read_into(len, &mut skimmer.key)
}

/// Reads a key of a hash.
fn read_key(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<SkimmedKey> {
    let mark = skimmer.mark_position();
    let tag = skimmer.view.peek()?;
    match tag {
        b':' | b';' => read_symbol_key(skimmer)?,
        b'i' => {
            skimmer.view.advance(1)?;
            return read_integer(skimmer).map(SkimmedKey::Int);
        }
        b'"' | b'I' => {
            skimmer.view.advance(1)?;
            skimmer.format.record_linkable(mark);
            if tag == b'I' && skimmer.view.read_byte()? != b'"' {
                return Err(SkimAborted);
            }
            skimmer.value_count += 1;
            read_string_key(skimmer)?;
            if tag == b'I' {
                if read_count(skimmer)? != 1 {
                    return Err(SkimAborted);
                }
                read_encoding(skimmer)?;
            }
        }
        b'@' => {
            skimmer.view.advance(1)?;
            let number = read_count(skimmer)?;
            let key_position = skimmer.format.find_linkable(number)?.offset;
            let position = skimmer.view.position();
            skimmer.view.seek_to(key_position);
            match skimmer.view.read_byte()? {
                b'"' => {}
                b'I' => skimmer.view.advance(1)?,
                _ => return Err(SkimAborted),
            }
            read_string_key(skimmer)?;
            skimmer.view.seek_to(position);
        }
        // A large integer in the input may have a small value, so it may equal an integer key.
        b'l' => return Err(SkimAborted),
        _ => {
            skimmer.pass_value()?;
            return Ok(SkimmedKey::Other);
        }
    }
    Ok(SkimmedKey::Text)
}

impl Tokens for SkimState {
    type Options = ReadOptions;
    const FORMAT: &'static Format = &FORMAT;
    const TAGS: &'static Table = &tag::TAGS;

    fn enter_root(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<()> {
        match skimmer.view.read_array()? {
            [MAJOR, minor @ 0..=MINOR] => {
                skimmer.format.minor = minor;
                Ok(())
            }
            _ => Err(SkimAborted),
        }
    }

    fn enter_value(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<SkimmedContainer> {
        let tag = skimmer.view.peek()?;
        let content = match tag::TAGS.parts_of_tag(tag) {
            [Part::Number, Part::Items(_)] => 0,
            [Part::Number, Part::Entries(_)] => ENTRIES,
            [Part::Number, Part::Entries(_), Part::Value] => DEFAULT,
            [Part::Number, Part::Named, Part::Members] => MEMBERS,
            [Part::Value, Part::Members] if matches!(skimmer.view.require_bytes(2)?.get(1), Some(b'"' | b'/')) => {
                return Ok(SkimmedContainer::LEAF);
            }
            [Part::Value, ..] | [Part::Named, ..] | [Part::Link] | [Part::Other] => return Err(SkimAborted),
            _ => return Ok(SkimmedContainer::LEAF),
        };
        skimmer.view.advance(1)?;
        skimmer.value_count += 1;
        if content == MEMBERS {
            read_symbol(skimmer)?;
        }
        let count = read_count(skimmer)?;
        let kind = if content == 0 { SkimmedKind::List } else { SkimmedKind::Map };
        Ok(SkimmedContainer { skimmer_data: content, ..SkimmedContainer::new(kind, Some(count)) })
    }

    fn next_value(skimmer: &mut Skimmer<'_, Self>, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>> {
        if !open.take_next_item() {
            if open.skimmer_data == DEFAULT {
                skimmer.pass_value()?;
            }
            return Ok(None);
        }
        Ok(Some(match open.skimmer_data {
            0 => SkimmedKey::Item,
            MEMBERS => {
                read_symbol_key(skimmer)?;
                SkimmedKey::Text
            }
            _ => read_key(skimmer)?,
        }))
    }

    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<Vec<u8>> {
        let first = skimmer.value_count;
        let format = &mut skimmer.format;
        (format.first_number, format.answer_value_count) = (first, 0);
        format.symbol_numbers.clear();
        format.value_numbers.clear();
        Ok(vec![MAJOR, format.minor])
    }

    fn parts_of_tag(skimmer: &mut Skimmer<'_, Self>, tag: u8) -> SkimResult<&'static [Part]> {
        match tag {
            b'I' => Ok(match skimmer.view.peek()? {
                b'u' => DUMPED,
                b':' | b';' => ENCODED_SYMBOL,
                _ => tag::TAGS.parts_of_tag(tag),
            }),
            _ => Ok(tag::TAGS.parts_of_tag(tag)),
        }
    }

    fn read_count(skimmer: &mut Skimmer<'_, Self>, _: u8) -> SkimResult<u64> {
        let count = read_count(skimmer)?;
        // A larger value is not a fixnum, so Ruby does not write it in this form.
        if count >= 1 << 30 {
            return Err(SkimAborted);
        }
        if let Some(bytes) = skimmer.answer_bytes() {
            push_integer(count as i64, bytes);
        }
        Ok(count)
    }

    fn read_integer(skimmer: &mut Skimmer<'_, Self>, _: u8) -> SkimResult<()> {
        let value = read_integer(skimmer)?;
        if let Some(bytes) = skimmer.answer_bytes() {
            if !is_fixnum(value) {
                return Err(SkimAborted);
            }
            push_integer(value, bytes);
        }
        Ok(())
    }

    fn read_float(skimmer: &mut Skimmer<'_, Self>, mark: Mark) -> SkimResult<()> {
        skimmer.format.record_linkable(mark);
        let len = SkimState::read_count(skimmer, b'f')?;
        skimmer.pass_bytes(len)
    }

    fn read_name(skimmer: &mut Skimmer<'_, Self>, _: u8, _: u64) -> SkimResult<()> {
        read_new_symbol(skimmer).map(drop)
    }

    fn read_name_number(skimmer: &mut Skimmer<'_, Self>, _: u8, _: u64) -> SkimResult<()> {
        read_known_symbol(skimmer).map(drop)
    }

    fn read_name_token(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<()> {
        read_symbol(skimmer).map(drop)
    }

    fn read_link(skimmer: &mut Skimmer<'_, Self>, tag: u8, _: u64) -> SkimResult<()> {
        let number = read_count(skimmer)?;
        if number >= skimmer.value_count {
            return Err(SkimAborted);
        }
        if skimmer.answer_bytes().is_none() {
            return Ok(());
        }
        if let Some(new) = skimmer.format.value_numbers.get(&number).copied() {
            emit_tagged(skimmer, tag, new);
            return Ok(());
        }
        if number >= skimmer.format.first_number {
            return Err(SkimAborted);
        }
        let linkable = skimmer.format.find_linkable(number)?;
        let resume_mark = skimmer.mark_position();
        // `return_to` restores the count of values, so the value gets its number of the first reading.
        skimmer.return_to(linkable);
        copy_linkable(skimmer)?;
        skimmer.return_to(resume_mark);
        Ok(())
    }

    fn count_value(skimmer: &mut Skimmer<'_, Self>) {
        if skimmer.answer_bytes().is_some() {
            let format = &mut skimmer.format;
            format.value_numbers.insert(skimmer.value_count, format.answer_value_count);
            format.answer_value_count += 1;
        }
        skimmer.value_count += 1;
    }

    fn read_key(skimmer: &mut Skimmer<'_, Self>, _: FrameContent) -> SkimResult<()> {
        if matches!(skimmer.view.peek()?, b'"' | b'I') {
            let mark = skimmer.mark_position();
            skimmer.format.record_linkable(mark);
        }
        skimmer.pass_value_beginning()
    }

    fn run_fast_loop(run: &mut Run<'_, Self>, _: Option<i64>) -> (usize, bool) {
        (run::skim_run(run), false)
    }
}
