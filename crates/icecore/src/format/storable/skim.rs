//! Skims an image: a stack says what is still to come of the containers that are open.
//!
//! The key of an entry stands behind its value, so a value is passed over before it is known
//! whether it is wanted. An answer is written anew as the one item of an image of its own.

mod run;

use super::image::Image;
use super::tag::{self, hash};
use super::{FORMAT, ReadOptions};
use crate::document::{Document, Tape};
use crate::format::prelude::*;
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View};
use run::Run;
use std::collections::HashMap;

/// How long a header is at most.
const HEADER: usize = 512;
/// How many classes are remembered.
const CLASSES: usize = 1 << 20;
/// In [`Opened::note`]: a hash, and one with flags.
const HASH: u64 = 1;
const FLAG_HASH: u64 = 2;

#[derive(Debug)]
pub(super) struct Skimmer<'i> {
    view: View<'i>,
    key: Vec<u8>,
    image: Image,
    little: bool,
    /// Where the root begins.
    start: u64,
    /// How many things with a number, and how many classes, stood before.
    numbers: u64,
    classes: u64,
    /// Where the names of classes stand, and how long they are.
    names: Vec<(u64, u32)>,
    open: Vec<Open>,
    /// The value that comes next was passed over: from there to there.
    passed: Option<(u64, Mark)>,
    out: Option<Out>,
}

/// A container that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// How many values are still to come.
    left: u64,
    /// What it is: 0, [`HASH`] or [`FLAG_HASH`].
    note: u64,
    /// Whether the key of the value that was passed last comes next.
    is_key: bool,
}

impl Open {
    fn new(left: u64, note: u64) -> Open {
        Open { left, note, is_key: false }
    }

    /// One of its values is begun.
    #[inline(always)]
    fn begin(&mut self) {
        self.left -= 1;
        self.is_key = self.note != 0;
    }
}

/// A value that is written anew.
#[derive(Debug)]
struct Out {
    bytes: Vec<u8>,
    /// The first number in it, which is 1 there: the array around it has 0.
    first: u64,
    /// The numbers of classes there.
    classes: HashMap<u64, u32>,
    most: u64,
}

