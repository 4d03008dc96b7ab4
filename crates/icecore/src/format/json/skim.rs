//! Skims JSON: brackets are counted, strings are skipped.

mod blocks;

use super::{FORMAT, Plain, ReadOptions};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View};
use blocks::Inside;
use memchr::memchr2;

#[derive(Debug)]
pub(super) struct Skimmer<'i> {
    view: View<'i>,
    key: Vec<u8>,
    /// Where the root begins.
    root: u64,
}

impl<'i> Skimmer<'i> {
    pub(super) fn new(input: Input<'i>) -> Skimmer<'i> {
        Skimmer { view: View::new(input), key: Vec::new(), root: 0 }
    }

    /// Returns the next byte that is not a blank.
    #[inline]
    fn peek(&mut self) -> Sure<u8> {
        loop {
            match self.view.peek()? {
                b' ' | b'\n' | b'\t' | b'\r' => self.view.advance(1)?,
                byte => return Ok(byte),
            }
        }
    }

    /// Skips the string that begins here; returns whether it has escapes. Only a part of a
    /// long string is in view at a time.
    fn string(&mut self) -> Sure<bool> {
        self.view.advance(1)?;
        let mut has_escapes = false;
        loop {
            match end_of_string(self.view.rest(), 0) {
                Ok((end, escaped)) => {
                    self.view.advance(end as u64)?;
                    return Ok(has_escapes | escaped);
                }
                Err((seen, escaped)) => {
                    self.view.advance(seen as u64)?;
                    has_escapes |= escaped;
                }
            }
            if !self.view.more() {
                return Err(Unsure);
            }
        }
    }

    /// Reads a key: its characters, without escapes.
    fn name(&mut self) -> Sure<()> {
        if self.peek()? != b'"' {
            return Err(Unsure);
        }
        self.key.clear();
        if let Ok((end, false)) = end_of_string(self.view.rest(), 1) {
            self.key.extend_from_slice(self.view.rest().get(1..end - 1).unwrap_or(&[]));
            return self.view.advance(end as u64);
        }
        let from = self.view.position();
        let has_escapes = self.string()?;
        let to = self.view.position();
        if has_escapes {
            let text = self.view.copy(from, to)?;
            let document = read(&text, &Limits::default())?;
            self.key.extend_from_slice(document.root().as_bytes().ok_or(Unsure)?);
        } else {
            self.view.go(from + 1);
            self.view.append(to - from - 2, &mut self.key)?;
            self.view.go(to);
        }
        Ok(())
    }

    /// Skips the container that begins here. Only a part of a long container is in view at a
    /// time.
    fn container(&mut self) -> Sure<()> {
        let mut inside = Inside::default();
        loop {
            let (passed, is_done) = blocks::container(self.view.rest(), &mut inside);
            self.view.advance(passed as u64)?;
            if is_done {
                return Ok(());
            }
            if !self.view.more() {
                return Err(Unsure);
            }
        }
    }
}

/// Whether this byte can be part of a number or a word.
#[inline(always)]
fn is_part_of_a_word(byte: u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
}

/// Returns the end of the string that continues at `at`, and whether it has escapes; as an
/// error, how far it was examined.
#[inline]
fn end_of_string(bytes: &[u8], mut at: usize) -> Result<(usize, bool), (usize, bool)> {
    let mut has_escapes = false;
    // Most strings are short.
    let near = bytes.len().min(at.saturating_add(16));
    while at < near {
        match bytes[at] {
            b'"' => return Ok((at + 1, has_escapes)),
            b'\\' => break,
            _ => at += 1,
        }
    }
    loop {
        let rest = bytes.get(at..).unwrap_or(&[]);
        match memchr2(b'"', b'\\', rest) {
            Some(len) if rest[len] == b'"' => return Ok((at + len + 1, has_escapes)),
            // Both bytes of the escape must be in view.
            Some(len) if rest.len() < len + 2 => return Err((at + len, true)),
            Some(len) => {
                has_escapes = true;
                at += len + 2;
            }
            None => return Err((bytes.len(), has_escapes)),
        }
    }
}

fn read<'b>(bytes: &'b [u8], limits: &Limits) -> Sure<Document<'b>> {
    // A nested value is plain JSON, whatever its first key is.
    let options = ReadOptions { typed: Some(false), ..ReadOptions::default() };
    Plain(&options).read(bytes, Request::new(limits)).whole(bytes, &FORMAT).map_err(|_| Unsure)
}

