//! Skims a text: strings are passed over by their length.

use super::{FORMAT, ReadOptions, text};
use crate::document::Document;
use crate::format::prelude::*;
use crate::format::skim::{Input, KeyOf, Mark, Opened, Shape, Skim, Sure, Unsure, View, ahead};

/// The longest name of a class that is passed over.
const NAME: usize = 4096;
/// In [`Opened::note`]: an object, whose keys stay strings.
const OBJECT: u64 = 1;
const ONES: u64 = 0x0101_0101_0101_0101;

#[derive(Debug)]
pub(super) struct Skimmer<'i> {
    view: View<'i>,
    key: Vec<u8>,
    /// Whether there was a link in what was skipped last.
    has_links: bool,
}

impl<'i> Skimmer<'i> {
    pub(super) fn new(input: Input<'i>) -> Skimmer<'i> {
        Skimmer { view: View::new(input), key: Vec::new(), has_links: false }
    }

    /// Digits and what ends them.
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

    /// The rest of `s:5:"text"` behind the colon; its bytes become the key.
    fn text(&mut self, end: &[u8]) -> Sure<()> {
        let len = self.number(b':')?;
        self.view.expect(b"\"")?;
        self.key.clear();
        self.view.append(len, &mut self.key)?;
        self.view.expect(end)
    }
}

/// How a run over tokens ended.
enum Ended {
    /// Behind the value.
    Done,
    /// More bytes are needed.
    Short,
    /// A string ends so many bytes behind the position.
    Far(u64),
    Unsure,
}

/// The digits at `at`, up to this byte; where it stands.
#[inline(always)]
fn number(bytes: &[u8], at: usize, end: u8) -> Option<Sure<(u64, usize)>> {
    // Most have one digit or two.
    if let Some([first @ b'0'..=b'9', second, third]) = ahead::<3>(bytes, at) {
        let value = u64::from(first - b'0');
        if *second == end {
            return Some(Ok((value, at + 1)));
        }
        if second.is_ascii_digit() && *third == end {
            return Some(Ok((value * 10 + u64::from(second - b'0'), at + 2)));
        }
    }
    long_number(bytes, at, end)
}

fn long_number(bytes: &[u8], mut at: usize, end: u8) -> Option<Sure<(u64, usize)>> {
    let first = at;
    let mut value = 0u64;
    loop {
        match *bytes.get(at)? {
            digit @ b'0'..=b'9' if at - first < 18 => value = value * 10 + u64::from(digit - b'0'),
            byte if byte == end && at > first => return Some(Ok((value, at))),
            _ => return Some(Err(Unsure)),
        }
        at += 1;
    }
}

/// Where the next semicolon is.
#[inline(always)]
fn semicolon(bytes: &[u8], at: usize) -> Option<usize> {
    if let Some(word) = ahead::<8>(bytes, at) {
        // A semicolon becomes zero and borrows; only the first hit counts.
        let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(b';'));
        let found = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
    }
    memchr::memchr(b';', bytes.get(at..)?).map(|len| at + len)
}

/// Goes over entries whose keys are integers, until one is the number that is sought (it stops
/// behind that key), or in front of one that is rare or not whole in view.
fn find(bytes: &[u8], left: &mut u64, sought: i64) -> (usize, bool) {
    let mut at = 0;
    while *left > 0 && bytes.get(at..).is_some_and(|rest| rest.starts_with(b"i:")) {
        let Some(Ok((number, end))) = number(bytes, at + 2, b';') else { break };
        if i64::try_from(number) == Ok(sought) {
            *left -= 1;
            return (end + 1, true);
        }
        let (mut behind, mut depth, mut has_links) = (end + 1, 0, false);
        let Ended::Done = run(bytes, &mut behind, &mut depth, &mut has_links) else { break };
        at = behind;
        *left -= 1;
    }
    (at, false)
}

/// Goes over tokens of a value until it ends, from `at` on.
fn run(bytes: &[u8], at: &mut usize, depth: &mut u64, has_links: &mut bool) -> Ended {
    // What is unknown here is a question of more bytes, or of reading.
    macro_rules! number {
        ($from:expr, $end:expr) => {
            match number(bytes, $from, $end) {
                Some(Ok(number)) => number,
                Some(Err(Unsure)) => return Ended::Unsure,
                None => return Ended::Short,
            }
        };
    }
    while let Some(tag) = bytes.get(*at) {
        match tag {
            b's' | b'E' => {
                let (len, colon) = number!(*at + 2, b':');
                let Some(left) = (bytes.len() as u64).checked_sub(colon as u64 + 4) else { return Ended::Short };
                if len > left {
                    return Ended::Far(colon as u64 + 4 + len - *at as u64);
                }
                let end = colon + 2 + len as usize;
                if bytes.get(end..end + 2) != Some(b"\";") {
                    return Ended::Unsure;
                }
                *at = end + 2;
            }
            b'i' | b'd' | b'b' | b'N' | b'r' | b'R' => {
                *has_links |= matches!(tag, b'r' | b'R');
                let Some(end) = semicolon(bytes, *at + 1) else { return Ended::Short };
                *at = end + 1;
            }
            b'a' => {
                let (_, colon) = number!(*at + 2, b':');
                match bytes.get(colon + 1) {
                    Some(b'{') => *at = colon + 2,
                    Some(_) => return Ended::Unsure,
                    None => return Ended::Short,
                }
                *depth += 1;
                continue;
            }
            b'O' => {
                let (len, colon) = number!(*at + 2, b':');
                let Some(len) = usize::try_from(len).ok().filter(|len| *len <= NAME) else { return Ended::Unsure };
                let Some(name) = bytes.get(colon..).and_then(|rest| rest.get(..len.saturating_add(4))) else {
                    return Ended::Short;
                };
                let (_, colon) = number!(colon + name.len() - 1, b':');
                match bytes.get(colon + 1) {
                    Some(b'{') => *at = colon + 2,
                    Some(_) => return Ended::Unsure,
                    None => return Ended::Short,
                }
                *depth += 1;
                continue;
            }
            b'}' if *depth > 0 => {
                *depth -= 1;
                *at += 1;
            }
            // Escapes, and what classes wrote themselves.
            _ => return Ended::Unsure,
        }
        if *depth == 0 {
            return Ended::Done;
        }
    }
    Ended::Short
}

impl Skim for Skimmer<'_> {
    fn start(&mut self) -> Sure<()> {
        Ok(())
    }

    fn is_at_end(&mut self) -> bool {
        // Blanks behind a text are no part of it.
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
            let ended = run(self.view.rest(), &mut at, &mut depth, &mut self.has_links);
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
            let (passed, is_found) = find(self.view.rest(), &mut left, number);
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
            // They count values of the whole.
            return Err(Unsure);
        }
        let bytes = self.view.copy(from, self.view.position())?;
        let outcome = ReadOptions::default().read(&bytes, Request::new(limits));
        outcome.whole(&bytes, &FORMAT).map(Document::into_owned).map_err(|_| Unsure)
    }
}
