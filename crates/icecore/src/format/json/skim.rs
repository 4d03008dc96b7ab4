//! Skims JSON. It skips strings and counts the brackets outside of them.

mod blocks;

use super::{FORMAT, PlainJson, ReadOptions};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{
    Input, Mark, Skim, SkimAborted, SkimResult, SkimmedContainer, SkimmedKey, SkimmedKind, View,
};
use blocks::ContainerState;
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
    fn peek(&mut self) -> SkimResult<u8> {
        loop {
            match self.view.peek()? {
                b' ' | b'\n' | b'\t' | b'\r' => self.view.advance(1)?,
                byte => return Ok(byte),
            }
        }
    }

    /// Skips the string that begins here. Returns `true` if it has escapes. Only a part of a
    /// long string is in view at a time.
    fn skip_string(&mut self) -> SkimResult<bool> {
        self.view.advance(1)?;
        let mut has_escapes = false;
        loop {
            match find_string_end(self.view.bytes_in_view(), 0) {
                Ok((end, escaped)) => {
                    self.view.advance(end as u64)?;
                    return Ok(has_escapes | escaped);
                }
                Err((scanned, escaped)) => {
                    self.view.advance(scanned as u64)?;
                    has_escapes |= escaped;
                }
            }
            if !self.view.load_more() {
                return Err(SkimAborted);
            }
        }
    }

    /// Reads a key: its characters, without escapes.
    fn read_name(&mut self) -> SkimResult<()> {
        if self.peek()? != b'"' {
            return Err(SkimAborted);
        }
        self.key.clear();
        if let Ok((end, false)) = find_string_end(self.view.bytes_in_view(), 1) {
            self.key.extend_from_slice(self.view.bytes_in_view().get(1..end - 1).unwrap_or(&[]));
            return self.view.advance(end as u64);
        }
        let start = self.view.position();
        let has_escapes = self.skip_string()?;
        let end = self.view.position();
        if has_escapes {
            let text = self.view.copy_range(start, end)?;
            let document = read_plain_value(&text, &Limits::default())?;
            self.key.extend_from_slice(document.root().as_bytes().ok_or(SkimAborted)?);
        } else {
            self.view.seek_to(start + 1);
            self.view.read_into(end - start - 2, &mut self.key)?;
            self.view.seek_to(end);
        }
        Ok(())
    }

    /// Skips the container that begins here. Only a part of a long container is in view at a
    /// time.
    fn skip_container(&mut self) -> SkimResult<()> {
        let mut container = ContainerState::default();
        loop {
            let (passed, is_done) = blocks::skip_container(self.view.bytes_in_view(), &mut container);
            self.view.advance(passed as u64)?;
            if is_done {
                return Ok(());
            }
            if !self.view.load_more() {
                return Err(SkimAborted);
            }
        }
    }
}

/// Returns `true` if this byte can be part of a number or a word.
#[inline(always)]
fn is_word_byte(byte: u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
}

/// Returns the end of the string that continues at `offset`, and whether it has escapes. If the end is not in these
/// bytes, returns an error with the offset up to which it was examined, and whether there were escapes so far.
#[inline]
fn find_string_end(bytes: &[u8], mut offset: usize) -> Result<(usize, bool), (usize, bool)> {
    let mut has_escapes = false;
    // Most strings are short.
    let short_end = bytes.len().min(offset.saturating_add(16));
    while offset < short_end {
        match bytes[offset] {
            b'"' => return Ok((offset + 1, has_escapes)),
            b'\\' => break,
            _ => offset += 1,
        }
    }
    loop {
        let rest = bytes.get(offset..).unwrap_or(&[]);
        match memchr2(b'"', b'\\', rest) {
            Some(len) if rest[len] == b'"' => return Ok((offset + len + 1, has_escapes)),
            // The byte after the backslash is not in view, so the escape is examined again later.
            Some(len) if rest.len() < len + 2 => return Err((offset + len, true)),
            Some(len) => {
                has_escapes = true;
                offset += len + 2;
            }
            None => return Err((bytes.len(), has_escapes)),
        }
    }
}