impl<'i> Skimmer<'i> {
    pub(super) fn new(input: Input<'i>) -> Skimmer<'i> {
        Skimmer {
            view: View::new(input),
            key: Vec::new(),
            image: Image::native(),
            little: true,
            start: 0,
            numbers: 0,
            classes: 0,
            names: Vec::new(),
            open: Vec::new(),
            passed: None,
            out: None,
        }
    }

    #[inline]
    fn n32(&mut self) -> Sure<u32> {
        let bytes = self.view.array()?;
        Ok(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn emit(&mut self, bytes: &[u8]) {
        if let Some(out) = &mut self.out {
            out.bytes.extend_from_slice(bytes);
        }
    }

    fn emit_n32(&mut self, value: u32) {
        let bytes = if self.little { value.to_le_bytes() } else { value.to_be_bytes() };
        self.emit(&bytes);
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

    #[inline]
    fn pass_n32(&mut self) -> Sure<u32> {
        let value = self.n32()?;
        self.emit_n32(value);
        Ok(value)
    }

    #[inline]
    fn pass_byte(&mut self) -> Sure<u8> {
        let byte = self.view.byte()?;
        self.emit(&[byte]);
        Ok(byte)
    }

    /// A class by name or by number, behind its tag.
    fn class(&mut self, tag: u8) -> Sure<()> {
        let short = self.view.byte()?;
        let number = if short & 0x80 == 0 { u32::from(short) } else { self.n32()? };
        if tag == tag::BLESS {
            let at = self.view.position();
            let known = self.classes;
            if known == self.names.len() as u64 {
                if self.names.len() == CLASSES {
                    return Err(Unsure);
                }
                self.names.push((at, number));
            }
            self.classes += 1;
            return self.name(known, number);
        }
        let known = u64::from(number);
        let place = self.names.get(number as usize).copied().filter(|_| known < self.classes);
        let (at, len) = place.ok_or(Unsure)?;
        let Some(out) = &mut self.out else { return Ok(()) };
        if let Some(new) = out.classes.get(&known).copied() {
            out.bytes.extend([tag::IX_BLESS, 0x80]);
            self.emit_n32(new);
            return Ok(());
        }
        let here = self.view.position();
        self.view.go(at);
        self.name(known, len)?;
        self.view.go(here);
        Ok(())
    }

    /// The name of a class, which comes next.
    fn name(&mut self, number: u64, len: u32) -> Sure<()> {
        if let Some(out) = &mut self.out {
            let new = u32::try_from(out.classes.len()).map_err(|_| Unsure)?;
            out.classes.entry(number).or_insert(new);
            out.bytes.extend([tag::BLESS, 0x80]);
            self.emit_n32(len);
        }
        self.pass(u64::from(len))
    }

    /// A value: a leaf whole, of a container the front.
    fn front(&mut self) -> Sure<()> {
        loop {
            let tag = self.view.byte()?;
            match tag {
                tag::BLESS | tag::IX_BLESS => {
                    self.class(tag)?;
                    continue;
                }
                tag::OBJECT => {
                    let number = u64::from(u32::from_be_bytes(self.view.array()?));
                    if let Some(out) = &mut self.out {
                        let new = number.checked_sub(out.first).and_then(|by| u32::try_from(by + 1).ok());
                        let new = new.ok_or(Unsure)?;
                        out.bytes.push(tag);
                        out.bytes.extend(new.to_be_bytes());
                    }
                    return Ok(());
                }
                _ => {}
            }
            self.emit(&[tag]);
            self.numbers += 1;
            match tag {
                tag::REF
                | tag::OVERLOAD
                | tag::WEAKREF
                | tag::WEAKOVERLOAD
                | tag::TIED_ARRAY
                | tag::TIED_HASH
                | tag::TIED_SCALAR => continue,
                tag::ARRAY => {
                    let left = self.pass_n32()?;
                    self.open.push(Open::new(u64::from(left), 0));
                }
                tag::HASH => {
                    let left = self.pass_n32()?;
                    self.open.push(Open::new(u64::from(left), HASH));
                }
                tag::FLAG_HASH => {
                    self.pass_byte()?;
                    let left = self.pass_n32()?;
                    self.open.push(Open::new(u64::from(left), FLAG_HASH));
                }
                tag::SCALAR | tag::UTF8STR => {
                    let len = self.pass_byte()?;
                    self.pass(u64::from(len))?;
                }
                tag::LSCALAR | tag::LUTF8STR => {
                    let len = self.pass_n32()?;
                    self.pass(u64::from(len))?;
                }
                tag::BYTE => self.pass(1)?,
                tag::NETINT => self.pass(4)?,
                tag::INTEGER => self.pass(u64::from(self.image.iv))?,
                tag::DOUBLE => self.pass(u64::from(self.image.nv))?,
                tag::UNDEF
                | tag::SV_UNDEF
                | tag::SVUNDEF_ELEM
                | tag::SV_YES
                | tag::SV_NO
                | tag::BOOLEAN_TRUE
                | tag::BOOLEAN_FALSE => {}
                _ => return Err(Unsure),
            }
            return Ok(());
        }
    }

    /// The key of an entry, behind its value.
    #[inline]
    fn pass_key(&mut self, note: u64) -> Sure<()> {
        if note == FLAG_HASH && self.pass_byte()? & hash::KEY_IS_SV != 0 {
            return Err(Unsure);
        }
        let len = self.pass_n32()?;
        self.pass(u64::from(len))
    }

    fn pass_value(&mut self) -> Sure<()> {
        self.pass_values(1)
    }

    /// So many values, with all that is in them.
    fn pass_values(&mut self, count: u64) -> Sure<()> {
        self.open.clear();
        self.open.push(Open::new(count, 0));
        loop {
            if self.out.is_none() {
                let sizes = (1 + usize::from(self.image.iv), 1 + usize::from(self.image.nv));
                let mut run = Run { open: &mut self.open, numbers: &mut self.numbers, classes: self.classes, sizes };
                let passed = match self.little {
                    true => run.over(self.view.rest(), u32::from_le_bytes),
                    false => run.over(self.view.rest(), u32::from_be_bytes),
                };
                self.view.advance(passed as u64)?;
            }
            if !self.step()? {
                return Ok(());
            }
        }
    }

    /// One value or its front, or one key; `false`, if nothing is open.
    fn step(&mut self) -> Sure<bool> {
        let Some(open) = self.open.last_mut() else { return Ok(false) };
        if open.is_key {
            open.is_key = false;
            let note = open.note;
            self.pass_key(note)?;
        } else if open.left == 0 {
            self.open.pop();
        } else {
            open.begin();
            self.front()?;
        }
        Ok(true)
    }

    /// What a container in front of it says of the key that comes next.
    fn text(&mut self, note: u64) -> Sure<()> {
        let flags = if note == FLAG_HASH { self.view.byte()? } else { 0 };
        if flags & (hash::KEY_IS_SV | hash::KEY_PLACEHOLDER) != 0 {
            return Err(Unsure);
        }
        let len = self.n32()?;
        self.key.clear();
        self.view.append(u64::from(len), &mut self.key)?;
        match flags & hash::KEY_WAS_UTF8 == 0 || self.key.is_ascii() {
            true => Ok(()),
            false => Err(Unsure),
        }
    }
}

impl Skim for Skimmer<'_> {
    fn start(&mut self) -> Sure<()> {
        let len = usize::try_from(self.view.len()).unwrap_or(usize::MAX);
        let head = self.view.need(len.min(HEADER))?;
        let mut scan = Scan::new(&head[..head.len().min(HEADER)]);
        let image = Image::read(&mut scan, &ReadOptions::default(), &mut Tape::new()).map_err(|_| Unsure)?;
        if image.is_old() || image.is_mixed() {
            return Err(Unsure);
        }
        self.start = scan.at as u64;
        self.little = image.is_little();
        self.image = image;
        self.view.go(self.start);
        Ok(())
    }

    fn is_at_end(&mut self) -> bool {
        self.view.is_at_end()
    }

    fn mark(&self) -> Mark {
        Mark { at: self.view.position(), numbers: [self.numbers, self.classes] }
    }

    fn back(&mut self, mark: Mark) {
        self.view.go(mark.at);
        [self.numbers, self.classes] = mark.numbers;
    }

    fn open(&mut self) -> Sure<Opened> {
        let mark = self.mark();
        let is_root = mark.at == self.start;
        let (mut is_referred, mut is_blessed) = (false, false);
        loop {
            let tag = self.view.byte()?;
            match tag {
                // The reference to the root is not written.
                tag::REF | tag::OVERLOAD | tag::WEAKREF | tag::WEAKOVERLOAD
                    if !is_root && !is_referred && !is_blessed =>
                {
                    is_referred = true;
                    self.numbers += 1;
                }
                tag::BLESS | tag::IX_BLESS if !is_blessed => {
                    is_blessed = true;
                    self.class(tag)?;
                }
                tag::ARRAY => {
                    self.numbers += 1;
                    let count = self.n32()?;
                    return Ok(Opened::new(Shape::List, Some(u64::from(count))));
                }
                tag::HASH | tag::FLAG_HASH => {
                    self.numbers += 1;
                    let note = if tag == tag::HASH { HASH } else { FLAG_HASH };
                    if note == FLAG_HASH {
                        self.view.byte()?;
                    }
                    let count = self.n32()?;
                    return Ok(Opened { note, ..Opened::new(Shape::Map, Some(u64::from(count))) });
                }
                tag::LSCALAR | tag::UNDEF..=tag::SCALAR | tag::SV_UNDEF..=tag::SV_NO | tag::UTF8STR | tag::LUTF8STR
                    if !is_referred && !is_blessed =>
                {
                    self.back(mark);
                    return Ok(Opened::LEAF);
                }
                _ => return Err(Unsure),
            }
        }
    }

    fn next(&mut self, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if open.note != 0 && open.read > 0 {
            self.text(open.note)?;
        }
        if !open.step() {
            return Ok(None);
        }
        if open.note == 0 {
            return Ok(Some(KeyOf::Item));
        }
        let value = self.mark();
        self.passed = None;
        self.pass_value()?;
        let behind = self.mark();
        self.text(open.note)?;
        self.back(value);
        self.passed = Some((value.at, behind));
        Ok(Some(KeyOf::Text))
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn skip(&mut self) -> Sure<()> {
        match self.passed.take() {
            Some((at, behind)) if at == self.view.position() => self.back(behind),
            _ => self.pass_value()?,
        }
        Ok(())
    }

    fn skip_items(&mut self, open: &mut Opened, count: u64) -> Sure<bool> {
        let there = open.take(count);
        self.pass_values(there)?;
        Ok(there == count)
    }

    fn take(&mut self, limits: &Limits) -> Sure<Document<'static>> {
        // In an array these are an element that is not there.
        if matches!(self.view.peek()?, tag::SV_UNDEF | tag::SVUNDEF_ELEM) {
            return Err(Unsure);
        }
        let is_root = self.view.position() == self.start;
        let mut bytes = self.view.copy(0, self.start)?;
        if !is_root {
            bytes.push(tag::ARRAY);
        }
        let most = limits.expanded_from(usize::try_from(self.view.len()).unwrap_or(usize::MAX));
        let first = if is_root { self.numbers + 1 } else { self.numbers };
        self.out = Some(Out { bytes, first, classes: HashMap::new(), most });
        if !is_root {
            self.emit_n32(1);
        }
        self.pass_value()?;
        let bytes = self.out.take().ok_or(Unsure)?.bytes;
        let outcome = ReadOptions::default().read(&bytes, Request::new(limits));
        let document = outcome.whole(&bytes, &FORMAT).map_err(|_| Unsure)?;
        if is_root {
            return Ok(document.into_owned());
        }
        let item = document.root().items().next().ok_or(Unsure)?.index();
        document.part(item).map(Document::into_owned).map_err(|_| Unsure)
    }
}
