//! Skims a text: strings are skipped by their length.

mod run;

use super::{FORMAT, ReadOptions, text};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{
    Input, Mark, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind, View,
};
use run::RunEnd;

/// Value of [`SkimmedContainer::skimmer_data`]: the container is an object, whose keys stay strings.
const OBJECT: u64 = 1;

#[derive(Debug)]
pub(super) struct Skimmer<'i> {
    view: View<'i>,
    key: Vec<u8>,
    /// Whether the last skipped value had a link in it.
    has_links: bool,
}

impl<'i> Skimmer<'i> {
    pub(super) fn new(input: Input<'i>) -> Skimmer<'i> {
        Skimmer { view: View::new(input), key: Vec::new(), has_links: false }
    }

    /// Reads digits and the byte that ends them.
    fn read_number(&mut self, end: u8) -> SkimResult<u64> {
        let mut value = 0u64;
        let mut count = 0;
        loop {
            match self.view.read_byte()? {
                digit @ b'0'..=b'9' if count < 18 => value = value * 10 + u64::from(digit - b'0'),
                byte if byte == end && count > 0 => return Ok(value),
                _ => return Err(SkimAborted),
            }
            count += 1;
        }
    }

    /// Reads the rest of `s:5:"text"` after the colon; its bytes become the key.
    fn read_text_key(&mut self, end: &[u8]) -> SkimResult<()> {
        let len = self.read_number(b':')?;
        self.view.expect(b"\"")?;
        self.key.clear();
        self.view.read_into(len, &mut self.key)?;
        self.view.expect(end)
    }
}

impl Skim for Skimmer<'_> {
    fn enter_root(&mut self) -> SkimResult<()> {
        Ok(())
    }

    fn is_at_end(&mut self) -> bool {
        // Blanks after a text do not belong to it.
        while self.view.peek().is_ok_and(|byte| crate::format::are_blanks(&[byte])) {
            let _ = self.view.read_byte();
        }
        self.view.is_at_end()
    }

    fn mark_position(&self) -> Mark {
        Mark { offset: self.view.position(), ..Mark::default() }
    }

    fn return_to(&mut self, mark: Mark) {
        self.view.seek_to(mark.offset);
    }

    fn enter_value(&mut self) -> SkimResult<SkimmedContainer> {
        match self.view.peek()? {
            b'a' => {
                self.view.expect(b"a:")?;
                let count = self.read_number(b':')?;
                self.view.expect(b"{")?;
                Ok(SkimmedContainer::new(SkimmedKind::Either, Some(count)))
            }
            b'O' => {
                self.view.expect(b"O:")?;
                self.read_text_key(b"\":")?;
                let count = self.read_number(b':')?;
                self.view.expect(b"{")?;
                Ok(SkimmedContainer { skimmer_data: OBJECT, ..SkimmedContainer::new(SkimmedKind::Map, Some(count)) })
            }
            b's' | b'i' | b'd' | b'b' | b'N' | b'E' => Ok(SkimmedContainer::LEAF),
            _ => Err(SkimAborted),
        }
    }

    fn next_value(&mut self, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>> {
        if !open.take_next_item() {
            self.view.expect(b"}")?;
            return Ok(None);
        }
        match self.view.read_byte()? {
            b'i' => {
                self.view.expect(b":")?;
                let is_negative = self.view.peek()? == b'-';
                if is_negative {
                    self.view.expect(b"-")?;
                }
                let number = i64::try_from(self.read_number(b';')?).map_err(|_| SkimAborted)?;
                Ok(Some(SkimmedKey::Int(if is_negative { -number } else { number })))
            }
            b's' => {
                self.view.expect(b":")?;
                self.read_text_key(b"\";")?;
                let number = if open.skimmer_data == OBJECT { None } else { text::integer_key(&self.key) };
                Ok(Some(number.map_or(SkimmedKey::Text, SkimmedKey::Int)))
            }
            _ => Err(SkimAborted),
        }
    }

    fn current_key(&self) -> &[u8] {
        &self.key
    }

    fn skip_value(&mut self) -> SkimResult<()> {
        self.has_links = false;
        let mut depth = 0;
        loop {
            let mut skipped = 0;
            let ended = run::skip_value(self.view.bytes_in_view(), &mut skipped, &mut depth, &mut self.has_links);
            self.view.advance(skipped as u64)?;
            match ended {
                RunEnd::Done => return Ok(()),
                RunEnd::Unsure => return Err(SkimAborted),
                RunEnd::Short if self.view.load_more() => {}
                RunEnd::Short => return Err(SkimAborted),
                RunEnd::Far(len) => {
                    self.view.advance(len - 2)?;
                    self.view.expect(b"\";")?;
                    if depth == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn find_int(&mut self, open: &mut SkimmedContainer, number: i64) -> SkimResult<bool> {
        let count = open.count.ok_or(SkimAborted)?;
        loop {
            let mut remaining = count - open.read;
            let (passed, is_found) = run::find_integer_key(self.view.bytes_in_view(), &mut remaining, number);
            self.view.advance(passed as u64)?;
            open.read = count - remaining;
            if is_found {
                return Ok(true);
            }
            match self.next_value(open)? {
                None => return Ok(false),
                Some(SkimmedKey::Int(known)) if known == number => return Ok(true),
                Some(_) => self.skip_value()?,
            }
        }
    }

    fn read_value(&mut self, limits: &Limits) -> SkimResult<Document<'static>> {
        let start = self.view.position();
        self.skip_value()?;
        if self.has_links {
            // Links count values of the whole text.
            return Err(SkimAborted);
        }
        let bytes = self.view.copy_range(start, self.view.position())?;
        let outcome = ReadOptions::default().read(&bytes, Request::new(limits));
        outcome.into_whole_document(&bytes, &FORMAT).map(Document::into_owned).map_err(|_| SkimAborted)
    }
}