fn read_plain_value<'b>(bytes: &'b [u8], limits: &Limits) -> SkimResult<Document<'b>> {
    // A nested value is plain JSON, whatever its first key is.
    let options = ReadOptions { typed: Some(false), ..ReadOptions::default() };
    PlainJson(&options).read(bytes, Request::new(limits)).into_whole_document(bytes, &FORMAT).map_err(|_| SkimAborted)
}

impl Skim for Skimmer<'_> {
    fn enter_root(&mut self) -> SkimResult<()> {
        if self.peek()? == b'{' {
            // The first key may show that the document is typed JSON.
            let mark = self.mark_position();
            self.view.advance(1)?;
            if self.peek()? == b'"' && self.view.expect(b"\"$icecore\"").is_ok() {
                return Err(SkimAborted);
            }
            self.return_to(mark);
        }
        self.root = self.view.position();
        Ok(())
    }

    fn is_at_end(&mut self) -> bool {
        self.peek().is_err() && self.view.is_at_end()
    }

    fn mark_position(&self) -> Mark {
        Mark { offset: self.view.position(), ..Mark::default() }
    }

    fn return_to(&mut self, mark: Mark) {
        self.view.seek_to(mark.offset);
    }

    fn enter_value(&mut self) -> SkimResult<SkimmedContainer> {
        let kind = match self.peek()? {
            b'[' => SkimmedKind::List,
            b'{' => SkimmedKind::Map,
            _ => return Ok(SkimmedContainer::LEAF),
        };
        self.view.advance(1)?;
        Ok(SkimmedContainer::new(kind, None))
    }

    fn next_value(&mut self, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>> {
        let close = if open.kind == SkimmedKind::List { b']' } else { b'}' };
        match self.peek()? {
            byte if byte == close => {
                self.view.advance(1)?;
                return Ok(None);
            }
            b',' if open.read > 0 => {
                self.view.advance(1)?;
                if self.peek()? == close {
                    return Err(SkimAborted);
                }
            }
            _ if open.read > 0 => return Err(SkimAborted),
            _ => {}
        }
        open.take_next_item();
        if open.kind == SkimmedKind::List {
            return Ok(Some(SkimmedKey::Item));
        }
        self.read_name()?;
        if self.peek()? != b':' {
            return Err(SkimAborted);
        }
        self.view.advance(1)?;
        self.peek()?;
        Ok(Some(SkimmedKey::Text))
    }

    fn current_key(&self) -> &[u8] {
        &self.key
    }

    fn skip_value(&mut self) -> SkimResult<()> {
        match self.peek()? {
            b'"' => self.skip_string().map(|_| ()),
            b'[' | b'{' => self.skip_container(),
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                // This is a number or a word. If the input ends directly after it, it may be cut off. Only the root
                // may end there.
                let is_root = self.view.position() == self.root;
                loop {
                    let rest = self.view.bytes_in_view();
                    let len = rest.iter().take_while(|byte| is_word_byte(**byte)).count();
                    let goes_on = len == rest.len();
                    self.view.advance(len as u64)?;
                    if !goes_on {
                        return Ok(());
                    }
                    if !self.view.load_more() {
                        return if is_root { Ok(()) } else { Err(SkimAborted) };
                    }
                }
            }
            _ => Err(SkimAborted),
        }
    }

    fn skip_items(&mut self, open: &mut SkimmedContainer, count: u64) -> SkimResult<bool> {
        let mut remaining = count;
        while remaining > 0 {
            let before = remaining;
            let passed = blocks::skip_items(self.view.bytes_in_view(), &mut remaining, open.read == 0);
            self.view.advance(passed as u64)?;
            open.read += before - remaining;
            if remaining > 0 {
                if self.next_value(open)?.is_none() {
                    return Ok(false);
                }
                self.skip_value()?;
                remaining -= 1;
            }
        }
        Ok(true)
    }

    fn read_value(&mut self, limits: &Limits) -> SkimResult<Document<'static>> {
        self.peek()?;
        let start = self.view.position();
        self.skip_value()?;
        let bytes = self.view.copy_range(start, self.view.position())?;
        read_plain_value(&bytes, limits).map(Document::into_owned)
    }
}