impl Skim for Skimmer<'_> {
    fn start(&mut self) -> Sure<()> {
        if self.peek()? == b'{' {
            // It may be typed.
            let mark = self.mark();
            self.view.advance(1)?;
            if self.peek()? == b'"' && self.view.expect(b"\"$icecore\"").is_ok() {
                return Err(Unsure);
            }
            self.back(mark);
        }
        self.root = self.view.position();
        Ok(())
    }

    fn is_at_end(&mut self) -> bool {
        self.peek().is_err() && self.view.is_at_end()
    }

    fn mark(&self) -> Mark {
        Mark { at: self.view.position(), ..Mark::default() }
    }

    fn back(&mut self, mark: Mark) {
        self.view.go(mark.at);
    }

    fn open(&mut self) -> Sure<Opened> {
        let shape = match self.peek()? {
            b'[' => Shape::List,
            b'{' => Shape::Map,
            _ => return Ok(Opened::LEAF),
        };
        self.view.advance(1)?;
        Ok(Opened::new(shape, None))
    }

    fn next(&mut self, open: &mut Opened) -> Sure<Option<KeyOf>> {
        let close = if open.shape == Shape::List { b']' } else { b'}' };
        match self.peek()? {
            byte if byte == close => {
                self.view.advance(1)?;
                return Ok(None);
            }
            b',' if open.read > 0 => {
                self.view.advance(1)?;
                if self.peek()? == close {
                    return Err(Unsure);
                }
            }
            _ if open.read > 0 => return Err(Unsure),
            _ => {}
        }
        open.step();
        if open.shape == Shape::List {
            return Ok(Some(KeyOf::Item));
        }
        self.name()?;
        if self.peek()? != b':' {
            return Err(Unsure);
        }
        self.view.advance(1)?;
        self.peek()?;
        Ok(Some(KeyOf::Text))
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn skip(&mut self) -> Sure<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'[' | b'{' => self.container(),
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                // A number or a word. At the end of the input it may be cut off, unless it is
                // the root.
                let is_root = self.view.position() == self.root;
                loop {
                    let rest = self.view.rest();
                    let len = rest.iter().take_while(|byte| is_part_of_a_word(**byte)).count();
                    let goes_on = len == rest.len();
                    self.view.advance(len as u64)?;
                    if !goes_on {
                        return Ok(());
                    }
                    if !self.view.more() {
                        return if is_root { Ok(()) } else { Err(Unsure) };
                    }
                }
            }
            _ => Err(Unsure),
        }
    }

    fn skip_items(&mut self, open: &mut Opened, count: u64) -> Sure<bool> {
        let mut left = count;
        while left > 0 {
            let before = left;
            let passed = blocks::items(self.view.rest(), &mut left, open.read == 0);
            self.view.advance(passed as u64)?;
            open.read += before - left;
            if left > 0 {
                if self.next(open)?.is_none() {
                    return Ok(false);
                }
                self.skip()?;
                left -= 1;
            }
        }
        Ok(true)
    }

    fn take(&mut self, limits: &Limits) -> Sure<Document<'static>> {
        self.peek()?;
        let from = self.view.position();
        self.skip()?;
        let bytes = self.view.copy(from, self.view.position())?;
        read(&bytes, limits).map(Document::into_owned)
    }
}
