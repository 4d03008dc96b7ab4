//! Skimming of Storable.
//!
//! The key of an entry is after its value. So the skimmer skips a value before it knows whether the value is wanted,
//! and may return to it. An answer becomes the only item of an image of its own.

mod run;

use super::image::Image;
use super::tag::{self, hash};
use super::{FORMAT, ReadOptions};
use crate::document::{Document, Tape};
use crate::format::skim::tokens::{FrameContent, Run, Skimmer, Tokens};
use crate::format::skim::{Input, Mark, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind};
use crate::format::tags::Table;
use crate::format::{Format, Scan};
use std::collections::HashMap;

/// Maximum length of a header.
const MAX_HEADER_LEN: usize = 512;
/// Maximum number of classes that are remembered.
const MAX_CLASSES: usize = 1 << 20;
/// Values of [`SkimmedContainer::skimmer_data`]: a hash, or a hash with flags.
const HASH: u64 = 1;
const FLAG_HASH: u64 = 2;

pub(super) fn skim(input: Input<'_>) -> Box<dyn Skim + '_> {
    Box::new(Skimmer::new(input, SkimState::default()))
}

#[derive(Debug, Default)]
/// What the skimmer of this format keeps in addition to the common state.
struct SkimState {
    /// Sizes of an integer and a float, and whether their lowest byte comes first.
    integer: u8,
    float: u8,
    is_little: bool,
    /// Where the root begins.
    start: u64,
    /// Offsets and lengths of class names.
    class_names: Vec<(u64, u32)>,
    /// The value that was skipped before its key: its start and its end.
    skipped_value: Option<(u64, Mark)>,
    /// For an answer: the new number of each class in it.
    written_classes: HashMap<u64, u32>,
    /// For an answer: the value that gets the number 1. The array around the answer has the number 0.
    first_value: u64,
    /// Whether the value that is copied is in the array around an answer.
    is_part: bool,
}

impl SkimState {
    fn decode_number(&self, bytes: [u8; 4]) -> u32 {
        if self.is_little { u32_from_bytes::<false>(bytes) } else { u32_from_bytes::<true>(bytes) }
    }

    fn encode_number(&self, number: u32) -> [u8; 4] {
        if self.is_little { number.to_le_bytes() } else { number.to_be_bytes() }
    }
}

#[inline(always)]
fn u32_from_bytes<const BIG: bool>(bytes: [u8; 4]) -> u32 {
    if BIG { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

fn read_number(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<u32> {
    let bytes = skimmer.view.read_array()?;
    Ok(skimmer.format.decode_number(bytes))
}

fn emit_number(skimmer: &mut Skimmer<'_, SkimState>, number: u32) {
    let bytes = skimmer.format.encode_number(number);
    skimmer.emit_bytes(&bytes);
}

/// Reads the number of a class, or the length of its name.
fn read_class_number(skimmer: &mut Skimmer<'_, SkimState>) -> SkimResult<u32> {
    let short = skimmer.view.read_byte()?;
    if short & 0x80 == 0 { Ok(u32::from(short)) } else { read_number(skimmer) }
}

/// Reads the name of the next class.
fn write_class_name(skimmer: &mut Skimmer<'_, SkimState>, known: u64, len: u32) -> SkimResult<()> {
    if skimmer.answer_bytes().is_some() {
        let written_classes = &mut skimmer.format.written_classes;
        let new = u32::try_from(written_classes.len()).map_err(|_| SkimAborted)?;
        written_classes.entry(known).or_insert(new);
        skimmer.emit_bytes(&[tag::BLESS, 0x80]);
        emit_number(skimmer, len);
    }
    skimmer.pass_bytes(u64::from(len))
}

/// Reads the key of an entry whose value was skipped.
fn take_key(skimmer: &mut Skimmer<'_, SkimState>, hash_kind: u64) -> SkimResult<()> {
    let flags = if hash_kind == FLAG_HASH { skimmer.view.read_byte()? } else { 0 };
    if flags & (hash::KEY_IS_SV | hash::KEY_PLACEHOLDER) != 0 {
        return Err(SkimAborted);
    }
    let len = read_number(skimmer)?;
    skimmer.key.clear();
    skimmer.view.read_into(u64::from(len), &mut skimmer.key)?;
    match flags & hash::KEY_WAS_UTF8 == 0 || skimmer.key.is_ascii() {
        true => Ok(()),
        false => Err(SkimAborted),
    }
}

impl Tokens for SkimState {
    type Options = ReadOptions;
    const FORMAT: &'static Format = &FORMAT;
    const TAGS: &'static Table = &tag::TAGS;
    const KEYS_FOLLOW_VALUES: bool = true;

    fn enter_root(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<()> {
        let len = usize::try_from(skimmer.view.len()).unwrap_or(usize::MAX);
        let head = skimmer.view.require_bytes(len.min(MAX_HEADER_LEN))?;
        let mut scan = Scan::new(&head[..head.len().min(MAX_HEADER_LEN)]);
        let image = Image::read(&mut scan, &ReadOptions::default(), &mut Tape::new()).map_err(|_| SkimAborted)?;
        if image.is_old() || image.is_mixed() {
            return Err(SkimAborted);
        }
        let format = &mut skimmer.format;
        format.start = scan.offset as u64;
        format.is_little = image.is_little();
        (format.integer, format.float) = (image.iv_size, image.nv_size);
        skimmer.view.seek_to(format.start);
        Ok(())
    }

    fn enter_value(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<SkimmedContainer> {
        let mark = skimmer.mark_position();
        let is_root = mark.offset == skimmer.format.start;
        let (mut is_referred, mut is_blessed) = (false, false);
        loop {
            let tag = skimmer.view.read_byte()?;
            match tag {
                // Storable does not write the reference to the root, so a reference here precedes another value.
                tag::REF | tag::OVERLOAD | tag::WEAKREF | tag::WEAKOVERLOAD
                    if !is_root && !is_referred && !is_blessed =>
                {
                    is_referred = true;
                    skimmer.value_count += 1;
                }
                tag::BLESS | tag::IX_BLESS if !is_blessed => {
                    is_blessed = true;
                    match tag {
                        tag::BLESS => SkimState::read_name(skimmer, tag, mark.offset)?,
                        _ => SkimState::read_name_number(skimmer, tag, mark.offset)?,
                    }
                }
                tag::ARRAY => {
                    skimmer.value_count += 1;
                    let count = read_number(skimmer)?;
                    return Ok(SkimmedContainer::new(SkimmedKind::List, Some(u64::from(count))));
                }
                tag::HASH | tag::FLAG_HASH => {
                    skimmer.value_count += 1;
                    let hash_kind = if tag == tag::HASH { HASH } else { FLAG_HASH };
                    if hash_kind == FLAG_HASH {
                        skimmer.view.read_byte()?;
                    }
                    let count = read_number(skimmer)?;
                    return Ok(SkimmedContainer {
                        skimmer_data: hash_kind,
                        ..SkimmedContainer::new(SkimmedKind::Map, Some(u64::from(count)))
                    });
                }
                tag::LSCALAR | tag::UNDEF..=tag::SCALAR | tag::SV_UNDEF..=tag::SV_NO | tag::UTF8STR | tag::LUTF8STR
                    if !is_referred && !is_blessed =>
                {
                    skimmer.return_to(mark);
                    return Ok(SkimmedContainer::LEAF);
                }
                _ => return Err(SkimAborted),
            }
        }
    }

    fn next_value(skimmer: &mut Skimmer<'_, Self>, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>> {
        if open.skimmer_data != 0 && open.read > 0 {
            take_key(skimmer, open.skimmer_data)?;
        }
        if !open.take_next_item() {
            return Ok(None);
        }
        if open.skimmer_data == 0 {
            return Ok(Some(SkimmedKey::Item));
        }
        let value = skimmer.mark_position();
        skimmer.format.skipped_value = None;
        skimmer.pass_value()?;
        let end = skimmer.mark_position();
        take_key(skimmer, open.skimmer_data)?;
        skimmer.return_to(value);
        skimmer.format.skipped_value = Some((value.offset, end));
        Ok(Some(SkimmedKey::Text))
    }

    fn skip_passed(skimmer: &mut Skimmer<'_, Self>) -> bool {
        match skimmer.format.skipped_value.take() {
            Some((at, end)) if at == skimmer.view.position() => {
                skimmer.return_to(end);
                true
            }
            _ => false,
        }
    }

    fn begin_answer(skimmer: &mut Skimmer<'_, Self>) -> SkimResult<Vec<u8>> {
        // In an array these mean a nonexistent element.
        if matches!(skimmer.view.peek()?, tag::SV_UNDEF | tag::SVUNDEF_ELEM) {
            return Err(SkimAborted);
        }
        let start = skimmer.format.start;
        let mut bytes = skimmer.view.copy_range(0, start)?;
        skimmer.format.written_classes.clear();
        skimmer.format.first_value = skimmer.value_count + 1;
        skimmer.format.is_part = skimmer.view.position() != start;
        if skimmer.format.is_part {
            skimmer.format.first_value = skimmer.value_count;
            bytes.push(tag::ARRAY);
            bytes.extend(skimmer.format.encode_number(1));
        }
        Ok(bytes)
    }

    fn finish_answer(skimmer: &mut Skimmer<'_, Self>, document: Document<'_>) -> SkimResult<Document<'static>> {
        if !skimmer.format.is_part {
            return Ok(document.into_owned());
        }
        let item = document.root().items().next().ok_or(SkimAborted)?.index();
        document.part(item).map(Document::into_owned).map_err(|_| SkimAborted)
    }

    fn read_count(skimmer: &mut Skimmer<'_, Self>, _: u8) -> SkimResult<u64> {
        let count = read_number(skimmer)?;
        emit_number(skimmer, count);
        Ok(u64::from(count))
    }

    fn read_integer(skimmer: &mut Skimmer<'_, Self>, _: u8) -> SkimResult<()> {
        skimmer.pass_bytes(u64::from(skimmer.format.integer))
    }

    fn read_float(skimmer: &mut Skimmer<'_, Self>, _: Mark) -> SkimResult<()> {
        skimmer.pass_bytes(u64::from(skimmer.format.float))
    }

    fn read_name(skimmer: &mut Skimmer<'_, Self>, _: u8, _: u64) -> SkimResult<()> {
        let len = read_class_number(skimmer)?;
        let known = skimmer.name_count;
        if known == skimmer.format.class_names.len() as u64 {
            if skimmer.format.class_names.len() == MAX_CLASSES {
                return Err(SkimAborted);
            }
            let position = skimmer.view.position();
            skimmer.format.class_names.push((position, len));
        }
        skimmer.name_count += 1;
        write_class_name(skimmer, known, len)
    }

    fn read_name_number(skimmer: &mut Skimmer<'_, Self>, _: u8, _: u64) -> SkimResult<()> {
        let known = read_class_number(skimmer)?;
        let place = skimmer.format.class_names.get(known as usize).copied();
        let known = u64::from(known);
        let (name_position, len) = place.filter(|_| known < skimmer.name_count).ok_or(SkimAborted)?;
        if skimmer.answer_bytes().is_none() {
            return Ok(());
        }
        if let Some(new) = skimmer.format.written_classes.get(&known).copied() {
            skimmer.emit_bytes(&[tag::IX_BLESS, 0x80]);
            emit_number(skimmer, new);
            return Ok(());
        }
        let resume_position = skimmer.view.position();
        skimmer.view.seek_to(name_position);
        write_class_name(skimmer, known, len)?;
        skimmer.view.seek_to(resume_position);
        Ok(())
    }

    fn read_link(skimmer: &mut Skimmer<'_, Self>, tag: u8, _: u64) -> SkimResult<()> {
        let number = u64::from(u32::from_be_bytes(skimmer.view.read_array()?));
        let first = skimmer.format.first_value;
        if let Some(bytes) = skimmer.answer_bytes() {
            let new =
                number.checked_sub(first).and_then(|distance| u32::try_from(distance + 1).ok()).ok_or(SkimAborted)?;
            bytes.push(tag);
            bytes.extend(new.to_be_bytes());
        }
        Ok(())
    }

    fn read_key(skimmer: &mut Skimmer<'_, Self>, content: FrameContent) -> SkimResult<()> {
        if content == FrameContent::FlagEntries && skimmer.pass_byte()? & hash::KEY_IS_SV != 0 {
            return Err(SkimAborted);
        }
        let len = SkimState::read_count(skimmer, 0)?;
        skimmer.pass_bytes(len)
    }

    fn run_fast_loop(run: &mut Run<'_, Self>, _: Option<i64>) -> (usize, bool) {
        let skipped_value = if run.format.is_little { run::skip_run::<false>(run) } else { run::skip_run::<true>(run) };
        (skipped_value, false)
    }
}
