//! Skims a text: strings are skipped by their length.

mod run;

use super::{FORMAT, ReadOptions, text};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View};
use run::Ended;

/// In [`Opened::note`]: the container is an object, whose keys stay strings.
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
    fn number(&mut self, end: u8) -> Sure<u64> {
        let mut value = 0u64;
        let mut count = 0;
        loop {
            match self.view.byte()? {
                digit @ b'0'..=b'9' if count < 18 => value = value * 10 + u64::from(digit - b'0'),
                byte if byte == end && count > 0 => return Ok(value),
                _ => return Err(Unsure),
            }
            count += 1;
        }
    }

    /// Reads the rest of `s:5:"text"` after the colon; its bytes become the key.
    fn text(&mut self, end: &[u8]) -> Sure<()> {
        let len = self.number(b':')?;
        self.view.expect(b"\"")?;
        self.key.clear();
        self.view.append(len, &mut self.key)?;
        self.view.expect(end)
    }
}

impl Skim for Skimmer<'_> {
    fn start(&mut self) -> Sure<()> {
        Ok(())
    }

    fn is_at_end(&mut self) -> bool {
        // Blanks after a text do not belong to it.
        while self.view.peek().is_ok_and(|byte| crate::format::are_blanks(&[byte])) {
            let _ = self.view.byte();
        }
        self.view.is_at_end()
    }

    fn mark(&self) -> Mark {
        Mark { at: self.view.position(), ..Mark::default() }
    }

    fn back(&mut self, mark: Mark) {
        self.view.go(mark.at);
    }

    fn open(&mut self) -> Sure<Opened> {
        match self.view.peek()? {
            b'a' => {
                self.view.expect(b"a:")?;
                let count = self.number(b':')?;
                self.view.expect(b"{")?;
                Ok(Opened::new(Shape::Either, Some(count)))
            }
            b'O' => {
                self.view.expect(b"O:")?;
                self.text(b"\":")?;
                let count = self.number(b':')?;
                self.view.expect(b"{")?;
                Ok(Opened { note: OBJECT, ..Opened::new(Shape::Map, Some(count)) })
            }
            b's' | b'i' | b'd' | b'b' | b'N' | b'E' => Ok(Opened::LEAF),
            _ => Err(Unsure),
        }
    }

    fn next(&mut self, open: &mut Opened) -> Sure<Option<KeyOf>> {
        if !open.step() {
            self.view.expect(b"}")?;
            return Ok(None);
        }
        match self.view.byte()? {
            b'i' => {
                self.view.expect(b":")?;
                let is_negative = self.view.peek()? == b'-';
                if is_negative {
                    self.view.expect(b"-")?;
                }
                let number = i64::try_from(self.number(b';')?).map_err(|_| Unsure)?;
                Ok(Some(KeyOf::Int(if is_negative { -number } else { number })))
            }
            b's' => {
                self.view.expect(b":")?;
                self.text(b"\";")?;
                let number = if open.note == OBJECT { None } else { text::integer_key(&self.key) };
                Ok(Some(number.map_or(KeyOf::Text, KeyOf::Int)))
            }
            _ => Err(Unsure),
        }
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn skip(&mut self) -> Sure<()> {
        self.has_links = false;
        let mut depth = 0;
        loop {
            let mut at = 0;
            let ended = run::over(self.view.rest(), &mut at, &mut depth, &mut self.has_links);
            self.view.advance(at as u64)?;
            match ended {
                Ended::Done => return Ok(()),
                Ended::Unsure => return Err(Unsure),
                Ended::Short if self.view.more() => {}
                Ended::Short => return Err(Unsure),
                Ended::Far(len) => {
                    self.view.advance(len - 2)?;
                    self.view.expect(b"\";")?;
                    if depth == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn find_int(&mut self, open: &mut Opened, number: i64) -> Sure<bool> {
        let count = open.count.ok_or(Unsure)?;
        loop {
            let mut left = count - open.read;
            let (passed, is_found) = run::find(self.view.rest(), &mut left, number);
            self.view.advance(passed as u64)?;
            open.read = count - left;
            if is_found {
                return Ok(true);
            }
            match self.next(open)? {
                None => return Ok(false),
                Some(KeyOf::Int(known)) if known == number => return Ok(true),
                Some(_) => self.skip()?,
            }
        }
    }

    fn take(&mut self, limits: &Limits) -> Sure<Document<'static>> {
        let from = self.view.position();
        self.skip()?;
        if self.has_links {
            // Links count values of the whole text.
            return Err(Unsure);
        }
        let bytes = self.view.copy(from, self.view.position())?;
        let outcome = ReadOptions::default().read(&bytes, Request::new(limits));
        outcome.whole(&bytes, &FORMAT).map(Document::into_owned).map_err(|_| Unsure)
    }
}
